# SPDX-License-Identifier: Apache-2.0
"""Runs a study of every combination of a few settings. Converts it to a table that `search_quality --table` reads."""
import csv
import itertools
import json
import os
import statistics
import subprocess
import sys

KINDS = {"categorical": "cat", "bool": "cat", "ordinal": "ord", "int": "ord"}


def read_study(path):
    """Reads a study file. Each comment in it must be on a separate line."""
    with open(path, encoding="utf-8") as file:
        return json.loads("".join(line for line in file if not line.lstrip().startswith("//")))


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def values_of(parameter):
    """Returns the parameter's values in order, with the same types as in a configuration."""
    if parameter["type"] == "bool":
        return [False, True]
    if "choices" in parameter:
        return list(parameter["choices"])
    low, high = parameter["low"], parameter["high"]
    if high == "cpus":
        high = len(os.sched_getaffinity(0))
    if parameter.get("scale") == "log2":
        return [1 << power for power in range(high.bit_length()) if low <= 1 << power <= high]
    return list(range(low, high + 1))


def this_machine():
    """Returns the facts about this machine that `first_guesses` needs. Assumes that the study uses no GPUs."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = set(file.read().split())
    return {"cpus": len(os.sched_getaffinity(0)), "gpus": 0, "computes_bfloat16": bool(flags & {"avx512_bf16", "amx_bf16", "bf16", "svebf16"})}


def run_study(steptune, study, folder, environment=None):
    """Runs the study and returns the trials of its JSON export. A call with the same folder resumes the study."""
    os.makedirs(folder, exist_ok=True)
    file = os.path.join(folder, "study.json")
    with open(file, "w", encoding="utf-8") as out:
        json.dump(study, out, indent=1)
    database = ["--db", os.path.join(folder, "history.db")]
    ran = subprocess.run([steptune, "run", file, "--yes", *database], env=environment, check=False)
    if ran.returncode != 0:
        sys.exit(f"steptune run: exit status {ran.returncode}")
    exported = subprocess.run([steptune, "export", study["name"], "-", "--format", "json", *database],
                              stdout=subprocess.PIPE, check=True)
    return json.loads(exported.stdout)["trials"]


def rows_of(trials, parameters, parts=()):
    """Returns one row for each combination. If a configuration was measured several times, the last measurement counts.
    If a parameter had no effect, the row is repeated for each of its values."""
    rows = {}
    for trial in trials:
        measured = trial["measurement"]
        if not trial["objectives"] or not measured or measured["seconds_per_sample"] is None:
            continue
        known = trial["configuration"]
        choices = [[known[name]] if name in known else values_of(parameter) for name, parameter in parameters.items()]
        half_width = measured["half_width_95_s"]
        figures = [measured["seconds_per_sample"], "" if half_width is None else half_width]
        figures += [measured["parts_s_per_sample"].get(part, "") for part in parts]
        figures += ["" if trial["peak_memory_bytes"] is None else trial["peak_memory_bytes"], trial["spent_s"], trial["status"]]
        for combination in itertools.product(*choices):
            rows[tuple(text(value) for value in combination)] = figures
    return rows


def write_table(folder, name, parameters, rows, parts=(), **said):
    """Writes the table NAME.csv and its description NAME.json to the folder. `said`: further keys of NAME.json."""
    params = [{"name": of, "kind": KINDS[parameter["type"]], "values": [text(value) for value in values_of(parameter)]}
              for of, parameter in parameters.items()]
    others = ["half_width_95_s", *(part + "_s" for part in parts), "peak_memory_bytes", "trial_s", "status"]
    ordered = sorted(rows, key=lambda row: [param["values"].index(value) for param, value in zip(params, row)])
    with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*parameters, "seconds_per_sample", *others])
        writer.writerows([*row, *rows[row]] for row in ordered)

    times = [rows[row][0] for row in ordered]
    best = min(times)
    combinations = 1
    for param in params:
        combinations *= len(param["values"])
    table = {
        "name": name, "csv": name + ".csv", "rows": len(rows), "measured": len(rows), "product_space": combinations,
        "density": len(rows) / combinations, "params": params,
        "objective": "seconds_per_sample", "direction": "minimize", "unit": "s", "others": others,
        "parts": [part + "_s" for part in parts],
        "optimum": best, "median": statistics.median(times), "worst": max(times),
        "share_within": {str(share): sum(time <= best * (1 + share) for time in times) / len(times)
                         for share in (0.01, 0.05, 0.1)},
        "trial_seconds": "trial_s", "machine": this_machine(), **said,
    }
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
        json.dump(table, file, indent=1)
        file.write("\n")
    print(f"{len(rows)} rows of {combinations}: {os.path.join(folder, name)}.csv, .json")
