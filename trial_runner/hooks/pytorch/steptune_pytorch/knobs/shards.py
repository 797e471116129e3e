# SPDX-License-Identifier: Apache-2.0
"""What each rank has of parameters that FullyShardedDataParallel has divided, and of an optimizer's state for them."""

import torch


class Shards:
    """Of each parameter every rank has a stretch of its numbers, the ranks one after the other, or all of them.
    `shapes`: before they were divided."""

    def __init__(self, parameters, shapes):
        self._rank = torch.distributed.get_rank()
        self._shapes = {id(parameter): shape for parameter, shape in zip(parameters, shapes)}
        counts = _of_all_ranks([parameter.numel() for parameter in parameters])
        self._counts = {id(parameter): list(of) for parameter, of in zip(parameters, zip(*counts))}

    def divide(self, parameter, state):
        """This rank's part of a state of this parameter, which may be one already."""
        return {name: self._part_of(parameter, value) for name, value in state.items()}

    def _part_of(self, parameter, value):
        shape = self._shapes.get(id(parameter))
        if not torch.is_tensor(value) or value.shape != shape or value.shape == parameter.shape:
            return value
        counts = self._counts[id(parameter)]
        begin = sum(counts[: self._rank])
        return value.reshape(-1)[begin : begin + counts[self._rank]].clone()

    def whole(self, parameters, states):
        """By parameter: its state for all of its numbers. All ranks call it. `states`: by position in `parameters`."""
        told = [{name: _described(value) for name, value in states.get(i, {}).items()} for i in range(len(parameters))]
        found = {}
        for i, of_ranks in enumerate(zip(*_of_all_ranks(told))):
            counts = self._counts.get(id(parameters[i]))
            if counts is None:  # frozen, and of another module: not divided
                if i in states:
                    found[i] = states[i]
                continue
            known = {}
            for count, of_rank in zip(counts, of_ranks):
                if count > 0:  # without numbers its steps are not counted
                    known.update((name, told) for name, told in of_rank.items() if name not in known)
            if known:
                own = states.get(i, {}) if counts[self._rank] > 0 else {}
                found[i] = {name: self._joined(parameters[i], own.get(name), known[name]) for name in known}
        return found

    def _joined(self, parameter, own, described):
        kind, value = described
        if kind == "value":
            return value if own is None else own
        counts = self._counts[id(parameter)]
        shape = self._shapes[id(parameter)]
        if counts[self._rank] == shape.numel() == min(counts):
            return own
        joined = torch.empty(sum(counts), dtype=value, device=parameter.device)
        for rank, part in enumerate(joined.split(counts)):
            if rank == self._rank and part.numel() > 0:
                part.copy_(own)
            if part.numel() > 0:
                torch.distributed.broadcast(part, src=rank)
        return joined.reshape(shape)


def _described(value):
    """A state's numbers stay where they are; what it has beside them, as the count of steps, is told."""
    if not torch.is_tensor(value):
        return "value", value
    return ("numbers", value.dtype) if value.dim() > 0 else ("value", value.cpu())


def _of_all_ranks(value):
    values = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(values, value)
    return values
