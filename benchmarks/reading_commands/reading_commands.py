#!/usr/bin/env python3
"""Measures the processor time of the commands that read a history. The history has 1 000 trials of one tuned study.
With --large, the commands run again after this history was enlarged to 1 000 000 trials in 100 studies. The added
trials are copies without traces. Prints the lowest sum of user and system time over several runs, in milliseconds.
Also prints the size of the report on 1 000 trials. Fails if that report takes more than 1 s or 3 MB.

    benchmarks/reading_commands/reading_commands.py --steptune build/release/bin/steptune --large
"""
import argparse
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

STUDIES = 100
TRIALS = 10_000  # per study
COMMANDS = [
    "studies", "leaderboard STUDY", "leaderboard STUDY --json", "leaderboard STUDY --all",
    "leaderboard STUDY --sort cost", "leaderboard STUDY --sort startup_s",
    "leaderboard STUDY --where workers>2", "leaderboard STUDY --pareto", "show STUDY 5",
    "best STUDY", "best STUDY --format args", "compare STUDY 5 6", "importance STUDY",
    "bottleneck STUDY", "scaling STUDY --over nodes",
]
REPORT_LIMIT_MS = 1000
REPORT_LIMIT_BYTES = 3_000_000


def columns(database, table, left_out):
    return [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")
            if name not in left_out]


def enlarge(path):
    """Copies search trials within the study, then copies the study."""
    database = sqlite3.connect(path)
    rest = ", ".join(columns(database, "trials", ["study_id", "number"]))
    study = ", ".join(columns(database, "studies", ["id", "name"]))
    with database:
        last, = database.execute("SELECT max(number) FROM trials").fetchone()
        while last < TRIALS:
            database.execute(
                f"INSERT INTO trials (study_id, number, {rest}) SELECT study_id, ?1 + row_number() "
                f"OVER (ORDER BY number), {rest} FROM trials WHERE purpose = 'search' "
                "ORDER BY number LIMIT ?2", (last, TRIALS - last))
            last, = database.execute("SELECT max(number) FROM trials").fetchone()
        for copy in range(2, STUDIES + 1):
            database.execute(f"INSERT INTO studies (name, {study}) SELECT ?, {study} FROM studies "
                             "WHERE name = 'study-1'", (f"study-{copy}",))
            database.execute(
                f"INSERT INTO trials (study_id, number, {rest}) SELECT ?, number, {rest} "
                "FROM trials WHERE study_id = 1", (copy,))
    database.close()


def least_ms(arguments, runs):
    times = []
    for _ in range(runs):
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        errors = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{' '.join(arguments)}: {errors}")
        times.append(usage.ru_utime + usage.ru_stime)
    return 1000 * min(times)


def measured_report(steptune, file, runs):
    """Returns the time to write the whole study as one page, and the page's size."""
    time = least_ms([steptune, "report", "study-1", "--html", str(file)], runs)
    return time, file.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steptune", default="build/release/bin/steptune")
    parser.add_argument("--large", action="store_true", help="also measure a history of 1 000 000 trials (1.5 GB)")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["STEPTUNE_DB"] = os.path.join(folder, "history.db")
        study = pathlib.Path(__file__).with_name("study.json")
        subprocess.run([options.steptune, "run", str(study)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        def measured():
            return [least_ms([options.steptune] + command.replace("STUDY", "study-1").split(),
                             options.runs) for command in COMMANDS]
        rows = [measured()]
        report_ms, report_bytes = measured_report(options.steptune,
                                                  pathlib.Path(folder, "report.html"), options.runs)
        if options.large:
            enlarge(os.environ["STEPTUNE_DB"])
            rows.append(measured())
        for command, *times in zip(COMMANDS, *rows):
            print(f"| `{command}` | " + " | ".join(f"{time:.0f} ms" for time in times) + " |")
        # A page with 10 000 trials would be too long to read, so the report is measured on the small study.
        print(f"| `report STUDY --html FILE` | {report_ms:.0f} ms, {report_bytes / 1e6:.1f} MB |"
              + " |" * (len(rows) - 1))
    if report_ms > REPORT_LIMIT_MS or report_bytes > REPORT_LIMIT_BYTES:
        sys.exit(f"report: more than {REPORT_LIMIT_MS} ms or {REPORT_LIMIT_BYTES / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
