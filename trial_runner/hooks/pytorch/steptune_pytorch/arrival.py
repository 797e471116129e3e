# SPDX-License-Identifier: Apache-2.0
"""Waits for `import torch`. Imports nothing that an interpreter has not loaded at its start."""

import sys


class _TorchFinder:
    """First of the finders; knows `torch` alone, and goes when it was found."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        try:
            return _with_hook(_find(name, path, target))
        except Exception as error:
            sys.stderr.write("steptune: the hook cannot enter torch: %s\n" % error)
            return None


def _find(name, path, target):
    for finder in list(sys.meta_path):
        find_spec = getattr(finder, "find_spec", None)
        spec = find_spec(name, path, target) if find_spec else None
        if spec is not None:
            return spec
    return None


def _with_hook(spec):
    if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
        return spec
    execute = spec.loader.exec_module

    def exec_module(module):
        execute(module)
        from steptune_pytorch import hook

        hook.install()

    # This loader was made for this one import.
    spec.loader.exec_module = exec_module
    return spec


def arm():
    """From now on `import torch` brings the hook with it."""
    from steptune_pytorch import settings

    if settings.tells_arrival():
        from steptune_pytorch import events

        events.append_armed()
    if "torch" in sys.modules:  # a .pth file imported it
        from steptune_pytorch import hook

        hook.install()
    else:
        sys.meta_path.insert(0, _TorchFinder())
