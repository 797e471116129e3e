# SPDX-License-Identifier: Apache-2.0
"""What a GPU tells without anyone waiting for it: points on its own time line, and its memory."""

import torch


class CudaEvents:
    """Of the stream into which the program puts its work on one GPU."""

    def __init__(self, device):
        self._device = device

    def record(self):
        """An event with `query()` (whether it was reached) and `elapsed_time(later)` (milliseconds
        between two that were); None while work is captured into a graph instead of being done."""
        if torch.cuda.is_current_stream_capturing():
            return None
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event


def of(losses):
    """Events of the GPU on which a step's losses are; None where they are on none."""
    for loss in losses:
        if loss.is_cuda and hasattr(torch.cuda, "is_current_stream_capturing"):
            return CudaEvents(loss.device)
    return None


def peak_bytes(losses):
    """Most memory that PyTorch had reserved on the GPU of a step's losses, or on the program's
    current one where they are on none; None where no GPU is in use."""
    if not torch.cuda.is_initialized():
        return None
    return torch.cuda.max_memory_reserved(next((loss.device for loss in losses if loss.is_cuda), None))
