# SPDX-License-Identifier: Apache-2.0
"""Fails if this Python's torchrun cannot start processes. Since PyTorch 2.4 they meet through libuv, which Debian's
PyTorch lacks."""
import torch.distributed

torch.distributed.TCPStore("127.0.0.1", 0, is_master=True)
