# SPDX-License-Identifier: Apache-2.0
"""Messages to and from the tuner: one JSON object each, over a separate socket. Waits at most a moment for the tuner,
and does not fail if the tuner is gone."""

import json
import os
import select
import socket

from steptune_hook.events import encoded

_MOST_BYTES = 1 << 16
_EVENT_WAIT_S = 1.0


def _ready(descriptor, event, wait_s):
    """Waits for the event. Uses poll, since `select` cannot handle descriptors above 1023."""
    poll = select.poll()
    poll.register(descriptor, event)
    poll.poll(1e3 * wait_s)


def remove_left_behind(path):
    """Removes the folder of a killed tuner. Otherwise it would stay until the next tuner starts."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as visitor:
            visitor.connect(path)
    except ConnectionRefusedError:
        try:
            os.unlink(path)
            os.rmdir(os.path.dirname(path))
        except OSError:
            pass  # another rank removed it first
    except OSError:
        pass


class Channel:
    """Connection to the tuner. It is closed from the start if the tuner is gone already."""

    def __init__(self, path):
        self._pid = os.getpid()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._identity = self._identity_now()
        try:
            self._socket.connect(path)
            self._socket.setblocking(False)
        except OSError:
            self.close()

    @property
    def is_open(self):
        return self._socket is not None

    def close(self):
        self._lets_go_of_others()
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _identity_now(self):
        try:
            status = os.fstat(self._socket.fileno())
            return status.st_dev, status.st_ino
        except OSError:
            return None

    def _lets_go_of_others(self):
        """Detaches the socket if its descriptor was reused. A program that closes all descriptors may have its own file
        or connection there."""
        if self._socket is not None and self._identity_now() != self._identity:
            self._socket.detach()
            self._socket = None

    def received(self, wait_s=0.0):
        """Returns the messages that have come, or waits up to `wait_s` for the first. Closes if the tuner is gone."""
        messages = []
        self._lets_go_of_others()
        if wait_s > 0.0 and self._socket is not None:
            _ready(self._socket, select.POLLIN, wait_s)
        while self._socket is not None:
            try:
                packet = self._socket.recv(_MOST_BYTES)
            except BlockingIOError:
                break
            except ConnectionResetError:
                continue  # the tuner ended without reading all messages; reported once, before its last messages
            except OSError:
                packet = b""
            if not packet:
                self.close()
                break
            messages.append(json.loads(packet))
        return messages

    def send(self, document, may_be_lost=False):
        """Sends a message. If `may_be_lost`, does not wait for a tuner that does not read."""
        self._lets_go_of_others()
        if self._socket is None or self._pid != os.getpid():
            return
        packet = encoded(document)
        try:
            if not may_be_lost:
                _ready(self._socket, select.POLLOUT, _EVENT_WAIT_S)
            self._socket.send(packet)
        except OSError:
            pass  # the buffer is full, or the tuner is gone; `received` notices the latter after the last messages
