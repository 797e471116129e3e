# SPDX-License-Identifier: Apache-2.0
"""Settings of JAX. They are set right after JAX is imported, before it makes its devices. Values that the program sets
later win."""

import os

import jax

from steptune_hook.events import first_line
from steptune_hook.jax import xla_flags
from steptune_hook.knobs import KnobGroups
from steptune_hook.knobs.environment import EnvironmentKnobs
from steptune_hook.knobs.knob_status import KnobStatus

_ASYNC = "jax_cpu_enable_async_dispatch"
_PRECISION = "jax_default_matmul_precision"


class JaxKnobs(KnobGroups):
    def __init__(self, hook):
        super().__init__(hook)
        self.groups = (
            ConfigKnobs(self.requested),
            XlaFlagsKnob(self.requested, hook.settings.mode == "survey"),
            self.collector,
            EnvironmentKnobs(self.table, lambda name: None),
        )


class _Option:
    """A knob that is an option of `jax.config`."""

    def __init__(self, option, value_of, option_of):
        self.option = option
        self.value_of = value_of
        self.option_of = option_of

    def exists(self):
        return self.option in jax.config.values

    def value(self):
        return self.value_of(jax.config.values[self.option])


_OPTIONS = {
    "async_dispatch": _Option(_ASYNC, bool, bool),
    "matmul_precision": _Option(
        _PRECISION, lambda own: own or "default", lambda value: None if value == "default" else value
    ),
}


class ConfigKnobs:
    def __init__(self, requested):
        self._requested = {name: requested[name] for name in _OPTIONS if name in requested}
        self._today = {}
        self._why = {}

    def wrap(self):
        for name, option in _OPTIONS.items():
            if not option.exists():
                self._why[name] = "this JAX has no %s" % option.option
                continue
            self._today[name] = option.value()
            if name not in self._requested or self._requested[name] == self._today[name]:
                continue
            try:
                jax.config.update(option.option, option.option_of(self._requested[name]))
            except Exception as error:
                self._why[name] = first_line(error)

    def statuses(self):
        for name, option in _OPTIONS.items():
            why = self._why.get(name)
            if name == "async_dispatch" and why is None and jax.default_backend() != "cpu":
                why = "the program does not compute on the CPU"
            if name in self._today:
                # The program may have set it since. Without a request, its own value counts.
                now = option.value()
                today = self._today[name] if name in self._requested else now
                yield KnobStatus(name, today=today, value=now, why=why)
            else:
                yield KnobStatus(name, why=why)


class XlaFlagsKnob:
    _NAME = "xla_cpu_flags"
    _TODAY = "default"

    def __init__(self, requested, is_survey):
        self._requested = requested.get(self._NAME)
        self._is_survey = is_survey
        self._choices = None
        self._why = None
        self._own = os.environ.get(xla_flags.VARIABLE, "")

    def wrap(self):
        free = [choice for choice, flag in xla_flags.BY_CHOICE.items() if flag.split("=")[0] not in self._own]
        if self._is_survey:
            self._choices = [self._TODAY, *xla_flags.known(free)]
        wanted = self._requested
        if wanted in (None, self._TODAY):
            return
        if wanted not in free:
            is_known = wanted in xla_flags.BY_CHOICE
            self._why = "the program sets this flag itself" if is_known else "there is no such choice"
        elif not xla_flags.known([wanted]):
            self._why = "this XLA does not know the flag"
        else:
            flag = xla_flags.BY_CHOICE[wanted]
            os.environ[xla_flags.VARIABLE] = ("%s %s" % (self._own, flag)).strip()

    def statuses(self):
        why = self._why
        if why is None and jax.default_backend() != "cpu":
            why = "the program does not compute on the CPU"
        # The program may have written the variable since.
        is_set = xla_flags.BY_CHOICE.get(self._requested, " ") in os.environ.get(xla_flags.VARIABLE, "").split()
        value = self._requested if is_set else self._TODAY
        yield KnobStatus(self._NAME, today=self._TODAY, value=value, why=why, choices=self._choices)
