# SPDX-License-Identifier: Apache-2.0
"""Settings of the whole process. They are set when training begins, after the program's own settings."""

import torch

from steptune_hook.knobs.process_settings import ProcessSettings, Setting
from steptune_hook.pytorch.knobs import attention

_MOST_LOOKS = 10  # each look at a graph without attention takes as long as thousands of nodes


def _needs_gpu():
    return None if torch.cuda.is_available() else "no GPU"


def _why_no_cudnn_benchmark():
    if not torch.cuda.is_available():
        return "no GPU"
    if torch.backends.cudnn.deterministic or torch.are_deterministic_algorithms_enabled():
        return "the program asks for deterministic algorithms"
    return None


def _put_cudnn_benchmark(value):
    torch.backends.cudnn.benchmark = value


def _get_tf32():
    return all([torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32])


_tf32_parts = {}  # by the knob's value: the settings of the parts when the program itself had this value


def _put_tf32(value):
    _tf32_parts.setdefault(_get_tf32(), (torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32))
    precision, is_allowed = _tf32_parts.get(value, ("high" if value else "highest", value))
    torch.set_float32_matmul_precision(precision)
    torch.backends.cudnn.allow_tf32 = is_allowed


def _why_no_tf32():
    if not torch.cuda.is_available():
        return "no GPU"
    if torch.cuda.get_device_capability() < (8, 0):
        return "this GPU has no TF32"
    try:
        _get_tf32()
    except RuntimeError:  # the program has used the other interface, which PyTorch 2.9 added
        return "the program sets the precision of fp32 itself"
    return None


# By kernel: the value of the knob that allows only this kernel; None if there is no such value.
_KERNELS = {"flash": "flash", "mem_efficient": "efficient", "math": "math", "cudnn": None}


def _enabled_kernels():
    # PyTorch 2.4 added cuDNN's.
    by_kernel = {kernel: getattr(torch.backends.cuda, kernel + "_sdp_enabled", None) for kernel in _KERNELS}
    return {kernel: is_enabled() for kernel, is_enabled in by_kernel.items() if is_enabled is not None}


_default_kernels = _enabled_kernels()  # at import: PyTorch's own choice


def _get_attention():
    enabled = [kernel for kernel, is_enabled in _enabled_kernels().items() if is_enabled]
    return (_KERNELS[enabled[0]] if len(enabled) == 1 else None) or "default"


def _put_attention(value):
    global _default_kernels
    if _get_attention() == "default":
        _default_kernels = _enabled_kernels()  # the program may have chosen some of them
    for kernel, is_enabled in _default_kernels.items():
        enable = getattr(torch.backends.cuda, "enable_%s_sdp" % kernel)
        enable(is_enabled if value == "default" else _KERNELS[kernel] == value)


def _why_no_attention():
    if not hasattr(torch.backends.cuda, "enable_flash_sdp"):
        return "this PyTorch has no scaled_dot_product_attention"
    return _needs_gpu()


def _get_flush_denormal():
    tiny = torch.tensor([2.0**-130], dtype=torch.float32)
    return bool((tiny * 0.5 == 0).item())


def _put_flush_denormal(value):
    if not torch.set_flush_denormal(value):
        raise RuntimeError("this processor cannot flush denormal numbers")


def _why_no_sharing_strategy():
    if len(torch.multiprocessing.get_all_sharing_strategies()) < 2:
        return "there is one strategy only"
    return None


_SETTINGS = {
    "num_threads": Setting(torch.get_num_threads, torch.set_num_threads),
    "sharing_strategy": Setting(
        torch.multiprocessing.get_sharing_strategy,
        torch.multiprocessing.set_sharing_strategy,
        _why_no_sharing_strategy,
    ),
    "cudnn_benchmark": Setting(
        lambda: torch.backends.cudnn.benchmark, _put_cudnn_benchmark, _why_no_cudnn_benchmark
    ),
    "tf32": Setting(_get_tf32, _put_tf32, _why_no_tf32),
    "attention": Setting(_get_attention, _put_attention, _why_no_attention),
    "flush_denormal": Setting(_get_flush_denormal, _put_flush_denormal),
}


class ProcessKnobs(ProcessSettings):
    def __init__(self, requested):
        super().__init__(requested, _SETTINGS)
        self._is_settled = False
        self._attends = None  # True if the forward uses attention; None: unknown
        self._looks = 0

    def backward_begins(self, losses):
        """Called in a survey. The first backwards show whether the forward uses attention."""
        if not self._attends and self._looks < _MOST_LOOKS:
            self._looks += 1
            self._attends = attention.may_lead_to(losses)

    def settle(self):
        if not self._is_settled:
            self._is_settled = True
            super().settle()

    def why_useless(self, name):
        if name == "attention" and self._attends is False:
            return "the forward does not call scaled_dot_product_attention"
        return None
