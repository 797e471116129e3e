# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for compiled functions, which report their outermost calls."""

import functools
import types


class Compiled:
    """Stands in for a result of `jax.jit` or `jax.pmap`, and behaves like it."""

    def __init__(self, inner, steps, is_mapped):
        self.is_mapped = is_mapped  # the leading dimension of its arguments counts the devices
        self._steptune_inner = inner
        self._steptune_steps = steps
        functools.update_wrapper(self, inner, updated=())

    def __call__(self, *arguments, **named):
        return self._steptune_steps.call(self, self._steptune_inner, arguments, named)

    def __getattr__(self, name):
        if name.startswith("_steptune"):
            raise AttributeError(name)  # an unpickled object has no attributes yet
        return getattr(self._steptune_inner, name)

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self):
        return _itself, (self._steptune_inner,)

    def __repr__(self):
        return repr(self._steptune_inner)


def _itself(inner):
    return inner


def wrap(hook, jax, steps):
    def wrap_maker(is_mapped, original):
        def make(*arguments, **named):
            made = original(*arguments, **named)
            if not hook.active:
                return made
            if arguments and callable(arguments[0]) or callable(named.get("fun")):
                return Compiled(made, steps, is_mapped)

            # jax.jit(static_argnums=...) without a function is a decorator.
            def decorate(function):
                decorated = made(function)
                return decorated if isinstance(decorated, Compiled) else Compiled(decorated, steps, is_mapped)

            return decorate

        return make

    hook.patches.replace(jax, "jit", functools.partial(wrap_maker, False))
    hook.patches.replace(jax, "pmap", functools.partial(wrap_maker, True))
