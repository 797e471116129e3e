# SPDX-License-Identifier: Apache-2.0
"""Settings of JAX. They are set right after JAX is imported, before it makes its devices. Values that the program sets
later win."""

import os

import jax

from steptune_hook.jax import xla_flags
from steptune_hook.knobs import KnobGroups
from steptune_hook.knobs.environment import EnvironmentKnobs
from steptune_hook.knobs.knob_status import KnobStatus
from steptune_hook.knobs.process_settings import ProcessSettings, Setting


class JaxKnobs(KnobGroups):
    def __init__(self, hook):
        super().__init__(hook)
        self.groups = (
            ConfigKnobs(self.requested),
            XlaFlagsKnobs(self.table, self.requested, hook.settings.mode == "survey"),
            self.collector,
            EnvironmentKnobs(self.table),
        )


def _setting(option, shown=lambda own: own, own=lambda shown: shown):
    """`shown(own)` converts a value of an option of `jax.config` to the knob's; `own(shown)` converts it back."""
    return Setting(
        lambda: shown(jax.config.values[option]),
        lambda value: jax.config.update(option, own(value)),
        lambda: None if option in jax.config.values else "this JAX has no %s" % option,
    )


class ConfigKnobs(ProcessSettings):
    def __init__(self, requested):
        settings = {
            "async_dispatch": _setting("jax_cpu_enable_async_dispatch"),
            "matmul_precision": _setting(
                "jax_default_matmul_precision",
                lambda own: own or "default",
                lambda shown: None if shown == "default" else shown,
            ),
        }
        super().__init__(requested, settings)

    def wrap(self):
        self.settle()

    def why_useless(self, name):
        if name == "async_dispatch" and jax.default_backend() != "cpu":
            return "the program does not compute on the CPU"
        return None


class XlaFlagsKnobs:
    """The knobs whose values are flags of XLA. Their names begin with the platform: `xla_cpu_`, `xla_gpu_`."""

    _TODAY = "default"
    _OF_SEVERAL_DEVICES = "xla_gpu_collectives"

    def __init__(self, table, requested, is_survey):
        flags = [knob for knob in table if knob["name"].startswith("xla_")]
        self._choices = {knob["name"]: knob["parameter"]["choices"][1:] for knob in flags}
        self._requested = {name: requested[name] for name in self._choices if name in requested}
        self._is_survey = is_survey
        self._known = None
        self._why = {}
        self._own = os.environ.get(xla_flags.VARIABLE, "")

    def wrap(self):
        free = [choice for choice in xla_flags.BY_CHOICE if not xla_flags.is_named(choice, self._own)]
        if self._is_survey:
            self._known = xla_flags.known(free)
        wanted = {name: value for name, value in self._requested.items() if value != self._TODAY}
        for name, choice in wanted.items():
            if choice not in self._choices[name]:
                self._why[name] = "there is no such choice"
            elif choice not in free:
                self._why[name] = "the program sets this flag itself"
        possible = {name: choice for name, choice in wanted.items() if name not in self._why}
        known = xla_flags.known(possible.values())
        for name, choice in possible.items():
            if choice in known:
                before = os.environ.get(xla_flags.VARIABLE, "")
                os.environ[xla_flags.VARIABLE] = ("%s %s" % (before, xla_flags.BY_CHOICE[choice])).strip()
            else:
                self._why[name] = "this XLA does not know the flag"

    def statuses(self):
        now = os.environ.get(xla_flags.VARIABLE, "")  # the program may have written it since
        for name, choices in self._choices.items():
            wanted = self._requested.get(name)
            is_set = wanted in choices and xla_flags.is_set(wanted, now)
            offered = None
            if self._known is not None:
                offered = [self._TODAY, *(choice for choice in choices if choice in self._known)]
            value = wanted if is_set else self._TODAY
            why = self._why.get(name) or self._why_not_here(name)
            yield KnobStatus(name, today=self._TODAY, value=value, why=why, choices=offered)

    def _why_not_here(self, name):
        platform = name.split("_")[1]
        if jax.default_backend() != platform:
            return "the program does not compute on the %s" % platform.upper()
        if name == self._OF_SEVERAL_DEVICES and jax.device_count() < 2:
            return "the program computes on one device"
        return None
