# SPDX-License-Identifier: Apache-2.0
"""Tests scripts/messages."""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "scripts/messages"


def load():
    loader = importlib.machinery.SourceFileLoader("messages", str(PROGRAM))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("messages", loader))
    loader.exec_module(module)
    return module


MESSAGES = load()


class Texts(unittest.TestCase):
    def test_sentences_and_parts(self):
        for text in ("the trial ended", "ended: {}", "{} trials", " of {}", "is {}, not a name", "see 'steptune help'",
                     'the key "{}" is missing', "  note    {}\\n", "%s is scripted", "after {:.3g} steps",
                     "give another --name", "write for example loss: ([0-9.]+)",
                     '<p class="a">Click a column to sort</p>'):
            self.assertTrue(MESSAGES.is_message(text), text)

    def test_names_and_formats(self):
        for text in ("", " ", "name", "step_time", "--json", "tuner/study/a.hpp", "{} {}", "{}: {:.1f} %", ", ", "%s %s",
                     "application/json", "a-b c_d", "NAME=VALUE"):
            self.assertFalse(MESSAGES.is_message(text), text)

    def test_other_languages(self):
        for text in ("SELECT name FROM studies", "PRAGMA cache size", "UPDATE trials SET text = ?",
                     r"(?i)saving (?:the )?model to the file", r"Epoch (\d+) of", "#!/bin/sh\\n# Keeps the last file",
                     '<a href="x">two words</a>', "GET / HTTP/1.1\\r\\n", "if a; then b;\\nend of it"):
            self.assertFalse(MESSAGES.is_message(text), text)


class Sources(unittest.TestCase):
    def cpp(self, source):
        return list(MESSAGES.cpp_literals(source))

    def test_adjacent_literals_are_one(self):
        self.assertEqual(self.cpp('f("one "  // comment\n  "two",\n  "three" R"( four)");'), ["one two", "three four"])
        self.assertEqual(self.cpp('f(a ? "one" : "two" + b)'), ["one", "two"])
        self.assertEqual(self.cpp('"one"\n"two"'), ["onetwo"])

    def test_raw_strings(self):
        self.assertEqual(self.cpp('R"(a "b" {})" x R"re(c)" d)re", u8R"(e\nf)"'), ['a "b" {}', 'c)" d', r"e\nf"])

    def test_escapes(self):
        self.assertEqual(self.cpp(r'"say \"{}\"\n" x "\\d" y "\x1b[0m"'), [r'say "{}"\n', r"\d", r"\x1b[0m"])
        self.assertEqual(self.cpp('"" "a" L"b"'), ["ab"])

    def test_comments_characters_and_directives(self):
        self.assertEqual(self.cpp('// "a"\n/* "b\n"c" */ char q = \'"\'; int n = 1\'000; char r = \'\\\'\';\n'
                                  '#include "d/e.hpp"\n#define TEXT \\\n  "f"\n"g"'), ["g"])

    def test_python(self):
        self.assertEqual(list(MESSAGES.python_literals(
            '"""Module."""\nA = "one " \\\n    "two"  # "c"\n\n\ndef f(a):\n    """Docstring."""\n'
            '    return {"three": f"four {a} five\\n"}\n')), ["one two", "three", "four ", r" five\n"])

    def test_files_of_the_product(self):
        hook = "trial_runner/hooks/python/steptune_hook/a.py"
        for name in ("tuner/a.cpp", "common/b/a.hpp", "search/a.cpp", "trial_runner/a.cpp.in", hook):
            self.assertEqual(MESSAGES.messages_in(name, 'A = "the trial ended"'), ["the trial ended"], name)
            self.assertTrue(MESSAGES.is_source(name), name)
        compiled = "trial_runner/hooks/python/steptune_hook/__pycache__/a.cpython-311.pyc"
        for name in (compiled, "tests/a.cpp", "tuner/CMakeLists.txt", "tuner/a.js", "trial_runner/reporters/a.py",
                     "examples/a.cpp"):
            self.assertFalse(MESSAGES.is_source(name), name)


class File(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("scripts", "tuner/b", "tests/golden/expected"):
            (self.folder / name).mkdir(parents=True)
        shutil.copy(PROGRAM, self.folder / "scripts/messages")
        self.write("tuner/b/b.cpp", 'auto a = "the trial ended";\nauto b = "{} more";\n')
        self.write("tuner/a.cpp", 'auto a = "it begins";\n')
        self.write("tuner/c.cpp", 'auto a = "name";\n')

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def run_program(self, *arguments):
        result = subprocess.run([sys.executable, "-B", self.folder / "scripts/messages", *arguments], cwd="/",
                                capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr

    def test_write(self):
        self.assertEqual(self.run_program("--write"), (0, ""))
        self.assertEqual((self.folder / MESSAGES.MESSAGES).read_text(),
                         "tuner/a.cpp\n  it begins\n\ntuner/b/b.cpp\n  the trial ended\n  {} more\n")
        self.assertEqual(self.run_program(), (0, ""))

    def test_difference(self):
        self.run_program("--write")
        self.write("tuner/a.cpp", 'auto a = "it started";\n')
        status, output = self.run_program()
        self.assertEqual(status, 1)
        self.assertIn("\n-  it begins\n+  it started\n", output)
        self.assertTrue(output.endswith(f"then write {MESSAGES.MESSAGES} with scripts/messages --write\n"), output)

    def test_absent(self):
        status, output = self.run_program()
        self.assertEqual(status, 1)
        self.assertIn("+  it begins\n", output)


if __name__ == "__main__":
    unittest.main()
