# SPDX-License-Identifier: Apache-2.0
"""Knobs that are environment variables: the tuner sets them, and the hook reads them."""

import os

from steptune_hook.knobs import huge_pages, preload
from steptune_hook.knobs.knob_status import KnobStatus


# Variables that list several settings, some of which may be the user's own, with their separators.
_SEPARATORS = {"GLIBC_TUNABLES": ":", "MALLOC_CONF": ","}


class EnvironmentKnobs:
    """The knobs of the table whose `applied` is `environment`. `why_not(name)` returns why a knob has no effect with the
    family's libraries; None if it has one."""

    def __init__(self, table, why_not=lambda name: None):
        self._why_not = why_not
        self._knobs = [knob for knob in table if knob["applied"] == "environment"]

    def statuses(self):
        for knob in self._knobs:
            now = _value(knob)
            yield KnobStatus(knob["name"], now, why=self._why_not_here(knob, now), choices=_choices(knob, now))

    def _why_not_here(self, knob, now):
        libraries = _preloaded(knob)
        if libraries and _is_only_asked_for_huge_pages(libraries):
            return None
        if libraries:
            return preload.why_not(libraries.values())
        return self._why_not(knob["name"]) or _why_another_value(knob, now)


def _value(knob):
    """Returns the value whose variables are set now."""
    # Huge pages come first, because any allocator may use them. Then come preloaded libraries, because variables of a
    # replaced allocator have no effect.
    by_library = sorted(
        knob["environment"].items(), key=lambda item: (item[0] != huge_pages.VALUE, "LD_PRELOAD" not in item[1])
    )
    for value, variables in by_library:
        if not variables or not all(name in os.environ for name in variables):
            continue
        if value == "*":
            text = os.environ[next(iter(variables))]
            return int(text) if knob["parameter"]["type"] == "int" and text.isdigit() else text
        if all(_is_set(name, text) for name, text in variables.items()):
            if value == huge_pages.VALUE and not huge_pages.are_in_use():
                continue
            return value
    for name in knob.get("otherwise", ()):
        first = os.environ.get(name, "").split(",")[0].strip()
        if first.isdigit() and int(first) > 0:
            return int(first)
    return len(os.sched_getaffinity(0)) if knob["today"] == "cpus" else knob["today"]


def _why_another_value(knob, now):
    """Returns why `now`, the value without variables, may not be today's: a variable has an unknown text."""
    if knob["environment"].get(now) != {}:
        return None
    names = {name for variables in knob["environment"].values() for name in variables}
    for name in sorted(names):
        text = os.environ.get(name, "")
        if text and text.strip().lower() != now:
            return "%s is %s, which is none of the knob's values" % (name, text)
    return None


def _is_set(name, text):
    """True if the variable is set and has an effect. The linker ignores a missing library, with one line on stderr."""
    if name == "LD_PRELOAD":
        return os.environ[name] == text and preload.is_loaded(text)
    separator = _SEPARATORS.get(name)
    if separator is not None:
        return set(text.split(separator)) <= set(os.environ[name].split(separator))
    return os.environ[name].strip().lower() == text


def _choices(knob, now):
    """Returns the possible values; None if all values of the table are possible. The library of a value must be
    installed. A variable that is set cannot be unset."""
    all_choices = knob["parameter"].get("choices")
    if all_choices is None:
        return None
    libraries = _preloaded(knob)
    if libraries and _is_only_asked_for_huge_pages(libraries):
        return [now] + [huge_pages.VALUE] * (now != huge_pages.VALUE)
    choices = [
        value
        for value in all_choices
        if (value == now or knob["environment"].get(value) != {})
        and (value not in libraries or preload.is_installed(libraries[value]))
        and (value != huge_pages.VALUE or huge_pages.why_not() is None)
    ]
    return choices if libraries or choices != all_choices else None


def _preloaded(knob):
    return {
        value: variables["LD_PRELOAD"]
        for value, variables in knob["environment"].items()
        if "LD_PRELOAD" in variables
    }


def _is_only_asked_for_huge_pages(libraries):
    """True if the program has its own jemalloc, which no library can replace. Then only huge pages can be requested."""
    is_own = preload.why_not(libraries.values()) is not None
    return is_own and preload.is_jemalloc_loaded() and huge_pages.why_not() is None
