# SPDX-License-Identifier: Apache-2.0
"""Family of PyTorch: reports what a program does, and changes settings that it has no option for. `hook` connects the
parts. Each module's first line describes its part.
"""

MODULES = ("torch",)


def install(module):
    from steptune_hook.pytorch import hook

    hook.install()
