# SPDX-License-Identifier: Apache-2.0
"""How many finished batches wait in a loader with workers when the program asks for the next one."""

import collections

from torch.utils.data import dataloader

_RECENT = 64  # batches


def has_queue(iterator):
    return isinstance(iterator, dataloader._MultiProcessingDataLoaderIter)


def waiting_batches(iterator):
    """Batches that have arrived from workers and were not handed out. None where that cannot be
    known, and for the first of a pass, whose workers have just begun. Never waits."""
    try:
        if iterator._rcvd_idx == 0:
            return None
        queues = {id(queue): queue for queue in (iterator._worker_result_queue, iterator._data_queue)}
        arrived = sum(queue.qsize() for queue in queues.values())
        # Those that came before their turn lie beside the number of their worker.
        return arrived + sum(1 for task in iterator._task_info.values() if len(task) > 1)
    except (AttributeError, TypeError, NotImplementedError, OSError, ValueError):
        return None  # another PyTorch; a system that does not count what a queue holds


class LoaderQueue:
    """Of the last batches that were trained on."""

    def __init__(self):
        self._depths = collections.deque(maxlen=_RECENT)

    def asked(self, iterator):
        depth = waiting_batches(iterator)
        if depth is not None:
            self._depths.append(depth)

    def metrics(self):
        if not self._depths:
            return {}
        count = len(self._depths)
        return {
            "loader_queue_depth": sum(self._depths) / count,
            "loader_queue_empty_share": self._depths.count(0) / count,
        }
