# SPDX-License-Identifier: Apache-2.0
"""Tests the Python package `steptune` with the real program (STEPTUNE_PROGRAM) and with scripts in its place."""

import contextlib
import csv
import io
import json
import os
import pathlib
import pickle
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
import warnings
from xml.etree import ElementTree

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = SOURCE / "trial_runner" / "reporters"
sys.path.insert(0, str(PACKAGE))

import steptune  # noqa: E402

PROGRAM = os.environ.get("STEPTUNE_PROGRAM", str(SOURCE / "build/dev/bin/steptune"))

REPLAYED = {
    "name": "demo",
    "command": ["python3", "train.py", "--batch-size={batch_size}", "--workers={workers}", "--note=<{note}>",
                {"when": "workers > 0", "args": ["--prefetch={prefetch}"]}],
    "parameters": {
        "batch_size": {"type": "int", "low": 16, "high": 256, "scale": "log2"},
        "workers": {"type": "int", "low": 0, "high": 4},
        "prefetch": {"type": "int", "low": 1, "high": 4, "when": "workers > 0"},
        "note": {"type": "categorical", "choices": ["08", "<b>"]},
    },
    "baseline": {"batch_size": 32, "workers": 0, "note": "08"},
    "planned_run": {"samples": 1e8},
    "objectives": ["time", "cost"],
    "search": {"searcher": "sobol", "scheduler": "asha", "seed": 7},
    "budget": {"trials": 12},
    "runner": {"type": "replay", "price_per_hour": 2.0,
               "seconds_per_sample": "(0.0004 + 0.01 / batch_size) * (1 + 0.5 / (1 + workers))"},
}
FAILING = {
    "name": "failing",
    "command": ["/bin/false", "{batch}"],
    "parameters": {"batch": {"type": "int", "low": 1, "high": 64}},
    "baseline": {"batch": 8},
    "search": {"searcher": "random", "scheduler": "none"},
    "budget": {"trials": 3},
    "runner": {"type": "local", "pin": False},
}
ENDLESS = dict(FAILING, name="endless", command=["/bin/sh", "trial.sh", "{batch}"], limits={"grace": "30s"},
               measure={"max_trial": "60s", "min_window": "50s", "confirm_pairs": 0})
ENDLESS_TRIAL = """trap 'exit 0' TERM
i=0
while :; do
  i=$((i + 1))
  echo "[steptune] {\\"v\\":1,\\"step\\":$i,\\"samples\\":$((i * $1))}"
  sleep 0.02
done
"""


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


class InFolder(unittest.TestCase):
    """Each test runs in a new folder, with a PATH that begins with the folder `bin` there."""

    def setUp(self):
        self.folder = pathlib.Path(os.path.realpath(tempfile.mkdtemp()))
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        saved = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(saved)))
        os.environ["PATH"] = "%s:/usr/bin:/bin" % (self.folder / "bin")
        for name in ("STEPTUNE_DB", "STEPTUNE_TRIAL", "STEPTUNE_LOG"):
            os.environ.pop(name, None)

    def use_real_program(self):
        (self.folder / "bin").mkdir()
        os.symlink(PROGRAM, "bin/steptune")

    def use_script(self, text):
        executable(self.folder / "bin" / "steptune", "#!/bin/sh\n" + text)

    def python(self, code, *arguments):
        """Runs code in a new interpreter."""
        return subprocess.run([sys.executable, "-B", "-c", code, *arguments], env=dict(os.environ, PYTHONPATH=str(PACKAGE)),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")


class Importing(InFolder):
    def test_the_reporter_alone_is_imported(self):
        ran = self.python("import sys; before = set(sys.modules); import steptune; steptune.report(samples=1)\n"
                          "print(*sorted(set(sys.modules) - before))")
        imported = set(ran.stdout.split())
        self.assertEqual({name for name in imported if name.startswith("steptune")}, {"steptune", "steptune._reporter"})
        # The interpreter itself needs milliseconds for each of these.
        self.assertFalse(imported & {"subprocess", "typing", "shutil", "dataclasses", "asyncio", "pandas"}, imported)

    def test_every_public_name_exists_and_is_documented(self):
        for name in steptune.__all__:
            self.assertIn(name, dir(steptune))
            self.assertTrue(getattr(steptune, name).__doc__, name)
        with self.assertRaises(AttributeError):
            steptune.nothing
        with self.assertRaises(AttributeError):
            steptune.callbacks.nothing

    def test_callbacks_import_no_framework_before_they_are_used(self):
        ran = self.python("import sys, steptune; steptune.callbacks; print(*sys.modules)")
        self.assertFalse(set(ran.stdout.split()) & {"transformers", "lightning", "pytorch_lightning", "keras", "torch"})


class Finding(InFolder):
    def test_a_missing_program_is_an_error_that_says_where_it_was_looked_for(self):
        os.environ["PATH"] = str(self.folder / "bin")  # /usr/bin may have an installed one
        with self.assertRaises(steptune.ProgramNotFound) as raised:
            steptune.best("demo", default={"batch_size": 64})
        self.assertEqual(raised.exception.code, 127)
        self.assertIn(str(PACKAGE / "steptune"), str(raised.exception))
        self.assertIn("PATH", str(raised.exception))

    def test_the_program_that_came_with_the_package_goes_before_the_one_on_path(self):
        self.use_script("echo path")
        package = self.folder / "lib" / "python3" / "site-packages" / "steptune"
        shutil.copytree(PACKAGE / "steptune", package)
        record = package.parent / "steptune-0.1.0.dist-info" / "RECORD"
        record.parent.mkdir()
        record.write_text("steptune/__init__.py,sha256=a,10\n../../../venv/bin/steptune,sha256=b,20\n")
        code = "import steptune._command; print(steptune._command.program())"
        os.environ["PYTHONPATH"] = str(package.parent)
        ask = [sys.executable, "-B", "-c", code]
        self.assertEqual(subprocess.check_output(ask, encoding="utf-8"), "%s/bin/steptune\n" % self.folder)
        own = executable(self.folder / "venv/bin/steptune", "#!/bin/sh\necho own $*\n")
        self.assertEqual(subprocess.check_output(ask, encoding="utf-8"), "%s\n" % own)
        ran = subprocess.check_output([sys.executable, "-B", "-m", "steptune", "best", "a b"], encoding="utf-8")
        self.assertEqual(ran, "own best a b\n")


class Documents(InFolder):
    """A script stands in for the program."""

    RUN = '{"schema_version": 1, "study": {"name": "train"}}'

    def words_of(self, call):
        self.use_script("for word; do echo \"$word\" >> words; done; echo '%s'" % self.RUN)
        call()
        words = (self.folder / "words").read_text().splitlines()
        os.remove("words")
        return words

    def test_tune_passes_its_arguments_as_options(self):
        words = self.words_of(lambda: steptune.tune("python3 train.py --name 'a b'"))
        self.assertEqual(words, ["run", "--time", "10m", "--json", "--color", "never", "--",
                                 "python3", "train.py", "--name", "a b"])
        words = self.words_of(lambda: steptune.tune(
            ["python3", "it's.py", "--", "--json"], time=90, name="night", safe=True, semantic=True, samples_per_step=8,
            samples=1000, stdin="in.txt", trials=5, worth="2%", seed=3, first_guesses=True, new=True, yes=True, db="a.db"))
        self.assertEqual(words, ["run", "--time", "90s", "--name", "night", "--safe", "--semantic", "--samples-per-step",
                                 "8", "--samples", "1000", "--stdin", "in.txt", "--trials", "5", "--worth", "2%",
                                 "--seed", "3", "--first-guesses", "--new", "--yes", "--db", "a.db", "--json", "--color",
                                 "never", "--", "python3", "it's.py", "--", "--json"])

    def test_two_weeks_are_a_time(self):
        words = self.words_of(lambda: steptune.tune("python3 train.py", time=1209600.0))
        self.assertEqual(words[1:3], ["--time", "1209600s"])

    def test_tune_returns_the_study_that_the_program_names(self):
        self.use_script("echo '%s'" % self.RUN)
        self.assertEqual(repr(steptune.tune("python3 train.py")), "Study('train')")

    def test_options_of_tune_and_run_exist(self):
        listed = subprocess.run([PROGRAM, "run", "--help"], stdout=subprocess.PIPE, encoding="utf-8").stdout
        for call in (steptune.tune, steptune.run):
            names = set(call.__kwdefaults__) - {"show"}
            for name in names:
                self.assertIn("--" + name.replace("_", "-"), listed)

    def test_errors_carry_message_and_code(self):
        self.use_script("echo 'steptune: warning: a' >&2; echo 'steptune: error: b is wrong' >&2\n"
                        "echo '  see c' >&2; exit 5")
        with self.assertRaises(steptune.Error) as raised:
            steptune.best()
        self.assertEqual((raised.exception.message, raised.exception.code), ("b is wrong\n  see c", 5))
        self.assertEqual(str(raised.exception), "b is wrong\n  see c")
        again = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual((again.message, again.code), ("b is wrong\n  see c", 5))

    def test_a_killed_program_is_an_error(self):
        self.use_script("kill -9 $$")
        with self.assertRaises(steptune.Error) as raised:
            steptune.best()
        self.assertEqual(raised.exception.code, 128 + 9)
        self.assertIn("best ended with code 137", str(raised.exception))

    def test_warnings_become_warnings_of_the_caller(self):
        self.use_script("""echo 'steptune: warning: not confirmed' >&2; echo '  run it longer' >&2
            echo '{"schema_version": 1, "configuration": {"a": 1}}'""")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertEqual(steptune.best("s"), {"a": 1})
            steptune.Study("s").best()
        self.assertEqual([str(w.message) for w in caught], ["not confirmed\n  run it longer"] * 2)
        self.assertEqual({w.filename for w in caught}, {__file__})

    def test_documents_of_another_version_are_refused(self):
        self.use_script("echo '{\"schema_version\": 2}'")
        with self.assertRaisesRegex(steptune.Error, "version 2.*reads version 1"):
            steptune.trials()

    def test_long_outputs_on_both_streams_do_not_block(self):
        self.use_script("""i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "progress $i" >&2; done
            echo '{"schema_version": 1, "configuration": {'; i=0
            while [ $i -lt 20000 ]; do i=$((i+1)); echo "\\"parameter $i\\": $i,"; done; echo '"a": 1}}'""")
        self.assertEqual(len(steptune.best("s")), 20001)


class Results(InFolder):
    def setUp(self):
        super().setUp()
        self.use_real_program()
        pathlib.Path("study.json").write_text(json.dumps(REPLAYED))
        self.study = steptune.run("study.json", show=False)

    def test_best_is_a_dict_to_train_with(self):
        found = steptune.best("demo", default={"batch_size": 64, "other": 3})
        self.assertEqual({type(found[name]) for name in ("batch_size", "workers", "prefetch")}, {int})
        self.assertIsInstance(found["note"], str)
        self.assertEqual(found["other"], 3)
        self.assertEqual(dict(self.study.best(), other=3), found)
        self.assertEqual(steptune.best("study.json"), self.study.best())
        self.assertEqual(steptune.best(), self.study.best())

    def test_a_study_without_result_gives_the_default_and_a_warning(self):
        with self.assertWarnsRegex(UserWarning, 'there is no study "nightly"'):
            self.assertEqual(steptune.best("nightly", default={"batch_size": 64}), {"batch_size": 64})
        with self.assertWarnsRegex(UserWarning, "no history found"):
            self.assertEqual(steptune.best("demo", default={"batch_size": 64}, db="none/history.db"), {"batch_size": 64})
        with self.assertRaises(steptune.Error) as raised:
            steptune.best("nightly")
        self.assertEqual(raised.exception.code, 1)

    def test_a_wrong_history_is_an_error_even_with_a_default(self):
        pathlib.Path("broken.db").write_text("this is no database" * 1000)
        with self.assertRaises(steptune.Error) as raised:
            steptune.best("demo", default={"batch_size": 64}, db="broken.db")
        self.assertEqual(raised.exception.code, 4)

    def test_trials_have_the_values_of_the_leaderboard(self):
        rows = steptune.trials("demo")
        self.assertEqual([row["trial"] for row in rows], list(range(1, len(rows) + 1)))
        self.assertEqual(list(rows[0])[:4], ["trial", "status", "purpose", "batch_size"])
        self.assertIsNone(rows[0]["prefetch"])
        self.assertEqual(rows[0]["note"], "08")
        text = subprocess.check_output([PROGRAM, "leaderboard", "--csv", "--all"], encoding="utf-8")
        for line in csv.DictReader(io.StringIO(text)):
            row = rows[int(line["trial"]) - 1]
            self.assertEqual(set(row), set(line))
            for name in set(row) - {"status"}:  # that column also has the purpose
                shown = "" if row[name] is None else str(row[name])
                if isinstance(row[name], float):
                    self.assertEqual(row[name], float(line[name]), name)
                else:
                    self.assertEqual(shown, line[name], name)

    def test_names_that_clash_are_renamed_as_on_the_leaderboard(self):
        clashing = dict(REPLAYED, name="clash", parameters={"status": {"type": "int", "low": 1, "high": 2},
                                                            "time": {"type": "int", "low": 1, "high": 2}},
                        baseline={"status": 1, "time": 1}, command=["train", "{status}", "{time}"], budget={"trials": 2})
        clashing["runner"] = dict(REPLAYED["runner"], seconds_per_sample="0.01 / status / time")
        pathlib.Path("clash.json").write_text(json.dumps(clashing))
        row = steptune.run("clash.json", show=False).trials()[0]
        self.assertEqual((row["status"], row["parameter.status"], row["parameter.time"]), ("completed", 1, 1))
        self.assertIsInstance(row["time"], float)
        header = subprocess.check_output([PROGRAM, "leaderboard", "clash", "--csv"], encoding="utf-8").splitlines()[0]
        self.assertEqual(set(row), set(header.split(",")))

    def test_trials_are_a_data_frame_on_request(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("needs pandas")
        rows = steptune.trials("demo")
        frame = rows.to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame.columns), list(rows[0]))
        self.assertEqual(len(frame), len(rows))

    def test_follow_says_if_the_promise_is_kept(self):
        configuration = self.study.best()
        promised_s = (0.0004 + 0.01 / configuration["batch_size"]) * (1 + 0.5 / (1 + configuration["workers"]))

        def promise(slower, steps=300):
            with open("train.log", "w") as log:
                for i in range(1, steps):
                    line = {"v": 1, "step": i, "samples": 100 * i, "clock": 100 * i * promised_s * slower}
                    log.write("[steptune] %s\n" % json.dumps(line))
            return steptune.follow("demo", "train.log")

        self.assertEqual(promise(1.0)["promise"], "kept")
        self.assertEqual(promise(2.0)["promise"], "broken")
        self.assertEqual(promise(0.5)["promise"], "faster")
        unknown = promise(1.0, steps=3)
        self.assertEqual(unknown["promise"], "unknown")
        self.assertIn("too few reports", unknown["reason"])
        self.assertEqual(self.study.follow("train.log", trial=1)["trial"], 1)
        with self.assertRaises(steptune.Error):
            steptune.follow("demo", "no.log")

    def test_a_study_knows_its_folder(self):
        os.mkdir("elsewhere")
        os.chdir("elsewhere")
        self.assertEqual((self.study.name, self.study.status), ("demo", "finished"))
        self.assertIn("times as fast", self.study.verdict)
        self.assertEqual(self.study.recommendation["outcome"], "faster")
        with self.assertRaises(steptune.Error):
            steptune.best("demo")


class Notebooks(InFolder):
    def setUp(self):
        super().setUp()
        self.use_real_program()

    def shown(self, thing):
        html = thing._repr_html_()
        self.assertNotIn("<script", html)
        # It is well-formed, and texts of the study are escaped.
        return ElementTree.fromstring("<all>%s</all>" % html.replace("<br>", "<br/>"))

    def test_a_study_shows_verdict_changes_chart_and_table(self):
        pathlib.Path("study.json").write_text(json.dumps(REPLAYED))
        study = steptune.run("study.json", show=False)
        page = self.shown(study)
        text = " ".join(page.itertext())
        self.assertIn(study.verdict, text)
        self.assertIn("<b>", text)
        measured = [row for row in study.trials() if row["time"] is not None]
        self.assertEqual(len(page.findall(".//svg/circle")), len(measured))
        changes, board = page.findall(".//table")
        self.assertIn("batch_size", [cell.text for cell in changes.findall(".//td")])
        self.assertEqual([cell.text for cell in board.findall(".//th")],
                         ["trial", "status", "time", "time gain", "cost", "cost gain", "batch_size", "note", "prefetch",
                          "workers"])
        numbers = [row.find("td").text for row in board.findall("./tbody/tr")]
        self.assertEqual(numbers[0], str(study.recommendation["trial"]))
        self.assertIn("1", numbers)

    def test_a_study_may_end_between_two_commands(self):
        pathlib.Path("study.json").write_text(json.dumps(REPLAYED))
        recommended = steptune.run("study.json", show=False).recommendation["trial"]
        pathlib.Path("best.json").write_bytes(subprocess.check_output([PROGRAM, "best", "--json"]))
        board = json.loads(subprocess.check_output([PROGRAM, "leaderboard", "--all", "--json"]))
        pathlib.Path("late.json").write_text(json.dumps(board))
        board["rows"] = [row for row in board["rows"] if row["trial"]["number"] != recommended]
        pathlib.Path("early.json").write_text(json.dumps(board))
        os.remove("bin/steptune")
        self.use_script("case $1 in best) mv late.json early.json; cat best.json;; *) cat early.json;; esac\n")
        numbers = [row.find("td").text for row in self.shown(steptune.Study("demo")).findall(".//table")[-1].findall("./tbody/tr")]
        self.assertEqual(numbers[0], str(recommended))

    def test_a_trial_of_a_night_is_none_of_the_study(self):
        pathlib.Path("study.json").write_text(json.dumps(REPLAYED))
        steptune.run("study.json", show=False)
        best = json.loads(subprocess.check_output([PROGRAM, "best", "--json"]))
        self.assertEqual(best["trial_study"], "demo")
        pathlib.Path("best.json").write_text(json.dumps(dict(best, trial_study="demo.night-2")))
        pathlib.Path("board.json").write_bytes(subprocess.check_output([PROGRAM, "leaderboard", "--all", "--json"]))
        self.assertIn("font-weight:bold", steptune.Study("demo")._repr_html_())
        os.remove("bin/steptune")
        self.use_script("case $1 in best) cat best.json;; *) cat board.json;; esac\n")
        self.assertNotIn("font-weight:bold", steptune.Study("demo")._repr_html_())

    def test_a_metric_may_be_negative(self):
        pathlib.Path("study.json").write_text(json.dumps(REPLAYED))
        steptune.run("study.json", show=False)
        board = json.loads(subprocess.check_output([PROGRAM, "leaderboard", "--all", "--json"]))
        measured = [objective for row in board["rows"] for objective in row["trial"]["objectives"][:1]]
        for objective in measured:
            objective["value"] = -1.5
        pathlib.Path("board.json").write_text(json.dumps(board))
        os.remove("bin/steptune")
        self.use_script("case $1 in leaderboard) cat board.json;; *) exit 1;; esac\n")
        page = self.shown(steptune.Study("demo"))
        self.assertEqual(len(page.findall(".//svg/circle")), len(measured))

    def test_trials_show_all_rows(self):
        pathlib.Path("study.json").write_text(json.dumps(REPLAYED))
        rows = steptune.run("study.json", show=False).trials()
        self.assertEqual(len(self.shown(rows).findall(".//tbody/tr")), len(rows))
        self.shown(steptune.Trials())

    def test_a_study_without_a_result_shows_its_trials(self):
        pathlib.Path("failing.json").write_text(json.dumps(FAILING))
        with self.assertRaises(steptune.Error):
            steptune.run("failing.json", show=False)
        study = steptune.Study("failing")
        self.assertIsNone(study.recommendation)
        self.assertEqual(study.verdict, "")
        page = self.shown(study)
        self.assertIn("no result yet", " ".join(page.itertext()))
        self.assertEqual(page.findall(".//svg"), [])
        self.assertEqual(study.trials()[0]["status"], "failed")


class Running(InFolder):
    def setUp(self):
        super().setUp()
        self.use_real_program()

    def test_progress_goes_to_stderr(self):
        pathlib.Path("study.json").write_text(json.dumps(REPLAYED))
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            steptune.run("study.json")
        self.assertIn("trial 1 completed", shown.getvalue())
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            steptune.run("study.json", show=False)
        self.assertEqual(shown.getvalue(), "")

    def test_a_study_that_cannot_work_raises_with_the_reason(self):
        pathlib.Path("failing.json").write_text(json.dumps(FAILING))
        with self.assertRaises(steptune.Error) as raised:
            steptune.run("failing.json", show=False)
        self.assertEqual(raised.exception.code, 3)
        self.assertIn("exit status 1", str(raised.exception))
        with self.assertRaises(steptune.Error) as raised:
            steptune.run("no.json", show=False)
        self.assertEqual(raised.exception.code, 2)

    def test_commands_are_judged(self):
        step = "i=0; while :; do i=$((i+1)); echo \"[steptune] {\\\"v\\\":1,\\\"step\\\":$i}\"; sleep %s; done"
        slow, fast = (["/bin/sh", "-c", step % pause] for pause in (0.06, 0.02))
        judged = steptune.judge(slow, fast, time="60s", show=False)
        self.assertEqual((judged["verdict"], judged["keep"]), ("faster", "B"))
        self.assertGreater(judged["commands"][1]["speed_up"]["low_95"], 1.0)
        with self.assertRaises(steptune.Error) as raised:
            steptune.judge(fast, show=False)
        self.assertEqual(raised.exception.code, 2)
        with self.assertRaisesRegex(steptune.Error, "1 revision is given"):
            steptune.judge(fast, git="main", show=False)

    def test_no_tuner_survives_a_killed_python(self):
        # The tuner and its processes inherit the writing end of a pipe. The pipe ends when the last process ends.
        os.mkfifo("alive")
        alive = os.open("alive", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, alive)
        os.remove("bin/steptune")
        self.use_script("exec 9>'%s/alive'; exec '%s' \"$@\"" % (self.folder, PROGRAM))
        status, _ = self.interrupted(signal.SIGKILL)
        self.assertEqual(status, -signal.SIGKILL)
        os.set_blocking(alive, True)
        self.assertEqual(os.read(alive, 1), b"")
        self.assertEqual(steptune.Study("endless").status, "interrupted")

    def interrupted(self, number):
        """Returns the exit status and output of a Python program that gets a signal while it tunes."""
        pathlib.Path("endless.json").write_text(json.dumps(ENDLESS))
        pathlib.Path("trial.sh").write_text(ENDLESS_TRIAL)
        code = "import signal, steptune; signal.signal(signal.SIGINT, signal.default_int_handler)\n" \
               "steptune.run('endless.json')"
        process = subprocess.Popen([sys.executable, "-B", "-c", code], stderr=subprocess.PIPE, encoding="utf-8",
                                   env=dict(os.environ, PYTHONPATH=str(PACKAGE)))
        read = ""
        while "trial 1 started" not in read:
            line = process.stderr.readline()
            self.assertTrue(line, read)
            read += line
        process.send_signal(number)
        read += process.communicate()[1]
        return process.returncode, read

    def test_ctrl_c_ends_the_trials_in_order(self):
        status, output = self.interrupted(signal.SIGINT)
        self.assertIn(status, (1, -signal.SIGINT), output)
        self.assertIn("KeyboardInterrupt", output)
        self.assertIn("stopping the running trials; results are saved", output)
        self.assertEqual(steptune.Study("endless").status, "interrupted")

    def test_sigterm_ends_the_trials_and_then_python(self):
        status, output = self.interrupted(signal.SIGTERM)
        self.assertEqual(status, -signal.SIGTERM, output)
        self.assertEqual(steptune.Study("endless").status, "interrupted")


class Types(InFolder):
    def test_a_checker_of_types_accepts_the_package(self):
        if subprocess.run([sys.executable, "-c", "import mypy"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("needs mypy")
        pathlib.Path("uses.py").write_text("import steptune\n"
                                           "batch: int = len(steptune.best('s', default={'a': 1}))\n"
                                           "for row in steptune.tune('a').trials():\n    print(row['trial'])\n"
                                           "with steptune.phase('evaluation'):\n    steptune.report(samples=3, loss=0.5)\n"
                                           "reveal_type(steptune.trials('s'))\n")
        # Skips the frameworks' sources, which would take mypy minutes.
        ran = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--follow-imports=skip",
                              str(PACKAGE / "steptune"), "uses.py"],
                             env=dict(os.environ, MYPYPATH=str(PACKAGE)), stdout=subprocess.PIPE, encoding="utf-8")
        self.assertEqual(ran.returncode, 0, ran.stdout)
        self.assertRegex(ran.stdout, re.escape('"steptune._study.Trials"'))
        self.assertTrue((PACKAGE / "steptune" / "py.typed").exists())


if __name__ == "__main__":
    unittest.main()
