# SPDX-License-Identifier: Apache-2.0
"""Wraps the forward of the outermost modules. The first steps show which modules these are. After that, only their
classes are wrapped, so that calls of modules of other classes cost nothing."""

import weakref
from threading import get_ident
from time import perf_counter

import torch

from steptune_hook import call_site
from steptune_hook.part_clock import BACKWARD, DATA, FORWARD, OTHER, PREPARE
from steptune_hook.patches import PickledByValue


_MOST_WRAPPERS = 4


def _with_wrapped(module):
    """Returns a module and the modules that it wraps, under the names that DistributedDataParallel and similar classes
    use. Stops at a compiled module, because a wrapper inside it would be traced."""
    modules = [module]
    while len(modules) <= _MOST_WRAPPERS and not hasattr(module, "_orig_mod"):
        module = getattr(module, "module", None)
        if not isinstance(module, torch.nn.Module) or module in modules:
            break
        modules.append(module)
    return modules


def is_sharded(root):
    """True if the module is sharded by FullyShardedDataParallel or fully_shard."""
    names = {cls.__name__ for module in root.modules() for cls in type(module).__mro__}
    return bool(names & {"FullyShardedDataParallel", "FSDPModule"})


def begin_no_graph_at(function):
    """Keeps PyTorch's module-calling functions (nn.Sequential) out of compiled graphs. A graph would otherwise begin at
    the hook's function."""
    frames = getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None)
    if hasattr(frames, "skip_code"):
        frames.skip_code(function.__code__)


def _is_of_module(function):
    return isinstance(getattr(function, "__self__", None), torch.nn.Module)


class _Settled(dict):
    def __reduce__(self):
        return dict, ()


class Modules(PickledByValue):
    def __init__(self, hook):
        self._hook = hook
        self._trainable = weakref.WeakKeyDictionary()  # by module
        self.roots = weakref.WeakSet()
        self._called = weakref.WeakSet()  # called for training
        self._settled = _Settled()  # by id, references to modules that need no further handling
        self.calls = []  # sites that call the outermost modules for training: `train.py:60 Net`
        self._pinned = set()
        hook.patches.replace(torch.nn.Module, "__call__", self._wrap)
        if hasattr(torch, "compile"):
            hook.patches.replace(torch, "compile", self._wrap_compile)

    def device(self):
        return next((p.device.type for module in list(self.roots) for p in module.parameters()), "cpu")

    def pin(self):
        """Watches only the classes of the outermost modules and of the modules that they wrap. With
        DistributedDataParallel, a program may evaluate the wrapped module."""
        self._hook.patches.restore(torch.nn.Module, "__call__")
        for root in list(self.roots):
            for module in _with_wrapped(root):
                self._pin(type(module))

    def _pin(self, cls):
        if cls not in self._pinned and cls is not torch.nn.Module:
            self._pinned.add(cls)
            self._hook.patches.replace(cls, "__call__", self._wrap)

    def _wrap_compile(self, original):
        hook = self._hook

        def compile(*arguments, **named):
            # A wrapper inside a compiled module would be traced, so watch the compiled module itself.
            compiled = original(*arguments, **named)
            try:
                if hook.active and isinstance(compiled, torch.nn.Module):
                    hook.knobs.forward.compiled_by_program()
                    inner = type(getattr(compiled, "_orig_mod", compiled))
                    hook.patches.restore(torch.nn.Module, "__call__")
                    hook.patches.restore(inner, "__call__")
                    self._pin(type(compiled))
                elif hook.active and arguments and _is_of_module(arguments[0]):
                    hook.knobs.forward.compiled_by_program()  # by module.compile()
            except Exception as error:
                hook.failed(error)
            return compiled

        return compile

    def _wrap(self, original):
        hook = self._hook
        settled = self._settled
        is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", bool)

        def __call__(module, *inputs, **named):
            if is_compiling():
                return original(module, *inputs, **named)  # compiled code cannot be watched
            clock = hook.clock
            before = clock.current
            # A call within another forward is a submodule's. A call within a backward is a recomputation, and a call
            # within a loader is a transformation of data.
            if before == FORWARD or before == BACKWARD or before == DATA:
                return original(module, *inputs, **named)
            progress = hook.progress
            if not (
                progress.is_plain
                and id(module) in settled
                and (module.training or not progress.modes_count)
                and torch.is_grad_enabled()
                and hook.active
                and get_ident() == hook.thread
            ):
                if self._is_watched(module):
                    return self._outermost(original, module, inputs, named)
                if self._is_frozen_copy(module):
                    return self._evaluate(original, module, inputs, named)
                return original(module, *inputs, **named)
            now_s = perf_counter()
            clock.totals_s[before] += now_s - clock.now_s
            clock.now_s = now_s
            clock.current = FORWARD
            progress.training_forwards += 1
            try:
                batches = progress.batches
                prefetched, fetched = batches.prefetched, batches.fetched
                if prefetched.batch is not None or prefetched.of_step or len(fetched) > 1:
                    prefetched.divide(fetched, (inputs, named), progress.is_fed, progress.backwards)
                if fetched:
                    batches.take()
                if not progress.is_fed:
                    progress.sample_count.count_forward(module, inputs, named, progress.steps)
            except Exception as error:
                hook.failed(error)
            try:
                output = original(module, *inputs, **named)
            finally:
                now_s = perf_counter()
                clock.totals_s[clock.current] += now_s - clock.now_s
                clock.now_s = now_s
                clock.current = OTHER if before == PREPARE else before
            if progress.sample_count.counted_inputs is not None:
                self._follow(output)
            return output

        begin_no_graph_at(__call__)
        return __call__

    def unsettle(self):
        """Forgets settled modules, since their forward is to be wrapped now."""
        self._settled.clear()

    def _settle(self, module):
        settled, key = self._settled, id(module)
        if key not in settled:
            settled[key] = weakref.ref(module, lambda _: settled.pop(key, None))

    def _outermost(self, original, module, inputs, named):
        hook = self._hook
        clock = hook.clock
        before = clock.switch(FORWARD)
        training = True
        around = None
        try:
            training = hook.progress.is_training(module)
            self.roots.add(module)
            is_known = module in self._called
            if training and not is_known:
                self._called.add(module)
                self._remember_call(module)
            if training:
                hook.progress.trains(module, inputs, named)
                if hook.knobs.strategy.is_asked:
                    original = hook.knobs.strategy.forward_of_all(original, module)
                hook.knobs.attention_implementation.prepare(module, named)
                hook.knobs.recompute.prepare(module)
            else:
                hook.progress.evaluates()
                if hook.knobs.strategy.is_asked:
                    original = hook.knobs.strategy.evaluation_of_all(original, module)
            hook.knobs.process.settle()
            around = hook.knobs.forward.around(module)
            if is_known and around is None and not hook.knobs.strategy.is_asked:
                self._settle(module)
        except Exception as error:
            hook.failed(error)
        try:
            if around is None:
                output = original(module, *inputs, **named)
            else:
                output = around(original, module, inputs, named)
        finally:
            clock.switch(OTHER if before == PREPARE else before)
            self._ended(training)
        if hook.progress.sample_count.counted_inputs is not None:
            self._follow(output)
        return output

    def _follow(self, output):
        """Watches the output: a backward through it shows that the samples in its inputs were trained on."""
        count = self._hook.progress.sample_count
        inputs, count.counted_inputs = count.counted_inputs, None
        self._hook.guarded(inputs.follow, output)

    def _is_frozen_copy(self, module):
        """True for a frozen copy of a trained model, such as an average of its weights. Transforms of the same class
        (nn.Sequential) have no weights."""
        is_like_model = type(module) in self._pinned and next(module.parameters(), None) is not None
        return is_like_model and not torch.is_grad_enabled() and self._hook.watches()

    def _evaluate(self, original, module, inputs, named):
        hook = self._hook
        before = hook.clock.switch(FORWARD)
        hook.guarded(hook.progress.evaluates)
        try:
            return original(module, *inputs, **named)
        finally:
            hook.clock.switch(OTHER if before == PREPARE else before)
            self._ended(training=False)

    def _remember_call(self, module):
        self._hook.knobs.trainer_arguments.look()
        site = "%s %s" % (call_site.where(), type(module).__name__)
        if site not in self.calls:
            self.calls.append(site)

    def _ended(self, training):
        progress = self._hook.progress
        self._hook.guarded(progress.trained if training else progress.evaluated)

    def _is_watched(self, module):
        if self._hook.watches():
            return self._is_trainable(module)
        # Another thread may only run inference.
        trains = self._hook.active and torch.is_grad_enabled() and module.training
        return trains and self._is_trainable(module) and self._hook.watches_training()

    def _is_trainable(self, module):
        trainable = self._trainable.get(module)
        # In the first steps a generator may be frozen while its discriminator trains.
        if trainable is None or not (trainable or self._pinned):
            trainable = any(parameter.requires_grad for parameter in module.parameters())
            self._trainable[module] = trainable
        return trainable
