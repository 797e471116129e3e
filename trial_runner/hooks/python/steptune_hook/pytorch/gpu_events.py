# SPDX-License-Identifier: Apache-2.0
"""Reads points on a GPU's time line, and the GPU's memory, without waiting for the GPU."""

import torch


class CudaEvents:
    """Makes events in the stream that the program uses on one GPU."""

    def __init__(self, device):
        self._device = device

    def record(self):
        """Returns an event with `query()` (true once reached) and `elapsed_time(later)` (milliseconds between two
        reached events). Returns None while work is captured into a graph."""
        if torch.cuda.is_current_stream_capturing():
            return None
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event


def of(losses):
    """Returns events of the GPU that holds a step's losses; None if no loss is on a GPU."""
    return next((CudaEvents(loss.device) for loss in losses if loss.is_cuda), None)


def peak_bytes(losses):
    """Returns the peak memory that PyTorch reserved on the GPU of a step's losses. If no loss is on a GPU, uses the
    program's current GPU. Returns None if no GPU is in use."""
    if not torch.cuda.is_initialized():
        return None
    return torch.cuda.max_memory_reserved(next((loss.device for loss in losses if loss.is_cuda), None))
