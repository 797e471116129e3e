# SPDX-License-Identifier: Apache-2.0
"""Tunes programs and reads their studies. Runs the program `steptune` and reads its JSON (docs/cli.md#json).

STUDY is the name of a study, the path of its study file, or a Study. `db` is the path of the database, as for the
option --db. If `db` is None, the path is the value of STEPTUNE_DB. Without that variable it is .steptune/history.db in
the current folder.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Union

from . import _command
from ._command import Error

if TYPE_CHECKING:
    import pandas

Value = Union[bool, int, float, str]
Configuration = Dict[str, Value]
StudyName = Union[str, "os.PathLike[str]", "Study"]


def tune(
    command: Union[str, Sequence[str]],
    time: Union[str, float, None] = "10m",
    *,
    name: Optional[str] = None,
    safe: bool = False,
    semantic: bool = False,
    samples_per_step: Optional[int] = None,
    samples: Optional[int] = None,
    stdin: Optional[str] = None,
    trials: Optional[int] = None,
    worth: Optional[str] = None,
    seed: Optional[int] = None,
    first_guesses: bool = False,
    new: bool = False,
    yes: bool = False,
    db: Optional[str] = None,
    show: bool = True,
) -> Study:
    """Tunes a training command, as `steptune run -- COMMAND` does, and returns its study.

    command: the words of the command, or one text that is split as a shell does. No shell runs it.
    time: longest tuning time: seconds, or a text such as "90s", "10m" or "1h30m".
    name: name of the study; by default the script's.
    safe: leave out settings that may change the loss, such as precision.
    semantic: also tune settings that change the training, such as the batch size.
    samples_per_step, samples: samples of an optimizer step, and of the long run.
    stdin: file that each trial reads as its standard input.
    show: print the progress to sys.stderr.

    The other options are those of `steptune run`. The same call continues a study that was interrupted. Ctrl-C ends the
    tuning, keeps its results and raises KeyboardInterrupt. Raises Error if no configuration works.
    """
    words = shlex.split(command) if isinstance(command, str) else [os.fspath(word) for word in command]
    options = _options(
        time=_duration(time), name=name, safe=safe, semantic=semantic, samples_per_step=samples_per_step,
        samples=samples, stdin=stdin, trials=trials, worth=worth, seed=seed, first_guesses=first_guesses, new=new,
        yes=yes, db=db,
    )  # fmt: skip
    return _tuned([*options, "--", *words], db, show)


def run(
    study_file: Union[str, "os.PathLike[str]"],
    *,
    time: Union[str, float, None] = None,
    trials: Optional[int] = None,
    worth: Optional[str] = None,
    seed: Optional[int] = None,
    first_guesses: bool = False,
    new: bool = False,
    yes: bool = False,
    db: Optional[str] = None,
    show: bool = True,
) -> Study:
    """Runs a study file, as `steptune run FILE` does, and returns the study. Parameters are as for `tune`; time, trials
    and seed are by default the study file's. Trials that cost money need yes=True.
    """
    options = _options(
        time=_duration(time), trials=trials, worth=worth, seed=seed, first_guesses=first_guesses, new=new, yes=yes, db=db
    )
    return _tuned([os.fspath(study_file), *options], db, show)


def best(
    study: Optional[StudyName] = None, default: Optional[Configuration] = None, *, db: Optional[str] = None
) -> Configuration:
    """Returns the configuration that a study recommends for training. `study` is the latest study by default.

    default: values to train with if the study does not exist or has no result. A warning then says why. It also
    provides parameters that the recommended configuration does not have. Without it, a missing result is an Error.
    """
    return _study(study, db).best(default)


def trials(study: Optional[StudyName] = None, *, db: Optional[str] = None) -> Trials:
    """Returns all trials of a study (without a name: of the latest one): a list with a dict for each.

    The keys are columns of `steptune leaderboard --csv`: trial, status, purpose; the parameters by name (None if
    inactive); each objective with NAME_interval (half-width of its 95 % interval) and NAME_gain (times as good as the
    baseline); samples_per_s, startup_s, warmup_s, window_s, spent_s, spent_usd, peak_memory_bytes, origin, failure,
    gpu_memory_bytes; efficiency with several counts of machines; machine_hours on machines without a price;
    metric.NAME. Names end with their units. `trials(...).to_pandas()` is a DataFrame.
    """
    return _study(study, db).trials()


def follow(
    study: StudyName, log: Union[str, "os.PathLike[str]"], *, trial: Optional[int] = None, db: Optional[str] = None
) -> Dict[str, Any]:
    """Compares the output of a long run with what its study promised, as `steptune follow STUDY LOG` does.

    Returns the document `follow` of configs/output.schema.json. Its "promise" is "kept", "faster", "broken" or
    "unknown"; "reason" says why it is unknown. Times are in seconds.

    trial: number of the trial whose configuration runs; by default the recommended one.
    """
    return _study(study, db).follow(log, trial=trial)


def judge(
    *commands: Union[str, Sequence[str]],
    time: Union[str, float, None] = "5m",
    margin: Optional[str] = None,
    git: Union[str, Sequence[str]] = (),
    build: Optional[str] = None,
    name: Optional[str] = None,
    stdin: Optional[str] = None,
    db: Optional[str] = None,
    show: bool = True,
) -> Dict[str, Any]:
    """Compares training commands with the first one, as `steptune judge` does.

    Returns `judge` of the document in configs/output.schema.json. Its "verdict" is "faster", "slower", "tied",
    "undecided", "worse" (the loss) or "failed"; "commands" has the ratio of each with its interval. Raises Error if no
    verdict was possible.

    commands: each as for `tune`. Two to eight, or one with `git`.
    time: longest time: seconds, or a text such as "5m".
    margin: largest difference that counts as a tie, such as "2%".
    git: two revisions or more of the repository in the present folder, in whose trees the command runs.
    build: shell command that builds the program in each tree.
    """
    options = _options(time=_duration(time), margin=margin, build=build, name=name, stdin=stdin, db=db)
    if git:
        options += ["--git", *([git] if isinstance(git, str) else git)]
    words: List[str] = []
    for command in commands:
        words += ["---"] if words else []
        words += shlex.split(command) if isinstance(command, str) else [os.fspath(word) for word in command]
    document = _command.document(["judge", *options, "--", *words], show=show, results=_VERDICTS)
    verdict: Dict[str, Any] = document["judge"]
    return verdict


class Study:
    """A study that the program has stored. Each method reads the study again, so the results of a running study are up
    to date.

    A notebook shows the study's verdict, a chart of its trials and a table of them.
    """

    def __init__(self, name: Union[str, "os.PathLike[str]", None] = None, *, db: Optional[str] = None) -> None:
        """name: name of the study or path of its study file. None: the latest study."""
        self._name = None if name is None else os.fspath(name)
        self._options = _options(db=db)
        # Relative paths of the database and of the study file start in this folder, even after os.chdir().
        self._folder = os.getcwd()

    def _ask(self, command: str, *words: str, results: Sequence[int] = (0,)) -> Dict[str, Any]:
        name = [] if self._name is None else [self._name]
        return _command.document([command, *name, *words, *self._options], self._folder, results=results)

    @property
    def name(self) -> str:
        return str(self._ask("leaderboard", "--limit", "1")["study"]["name"])

    @property
    def status(self) -> str:
        """"running", "interrupted" or "finished"."""
        return str(self._ask("leaderboard", "--limit", "1")["study"]["status"])

    @property
    def recommendation(self) -> Optional[Dict[str, Any]]:
        """The document `recommendation` of configs/output.schema.json: outcome, verdict, changes, speed_up and more.
        None without a result.
        """
        found: Optional[Dict[str, Any]] = self._best()["recommendation"]
        return found

    def _best(self) -> Dict[str, Any]:
        """Returns the document of `best`; without a result, one without a recommendation."""
        try:
            return self._ask("best")
        except Error as error:
            if error.code != _NO_RESULT:
                raise
            return {"recommendation": None, "trial_study": None}

    @property
    def verdict(self) -> str:
        """The result in one sentence; empty without a result."""
        return str((self.recommendation or {"verdict": ""})["verdict"])

    def best(self, default: Optional[Configuration] = None) -> Configuration:
        """See `steptune.best`."""
        try:
            found = self._ask("best")["configuration"]
        except Error as error:
            if default is None or error.code != _NO_RESULT:
                raise
            _command.warn("training with the default: %s" % error)
            found = {}
        return {**(default or {}), **found}

    def trials(self) -> Trials:
        """See `steptune.trials`."""
        return Trials(_rows(self._ask("leaderboard", "--all")))

    def follow(self, log: Union[str, "os.PathLike[str]"], *, trial: Optional[int] = None) -> Dict[str, Any]:
        """See `steptune.follow`."""
        options = _options(trial=trial)
        return self._ask("follow", os.path.abspath(log), *options, results=(0, _UNKNOWN, _BROKEN))

    def __repr__(self) -> str:
        return "Study(%s)" % ("" if self._name is None else repr(self._name))

    def _repr_html_(self) -> str:
        from ._html import study_page

        # The recommendation first: all its trials are on a later leaderboard, also while the study runs.
        best = self._best()
        board = self._ask("leaderboard", "--all")
        # A night of `retune` recommends a trial of its own study.
        is_here = best["recommendation"] and best["trial_study"] == board["study"]["name"]
        recommended = best["recommendation"]["trial"] if is_here else None
        return study_page(board, _rows(board), best["recommendation"], recommended)


class Trials(List[Dict[str, Any]]):
    """Trials of a study: a list with a dict for each trial, sorted by trial number. A notebook shows a table."""

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the trials as a DataFrame of pandas. Needs pandas."""
        import pandas

        return pandas.DataFrame(list(self))

    def _repr_html_(self) -> str:
        from ._html import table

        return table(self)


_NO_RESULT = 1  # exit code of `best`: there is no such study, or it has no result
# Exit codes of `steptune judge` with a document: faster, failed, tied, slower, undecided, worse.
_VERDICTS = (0, 1, 10, 11, 12, 13)
_UNKNOWN = 1  # exit codes of `follow` that come with a document
_BROKEN = 6


def _study(study: Optional[StudyName], db: Optional[str]) -> Study:
    return study if isinstance(study, Study) else Study(study, db=db)


def _tuned(words: Sequence[str], db: Optional[str], show: bool) -> Study:
    name = _command.document(["run", *words], show=show)["study"]["name"]
    return Study(name, db=db)


def _duration(time: Union[str, float, None]) -> Optional[str]:
    return time if time is None or isinstance(time, str) else "%.10gs" % time


def _options(**values: Union[str, int, bool, None]) -> List[str]:
    """Converts Python's keyword arguments to options of a command line."""
    words: List[str] = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(str(value))
    return words


def _rows(board: Dict[str, Any]) -> List[Dict[str, Any]]:
    """Returns the rows of the document `leaderboard`, sorted by trial number. The keys are the columns of
    `leaderboard --csv`.
    """
    rows = sorted(board["rows"], key=lambda row: int(row["trial"]["number"]))
    all_trials = [row["trial"] for row in rows]
    measurements = [trial["measurement"] or {} for trial in all_trials]
    parameters = sorted({name for trial in all_trials for name in trial["configuration"]})
    metrics = sorted({name for measurement in measurements for name in measurement.get("metrics", ())})
    objectives = [objective["metric"] for objective in board["objectives"]]
    of_machines = [name for name in ("efficiency", "machine_hours") if any(name in row for row in rows)]
    return [
        _row(row, trial, measurement, parameters, objectives, metrics, of_machines)
        for row, trial, measurement in zip(rows, all_trials, measurements)
    ]


def _row(
    row: Dict[str, Any], trial: Dict[str, Any], measurement: Dict[str, Any], parameters: Sequence[str],
    objectives: Sequence[str], metrics: Sequence[str], of_machines: Sequence[str],
) -> Dict[str, Any]:  # fmt: skip
    known = {
        "trial": trial["number"],
        **{name: trial[name] for name in ("status", "purpose")},
        "samples_per_s": measurement.get("samples_per_second"),
        **{name: measurement.get(name) for name in ("startup_s", "warmup_s", "window_s")},
        **{name: trial[name] for name in ("spent_s", "spent_usd", "peak_memory_bytes", "origin", "failure")},
        "gpu_memory_bytes": (trial["gpu"] or {}).get("peak_memory_bytes"),
        **{name: row.get(name) for name in of_machines},
    }
    cells = {("trial." if name in objectives else "") + name: value for name, value in known.items()}
    measured: Dict[str, Any] = {}
    for index, name in enumerate(objectives):
        value = trial["objectives"][index] if index < len(trial["objectives"]) else {}
        measured[name] = value.get("value")
        measured[name + "_interval"] = value.get("half_width_95")
        measured[name + "_gain"] = row["gain_over_baseline"][index]
    configuration = {
        ("parameter." if name in cells or name in measured else "") + name: trial["configuration"].get(name)
        for name in parameters
    }
    reported = {"metric." + name: measurement.get("metrics", {}).get(name) for name in metrics}
    first = dict(list(cells.items())[:3])
    return {**first, **configuration, **measured, **cells, **reported}
