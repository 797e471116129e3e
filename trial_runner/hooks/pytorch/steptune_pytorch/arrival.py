# SPDX-License-Identifier: Apache-2.0
"""Waits for `import torch`. Imports only modules that every interpreter loads at its start."""

import sys


class _TorchFinder:
    """First finder of `sys.meta_path`. Finds only `torch`, and removes itself when torch is imported. Some programs
    only check whether torch exists (`importlib.util.find_spec`)."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        try:
            return _with_hook(_find(self, name, path, target), self)
        except Exception as error:
            sys.stderr.write("steptune: the hook cannot enter torch: %s\n" % error)
            return None


def _find(own, name, path, target):
    for finder in list(sys.meta_path):
        find_spec = None if finder is own else getattr(finder, "find_spec", None)
        spec = find_spec(name, path, target) if find_spec else None
        if spec is not None:
            return spec
    return None


def _with_hook(spec, finder):
    if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
        return spec
    execute = spec.loader.exec_module

    def exec_module(module):
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
        execute(module)
        from steptune_pytorch import hook

        hook.install()

    # The loader exists only for this import, so it may be changed.
    spec.loader.exec_module = exec_module
    return spec


def arm():
    """Makes the next `import torch` install the hook."""
    from steptune_pytorch import settings

    if settings.reports_arrival():
        from steptune_pytorch import events

        events.append_armed()
    if "torch" in sys.modules:  # a .pth file imported it
        from steptune_pytorch import hook

        hook.install()
    else:
        sys.meta_path.insert(0, _TorchFinder())
