# SPDX-License-Identifier: Apache-2.0
"""Tests scripts/prose."""

import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "scripts/prose"


def load():
    loader = importlib.machinery.SourceFileLoader("prose", str(PROGRAM))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("prose", loader))
    loader.exec_module(module)
    return module


PROSE = load()
LONG = "The tuner " + "very " * 22 + "soon stops."
LIMIT = "The tuner " + "very " * 21 + "soon stops."


def found(source, name="part.hpp"):
    """Returns "LINE RULE" for each finding."""
    return [f"{finding.line} {finding.rule}" for finding in PROSE.findings_in(name, source)]


class Rules(unittest.TestCase):
    def test_openers(self):
        for opener in ("What the trial waits for.", "Whether it ended.", "Of two trials the faster.",
                       "Those that ended.",
                       "Whose turn it is.", "That which was stopped.", "Where no price is known, zero."):
            self.assertEqual(found(f"/// {opener}\n"), ["1 opener"], opener)
            self.assertEqual(found(f"- {opener}\n", "page.md"), ["1 opener"], opener)
        for opener in ("What is this?", "Of course the trial ends.", "Where possible, forks.", "Whatever ended."):
            self.assertEqual(found(f"/// {opener}\n"), [], opener)

    def test_only_the_start_of_a_paragraph_is_an_opener(self):
        self.assertEqual(found("/// Returns\n/// What it read. Of two, the first.\n///\n/// Whether it ended.\n"),
                         ["4 opener"])

    def test_private_words(self):
        for text in ("The output tells no progress.", "Samples are told by step.", "The limit is in force.",
                     "It ended by then.", "The file stays as it is.", "It goes on as it was begun.",
                     "The key stands in the file.",
                     "Nine in ten intervals: the claim holds.", "The count is taken to be exact.", "A count, likewise.",
                     "The best, else the baseline.", "It takes so many times as long.", "A pool of its own.",
                     "It waits part of the time.", "It knows the begin of the file.", "It is asked of the runner.",
                     "Pools were kept in vain."):
            self.assertEqual(found(f"// {text}\n"), ["1 word"], text)

    def test_usual_senses_of_private_words(self):
        for text in ("It tells the runner to stop.", "They cannot be told apart, or told from noise.",
                     "Optuna is told of failures.", "It tells OpenMP.", "It lasts as long as it is useful.",
                     "The name stands for a path and stands in for a file.",
                     "It needs what the table holds.", "It holds a lock.", "The port is taken.", "Nothing else fits.",
                     "It is never taken for a mark.", "On a line of its own. It has no price of its own.",
                     "The CPU time of its own threads.", "The begin iterator is valid. Trials begin."):
            self.assertEqual(found(f"// {text}\n"), [], text)

    def test_long_sentences(self):
        self.assertEqual(found(f"// {LIMIT}\n"), [])
        self.assertEqual(found(f"// It runs. {LONG}\n"), ["1 long"])
        self.assertEqual(found(f"It runs. {LONG}\n", "page.md"), ["1 long"])
        self.assertEqual(found(f"// {LONG[:60]}\n// {LONG[60:]}\n"), ["1 long"], "wrapped")
        self.assertEqual(found(f"// {LIMIT[:-1]}; {LIMIT}\n"), [], "two main clauses")
        self.assertEqual(found("// It runs, e.g. " + LIMIT + "\n"), ["1 long"], "no end of a sentence")

    def test_words_that_do_not_count(self):
        for extra in ("(Xie et al. 2025)", "12 + 30 %", "`a b c` `d`", "https://a.b/c?d=e"):
            self.assertLessEqual(PROSE.count_words(PROSE.MASKED.sub(PROSE.MASK, extra)), 2, extra)
        self.assertEqual(found("// Reads " + "`name`, " * 40 + "`last`.\n"), [])

    def test_code_and_quotations_are_not_judged(self):
        self.assertEqual(found('// Says "in force" and `by then`.\n'), [])
        self.assertEqual(found("[The log](what-it-tells) and <https://tells.example>.\n", "page.md"), [])

    def test_messages_name_the_line_the_rule_and_the_fix(self):
        finding, = PROSE.findings_in("part.hpp", "int a;\n\n/// Whether it ended.\n")
        self.assertEqual((finding.line, finding.message, finding.sentence),
                         (3, 'begins with "Whether": begin with "True if", a verb or a noun', "Whether it ended."))
        finding, = PROSE.findings_in("part.hpp", "// The trial is\n// in force.\n")
        self.assertEqual((finding.line, finding.message), (2, 'private word "in force": write "active" or "in use"'))


class Languages(unittest.TestCase):
    def test_cpp(self):
        self.assertEqual(found('auto a = "// What a";  /// < What b.\nchar c = \'"\';  ///< What c.\n/* What d. */\n'
                               'auto e = R"(\n// What e.\n)";\nint f = 1\'000;  // Whether f.\n', "part.cpp"),
                         ["2 opener", "3 opener", "7 opener"])
        self.assertEqual(found("/* Reads.\n *\n * What it reads.\n */\n"), ["3 opener"])

    def test_comments_behind_code_are_apart(self):
        self.assertEqual(found("int a;  ///< reads\nint b;  ///< What it is.\n        ///< Of both.\n"), ["2 opener"])

    def test_python(self):
        source = '"""What it does."""\nA = "# What a"\n\n\n' \
                 'def f():\n    """Reads.\n\n    Whether it ended."""\n    # Of two.\n'
        for name in ("part.py", "part"):
            self.assertEqual(found("#!/usr/bin/env python3\n" + source, name), ["2 opener", "9 opener", "10 opener"])
        self.assertEqual(found("print 1  # What a.\n", "part.py"), ["1 opener"], "a source that Python cannot parse")

    def test_shell_and_cmake(self):
        source = "#!/usr/bin/env bash\n# What it does.\necho \"# What\" ${a#What}  # Whether a.\n"
        self.assertEqual(found(source, "part"), ["2 opener", "3 opener"])
        self.assertEqual(found("# What it does.\n", "a/CMakeLists.txt"), ["1 opener"])
        self.assertEqual(found("# What it does.\n", "a.cmake"), ["1 opener"])


class LeftOut(unittest.TestCase):
    def test_files(self):
        for name in ("a.json", "a.txt", "a.csv", "data", "tests/golden/expected/a.md", "tests/fuzz/corpus/a/b.py",
                     "tests/unit/study/stored/a.py", "tests/pytorch_hook/programs/a.py", "a/fixtures/b.md"):
            self.assertEqual(found("# What it does.\n\nWhat it does.\n", name), [], name)

    def test_parts_of_documents(self):
        for text in ("# What it does\n", f"| What | {LONG} |\n", "```\nWhat it does.\n```\n", f"    {LONG}\n",
                     "<!-- What it does. -->\n", "[What]: https://a.b\n"):
            self.assertEqual(found(text, "page.md"), [], text)
        self.assertEqual(found("1. It runs.\n\n   What it does.\n\n```\nWhat\n```\n\nWhat it does.\n", "page.md"),
                         ["3 opener", "9 opener"])

    def test_parts_of_comments(self):
        for text in ("// NOLINTNEXTLINE(a): in vain", "//   what it tells", "// --what   tells all", "// ---- in vain"):
            self.assertEqual(found(text + "\n"), [], text)


class Changes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
        self.git("init", "-q")
        self.write("old.hpp", f"/// What is old.\n\n/// {LONG}\nint a;\n")
        self.commit()

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.folder, env=self.environment, check=True)

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a")

    def check(self, *arguments, folder="."):
        """Returns the exit status and "FILE:LINE" for each finding."""
        result = subprocess.run([sys.executable, "-B", PROGRAM, *arguments], cwd=self.folder / folder,
                                env=self.environment, capture_output=True, text=True)
        self.output = result.stdout + result.stderr
        return result.returncode, re.findall(r"^(\S+:\d+): ", result.stdout, re.M)

    def test_uncommitted(self):
        self.assertEqual(self.check(), (0, []))
        self.assertEqual(self.output, "prose: clean\n")
        self.write("old.hpp", "int a;  ///< Whether new.\n" + (self.folder / "old.hpp").read_text())
        self.write("a/é b.md", "It is untracked.\n\nWhat is new.\n")
        self.git("add", "old.hpp")
        status, lines = self.check(folder="a")
        self.assertEqual((status, lines), (1, ["old.hpp:1"]), self.output)
        self.assertIn("a/é b.md:3: begins with \"What\": begin with a verb or a noun\n    What is new.\n", self.output)
        self.assertTrue(self.output.endswith("prose: 2 findings in added sentences\n"), self.output)

    def test_staged(self):
        self.write("new.hpp", "// What is staged.\n")
        self.git("add", "new.hpp")
        self.write("new.hpp", "// Reads.\n")
        self.write("other.hpp", "// What is not staged.\n")
        self.assertEqual(self.check("--staged"), (1, ["new.hpp:1"]))
        self.git("add", "new.hpp")
        self.assertEqual(self.check("--staged"), (0, []))

    def test_base(self):
        self.write("new.hpp", "// What is committed.\n")
        self.commit()
        self.write("newer.hpp", "// What is not committed.\n")
        self.git("add", "newer.hpp")
        self.assertEqual(self.check(), (1, ["newer.hpp:1"]))
        self.assertEqual(self.check("--base", "HEAD~1"), (1, ["new.hpp:1", "newer.hpp:1"]))
        self.assertEqual(self.check("--base", "nowhere")[0], 2)
        self.assertIn("prose: git diff: fatal: ", self.output)

    def test_a_sentence_that_moved_is_not_added(self):
        (self.folder / "old.hpp").unlink()
        self.write("new.hpp", f"/// What is\n/// old.\n\n/// {LONG[:50]}\n/// {LONG[50:]}\n")
        self.assertEqual(self.check(), (0, []))
        self.write("new.hpp", "/// What is old.\n\n\n/// What is old.\n")
        self.assertEqual(self.check(), (1, ["new.hpp:4"]), "a second one is")

    def test_all(self):
        self.write("a/b/c/new.md", "What is new is in force.\n")
        self.write("untracked.md", "What is untracked.\n")
        self.git("add", "a")
        self.assertEqual(self.check("--all"), (0, []))
        self.assertEqual([line.split(maxsplit=1) for line in self.output.splitlines()],
                         [["2", "a/b"], ["2", "."], ["2", 'paragraphs that begin with "What" or the like'],
                          ["1", "private words"], ["1", "sentences of more than 25 words"], ["4", "in all"]])
        self.assertEqual(self.check("--all", "--list", folder="a"),
                         (0, ["a/b/c/new.md:1", "a/b/c/new.md:1", "old.hpp:1", "old.hpp:3"]))


if __name__ == "__main__":
    unittest.main()
