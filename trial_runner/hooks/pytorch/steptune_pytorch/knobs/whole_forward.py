# SPDX-License-Identifier: Apache-2.0
"""What a forward changes beside its outputs, to be put back where it failed and is called again."""

import torch

from steptune_pytorch.knobs.random_state import RandomState


class WholeForward:
    def __init__(self, module):
        self._random = RandomState(None)
        is_on_gpu = torch.cuda.is_available() and torch.cuda.is_initialized()
        self._of_gpus = torch.cuda.get_rng_state_all() if is_on_gpu else []
        self._buffers = [(buffer, buffer.detach().clone()) for buffer in module.buffers()]

    def undo(self):
        self._random.restore()
        if self._of_gpus:
            torch.cuda.set_rng_state_all(self._of_gpus)
        with torch.no_grad():
            for buffer, before in self._buffers:
                buffer.copy_(before)
