# SPDX-License-Identifier: Apache-2.0
"""Knobs around the forward of the outermost modules: precision, layout, compilation."""

import inspect
import os
import shutil
import warnings
import weakref

import torch
from torch.nn.parameter import is_lazy

from steptune_hook import call_site
from steptune_hook.events import first_line
from steptune_hook.knobs.knob_status import KnobStatus
from steptune_hook.part_clock import BACKWARD
from steptune_hook.pytorch import tensors
from steptune_hook.pytorch.knobs import scaling_limits
from steptune_hook.pytorch.knobs.loss_scale import LossScale
from steptune_hook.pytorch.knobs.whole_forward import LaterForward, Parts, WholeForward

_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
_IMAGE_DIMENSIONS = 4
_VOLUME_DIMENSIONS = 5
# Errors of a view that does not fit other strides, in plain and in compiled code.
_LAYOUT_ERROR = "view size is not compatible with input tensor's size and stride"
_COMPILED_LAYOUT_ERROR = "Cannot view a tensor with shape"


class ForwardKnobs:
    def __init__(self, hook, requested):
        self._hook = hook
        self._precision = requested.get("precision", "fp32")
        self.loss_scale = LossScale(hook, self._precision == "fp16")
        self._takes_fp16 = {}  # by device type
        self._channels_last = requested.get("channels_last", False) is True
        self._compile = requested.get("compile", "off")
        self._ready = weakref.WeakSet()  # modules whose layout and compilation are done
        self._autocasts = []  # autocasts of the program itself: (precision, where)
        self._refused = {}
        self._took_layout = weakref.WeakKeyDictionary()  # by module, its `Parts` at the time when it took the layout
        self._converted = weakref.WeakSet()  # modules whose layout the hook changed
        self._images = None
        self._was_channels_last = None
        self._compiled_by_program = []
        self._is_compiling = False

    @property
    def _asks(self):
        return self._precision != "fp32" or self._channels_last or self._compile != "off"

    def switch(self, requested):
        """Changes settings between two steps. Returns True if anything changed."""
        self._hook.modules.unsettle()
        before = (self._precision, self._channels_last)
        self._precision = requested.get("precision", "fp32")
        self._refused.pop("precision", None)
        if self._precision == "fp16":
            self._precision = "fp32"
            self._refused["precision"] = "fp16 skips steps until its loss scale is found, so it cannot be switched on between two steps"
        self._channels_last = requested.get("channels_last", False) is True and "channels_last" not in self._refused
        if self._channels_last != before[1] and not self._was_channels_last:
            layout = torch.channels_last if self._channels_last else torch.contiguous_format
            for module in list(self._ready) if self._images else ():
                module.to(memory_format=layout)
                (self._converted.add if self._channels_last else self._converted.discard)(module)
        return (self._precision, self._channels_last) != before

    def wrap(self):
        self._hook.patches.replace(torch.autocast, "__init__", self._wrap_autocast)
        self.loss_scale.wrap()

    def _wrap_autocast(self, original):
        hook = self._hook

        def __init__(autocast, *arguments, **named):
            original(autocast, *arguments, **named)
            # An autocast during a backward belongs to a recomputed forward.
            is_own = hook.watches() and hook.clock.current != BACKWARD
            if is_own and getattr(autocast, "_enabled", True):
                dtype = getattr(autocast, "fast_dtype", None)
                name = next((name for name, known in _DTYPES.items() if known == dtype), "fp16")
                site = (name, call_site.where())
                if site not in self._autocasts:
                    self._autocasts.append(site)
                    if self._precision == "fp16":
                        self.loss_scale.refuse("the program uses autocast itself")

        return __init__

    def compiled_by_program(self):
        if not self._is_compiling:
            self._compiled_by_program.append(call_site.where() + " torch.compile")

    def compiles(self):
        return self._compile != "off" or bool(self._compiled_by_program)

    def around(self, module):
        """Returns the function that calls the module instead, or None."""
        if module not in self._ready:
            if any(is_lazy(p) for p in module.parameters()):
                return None  # it has no shapes before its first forward
            self._ready.add(module)
            if not self._images:
                self._images = any(p.dim() == _IMAGE_DIMENSIONS for p in module.parameters())
            why = _why_no_layout(module)
            if why is not None:
                self._refuse_layout(why)
            if self._asks:
                self._prepare(module)
        elif self._channels_last and self._images:
            self._look_for_other_parts(module)
        return self._call if self._asks else None

    def _prepare(self, module):
        if self._channels_last and self._images:
            if not any(_is_channels_last(p) for p in module.parameters()):
                self._converted.add(module)
            # In place, so the optimizer keeps its parameter objects.
            module.to(memory_format=torch.channels_last)
        if self._compile != "off":
            self._try_compile(module)

    def _look_for_other_parts(self, module):
        """Converts parts that the program has added since the last forward."""
        parts = self._took_layout.get(module)
        if parts is None or parts.are_same():
            return
        del self._took_layout[module]
        why = _why_no_layout(module)
        if why is None:
            module.to(memory_format=torch.channels_last)
        else:
            self._refuse_layout(why)

    def _try_compile(self, module):
        why = self._why_no_compile()
        if why is None:
            self._is_compiling = True
            try:
                module.compile(mode=None if self._compile == "default" else self._compile)
            except Exception as error:
                why = first_line(error)
            finally:
                self._is_compiling = False
        if why is not None:
            self._refused["compile"] = why

    def _call(self, original, module, inputs, named):
        if not (self._channels_last and self._images):
            return self._call_with_precision(original, module, inputs, named)
        parts = self._took_layout.get(module)
        is_known = parts is not None and parts.was_training == module.training
        before = LaterForward(parts) if is_known else WholeForward(module)
        try:
            converted, converted_named = tensors.converted((inputs, named), _to_channels_last)
            outputs = self._call_with_precision(original, module, converted, converted_named)
            if not is_known:
                self._took_layout[module] = Parts(module)
            return tensors.converted(outputs, _to_contiguous)
        except RuntimeError as error:
            if _LAYOUT_ERROR not in str(error) and _COMPILED_LAYOUT_ERROR not in str(error):
                raise
            before.failed()
            self._refuse_layout(_why_model_refuses(error))
        outputs = self._call_with_precision(original, module, inputs, named)
        before.was_called_again()
        return outputs

    def _refuse_layout(self, why):
        """Returns to the program's own layout."""
        self._channels_last = False
        for converted in list(self._converted):
            converted.to(memory_format=torch.contiguous_format)
        self._converted.clear()
        torch.clear_autocast_cache()  # the cache has weights in the dropped layout
        self._refused["channels_last"] = why
        self._hook.survey_after_step()

    def _call_with_precision(self, original, module, inputs, named):
        if self._precision == "fp32" or self._why_no_precision():
            return original(module, *inputs, **named)
        if self._precision == "fp16" and not self.loss_scale.admits(module, inputs, named):
            return original(module, *inputs, **named)
        dtype = _DTYPES[self._precision]
        device = next((p.device.type for p in module.parameters()), "cpu")
        with self._hook.aside():
            autocast = torch.autocast(device, dtype=dtype)
        with autocast:
            outputs = original(module, *inputs, **named)
        return tensors.converted(outputs, _to_fp32)

    def _why_no_precision(self):
        if self._autocasts:
            return "the program uses autocast itself"
        if self._precision == "fp16":
            return self._why_no_fp16() or self.loss_scale.why_not()
        if self._precision == "bf16" and self._hook.modules.device() == "cuda" and not torch.cuda.is_bf16_supported():
            return "this GPU has no bfloat16"
        return self._refused.get("precision")

    def _why_no_fp16(self):
        device = self._hook.modules.device()
        if device not in self._takes_fp16:
            with warnings.catch_warnings(), self._hook.aside():
                warnings.simplefilter("ignore")  # autocast warns if it ignores the precision
                try:
                    self._takes_fp16[device] = torch.autocast(device, dtype=torch.float16)._enabled
                except RuntimeError:  # autocast does not know the device
                    self._takes_fp16[device] = False
        return None if self._takes_fp16[device] else "the autocast of this PyTorch has no fp16 on the device %s" % device

    def _why_no_compile(self):
        if not hasattr(torch, "compile"):
            return "this PyTorch has no torch.compile"
        if not hasattr(torch.nn.Module, "compile"):
            return "this PyTorch has no Module.compile"
        if self._compiled_by_program:
            return "the program compiles itself"
        if not any(map(shutil.which, _compilers())):
            return "torch.compile needs a C++ compiler: install one"
        return None

    def statuses(self):
        yield self._precision_row()
        yield self._channels_last_row()
        where = self._compiled_by_program or self._hook.modules.calls
        today = "default" if self._compiled_by_program else "off"
        why = self._refused.get("compile") or self._why_no_compile()
        yield KnobStatus("compile", today, None if why else self._compile, why, choices=self._modes(), where=where)

    def _modes(self):
        """Returns the modes worth trying. Each costs minutes of compiling. max-autotune combines the last two."""
        # reduce-overhead only adds CUDA graphs.
        of_gpu = ["reduce-overhead"] if self._hook.modules.device() == "cuda" else []
        return ["off", "default"] + of_gpu + ["max-autotune-no-cudagraphs"]

    def _precision_row(self):
        why = self._why_no_precision()
        today = self._autocasts[0][0] if self._autocasts else self._parameter_dtype()
        where = ["%s autocast" % site for _, site in self._autocasts] or self._hook.modules.calls
        if why is None and today != "fp32":
            why = "the parameters are %s" % today
        choices = ["fp32", "bf16" if self._computes_bf16() else "fp16"]
        if why is None and self._precision == "fp32" and "fp16" in choices:
            whys = (scaling_limits.why_not(self._hook, root) for root in list(self._hook.modules.roots))
            why = self.loss_scale.why_not() or next(filter(None, whys), None)
        value = None if why else self._precision
        return KnobStatus("precision", today, value, why, choices=choices, where=where)

    def _computes_bf16(self):
        """True if the device computes bf16 itself. Emulated bf16 is slower than 32 bits."""
        if self._hook.modules.device() != "cuda":
            return True
        tells = inspect.signature(torch.cuda.is_bf16_supported).parameters
        return torch.cuda.is_bf16_supported(**{"including_emulation": False} if "including_emulation" in tells else {})

    def has_16_bits(self):
        """True if the forward computes with 16 bits now."""
        return bool(self._autocasts) or self._precision != "fp32" or self._parameter_dtype() in ("bfloat16", "float16")

    def _parameter_dtype(self):
        for module in list(self._hook.modules.roots):
            for parameter in module.parameters():
                return str(parameter.dtype).replace("torch.", "").replace("float32", "fp32")
        return "fp32"

    def _channels_last_row(self):
        if not self._images and "channels_last" not in self._refused:
            return KnobStatus("channels_last", why="no convolution of images")
        today = self._was_channels_last
        if today is None:
            today = not self._channels_last and any(
                _is_channels_last(p)
                for module in list(self._hook.modules.roots)
                for p in module.parameters()
            )
            self._was_channels_last = today
        if "channels_last" in self._refused:
            return KnobStatus("channels_last", today=today, why=self._refused["channels_last"])
        why = "the program uses it itself" if today else None
        where = self._hook.modules.calls
        return KnobStatus("channels_last", today, today or self._channels_last, why, where=where)


def _compilers():
    """Yields the compilers that Inductor may start. CPU kernels need CXX or g++; the launchers of GPU kernels need a C
    compiler."""
    return filter(None, (os.environ.get("CXX"), os.environ.get("CC"), "g++", "gcc", "clang++", "clang"))


def _why_model_refuses(error):
    return "the model does not take it: %s: %s (reshape would do)" % (call_site.of_error(error), _LAYOUT_ERROR)


def _why_no_layout(module):
    if not any(p.dim() == _IMAGE_DIMENSIONS for p in module.parameters()):
        return None
    if any(isinstance(part, torch.jit.ScriptModule) for part in module.modules()):
        return "a part of the model is compiled by TorchScript, whose state cannot be restored"
    if any(t.dim() == _VOLUME_DIMENSIONS for held in (module.parameters(), module.buffers()) for t in held):
        return "the model holds tensors of five dimensions, which have no such layout"
    if _shares_memory(module):
        return "weights that share memory would no longer share it"
    return None


def _shares_memory(module):
    """True if a weight of an image convolution is part of a larger tensor, or the same as another weight."""
    weights = [p for p in module.parameters() if p.dim() == _IMAGE_DIMENSIONS]
    return any(p.storage_offset() for p in weights) or len({p.data_ptr() for p in weights}) < len(weights)


def _is_channels_last(parameter):
    # For a 1x1 kernel both layouts are the same.
    return (
        parameter.dim() == _IMAGE_DIMENSIONS
        and not parameter.is_contiguous()
        and parameter.is_contiguous(memory_format=torch.channels_last)
    )


def _to_channels_last(tensor):
    if tensor.dim() == _IMAGE_DIMENSIONS and tensors.is_dense(tensor) and tensor.is_floating_point():
        return tensor.to(memory_format=torch.channels_last)
    return tensor


def _to_contiguous(tensor):
    """Returns the output in the usual memory layout, so that operations of the program such as `view(-1)` still work.
    """
    is_image = tensor.dim() == _IMAGE_DIMENSIONS and tensors.is_dense(tensor)
    if is_image and tensor.is_contiguous(memory_format=torch.channels_last):
        return tensor.contiguous()
    return tensor


def _to_fp32(tensor):
    return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor
