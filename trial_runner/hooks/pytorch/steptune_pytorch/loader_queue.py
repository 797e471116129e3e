# SPDX-License-Identifier: Apache-2.0
"""How many finished batches wait in a loader with workers when the program asks for the next one."""

import collections

from torch.utils.data import dataloader

from steptune_pytorch.worker_cpu import WorkerCpu

_RECENT = 64  # batches


def has_queue(iterator):
    return isinstance(iterator, dataloader._MultiProcessingDataLoaderIter)


class Waiting(collections.namedtuple("Waiting", "number early queued is_next_early")):
    """Batches that have arrived from workers and were not handed out when the program asks for the
    one of this number: `early` came before their turn, `queued` were not looked at yet."""

    @property
    def depth(self):
        return self.early + self.queued

    def had_to_wait(self, later):
        """Whether the one that was asked for had not arrived, as what waits at the next one tells:
        until it came, all that came before it became early. None where that is not the next one."""
        if later.number != self.number + 1:
            return None
        return not self.is_next_early and later.early + 1 - self.early > self.queued


def waiting_batches(iterator):
    """None where that cannot be known, and for the first of a pass, whose workers have just begun.
    Never waits."""
    try:
        number = iterator._rcvd_idx
        if number == 0:
            return None
        queues = {id(queue): queue for queue in (iterator._worker_result_queue, iterator._data_queue)}
        queued = sum(queue.qsize() for queue in queues.values())
        # Those that came before their turn lie beside the number of their worker.
        tasks = iterator._task_info
        early = sum(1 for task in tasks.values() if len(task) > 1)
        return Waiting(number, early, queued, len(tasks.get(number, ())) > 1)
    except (AttributeError, TypeError, NotImplementedError, OSError, ValueError):
        return None  # another PyTorch; a system that does not count what a queue holds


class LoaderQueue:
    """Of the last batches that were trained on."""

    def __init__(self):
        self._depths = collections.deque(maxlen=_RECENT)
        self._waits = collections.deque(maxlen=_RECENT)
        self._worker_cpu = WorkerCpu()
        self._last = (None, None)  # of which iterator, by its identity: workers end with the iterator

    def asked(self, iterator):
        self._worker_cpu.asked(iterator)
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
