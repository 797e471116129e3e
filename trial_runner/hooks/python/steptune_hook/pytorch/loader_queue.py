# SPDX-License-Identifier: Apache-2.0
"""Counts the finished batches that wait in a loader with workers when the program asks for the next one."""

import collections

from torch.utils.data import dataloader

from steptune_hook.pytorch.worker_cpu import WorkerCpu

_RECENT = 64  # batches


def has_queue(iterator):
    return isinstance(iterator, dataloader._MultiProcessingDataLoaderIter)


class Waiting(collections.namedtuple("Waiting", "number early queued is_next_early")):
    """Batches from workers that were not handed out when the program asked for batch `number`. The loader has stored
    `early` batches before their turn; `queued` batches are still in the queue."""

    @property
    def depth(self):
        return self.early + self.queued

    def had_to_wait(self, later):
        """True if batch `number` had not arrived. The next request (`later`) shows this: while the program waited,
        batches that arrived became early. None if `later` is not the next request."""
        if later.number != self.number + 1:
            return None
        return not self.is_next_early and later.early + 1 - self.early > self.queued


def waiting_batches(iterator):
    """Returns None if the number is unknown, and for a pass's first batch, whose workers have just started. Never
    waits."""
    try:
        number = iterator._rcvd_idx
        if number == 0:
            return None
        queues = {id(queue): queue for queue in (iterator._worker_result_queue, iterator._data_queue)}
        queued = sum(queue.qsize() for queue in queues.values())
        # A batch that came before its turn is stored beside its worker's number.
        tasks = iterator._task_info
        early = sum(1 for task in tasks.values() if len(task) > 1)
        return Waiting(number, early, queued, len(tasks.get(number, ())) > 1)
    except (AttributeError, TypeError, NotImplementedError, OSError, ValueError):
        return None  # another version of PyTorch, or a system that cannot count the items of a queue


class LoaderQueue:
    """Queue lengths and waits of the last batches that were trained on."""

    def __init__(self):
        self._depths = collections.deque(maxlen=_RECENT)
        self._waits = collections.deque(maxlen=_RECENT)
        self._worker_cpu = WorkerCpu()
        self._last = (None, None)  # id of the iterator (workers end with it), and its last `Waiting`

    def requested(self, iterator):
        self._worker_cpu.requested(iterator)
        waiting = waiting_batches(iterator)
        (of, before), self._last = self._last, (id(iterator), waiting)
        if waiting is None:
            return
        self._depths.append(waiting.depth)
        waited = before.had_to_wait(waiting) if before is not None and of == id(iterator) else None
        if waited is not None:
            self._waits.append(waited)

    def metrics(self):
        metrics = {}
        if self._depths:
            metrics["loader_queue_depth"] = sum(self._depths) / len(self._depths)
        if self._waits:
            metrics["loader_queue_empty_share"] = sum(self._waits) / len(self._waits)
        cpu_share = self._worker_cpu.share()
        if cpu_share is not None:
            metrics["loader_worker_cpu_share"] = cpu_share
        return metrics
