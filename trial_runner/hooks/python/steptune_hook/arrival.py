# SPDX-License-Identifier: Apache-2.0
"""Waits until the program imports a module of a family. Imports only modules that an interpreter loads at its start."""

import gc
import sys

frozen_at_start = 0  # objects that the interpreter has frozen itself, as Python 3.12 does


class _Finder:
    """First finder of `sys.meta_path`. Finds only the modules that families wait for. Removes itself after the last of
    these modules. A program may only check if a module exists (`importlib.util.find_spec`), so a family's hook is
    installed when the module is executed."""

    def __init__(self, waiting):
        self._waiting = waiting

    def find_spec(self, name, path=None, target=None):
        if name not in self._waiting:
            return None
        try:
            return self._with_hook(_find(self, name, path, target), name)
        except Exception as error:
            sys.stderr.write("steptune: the hook cannot enter %s: %s\n" % (name, error))
            return None

    def _with_hook(self, spec, name):
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            family = self._waiting.pop(name, None)
            if not self._waiting and self in sys.meta_path:
                sys.meta_path.remove(self)
            execute(module)
            if family is not None:
                family.install(name)

        # The loader exists only for this import, so it may be changed.
        spec.loader.exec_module = exec_module
        return spec


def _find(own, name, path, target):
    for finder in list(sys.meta_path):
        find_spec = None if finder is own else getattr(finder, "find_spec", None)
        spec = find_spec(name, path, target) if find_spec else None
        if spec is not None:
            return spec
    return None


def arm():
    """Makes the import of a family's module install the family's hook."""
    global frozen_at_start
    from steptune_hook import families, settings

    frozen_at_start = gc.get_freeze_count() if hasattr(gc, "get_freeze_count") else 0
    if settings.reports_arrival():
        from steptune_hook import events

        events.append_armed()
    waiting = families.by_module()
    for name in [name for name in waiting if name in sys.modules]:  # a .pth file imported it
        waiting.pop(name).install(name)
    if waiting:
        sys.meta_path.insert(0, _Finder(waiting))
