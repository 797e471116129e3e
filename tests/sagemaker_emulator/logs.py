# SPDX-License-Identifier: Apache-2.0
"""CloudWatch Logs of training jobs: late, in pages, some of which are empty."""

import itertools
import threading

from errors import ServiceError, validation

GROUP = "/aws/sagemaker/TrainingJobs"
MAX_PAGE = 10000


class Logs:
    def __init__(self, clock, ingestion_delay_s, empty_page_every, page_size):
        self._clock = clock
        self._delay_s = ingestion_delay_s
        self._empty_every = empty_page_every
        self._page_size = page_size
        self._streams = {}
        self._ids = itertools.count(1)
        self._tokens = {}
        self._pages = 0
        self._lock = threading.Lock()

    def append(self, stream, message):
        if not message:
            return  # PutLogEvents refuses empty messages
        now = self._clock.now()
        with self._lock:
            event = {"logStreamName": stream, "timestamp": int(now * 1000), "message": message,
                     "ingestionTime": int((now + self._delay_s) * 1000),
                     "eventId": f"{next(self._ids):056d}"}
            self._streams.setdefault(stream, []).append(event)

    def _visible(self):
        now_ms = self._clock.now() * 1000
        for name in sorted(self._streams):
            events = [event for event in self._streams[name] if event["ingestionTime"] <= now_ms]
            if events:
                yield name, events

    def _check_group(self, request):
        if request.get("logGroupName") != GROUP or not any(True for _ in self._visible()):
            raise ServiceError("ResourceNotFoundException", "The specified log group does not exist.")

    def describe_log_streams(self, request):
        with self._lock:
            self._check_group(request)
            prefix = request.get("logStreamNamePrefix", "")
            names = [name for name, _ in self._visible() if name.startswith(prefix)]
            start = int(request.get("nextToken", 0))
            limit = min(request.get("limit", 50), 50)
            response = {"logStreams": [{"logStreamName": name} for name in names[start:start + limit]]}
            if start + limit < len(names):
                response["nextToken"] = str(start + limit)
            return response

    def filter_log_events(self, request):
        with self._lock:
            self._check_group(request)
            prefix = request.get("logStreamNamePrefix", "")
            names = request.get("logStreamNames")
            if prefix and names:
                raise ServiceError("InvalidParameterException", "prefix and names are exclusive")
            low, high = request.get("startTime", 0), request.get("endTime", 1 << 62)
            pattern = request.get("filterPattern", "").strip('"')
            events = [event for name, events in self._visible() for event in events
                      if (name in names if names else name.startswith(prefix))
                      and low <= event["timestamp"] < high and pattern in event["message"]]
            events.sort(key=lambda event: (event["timestamp"], event["eventId"]))
            return self._page(events, request)

    def _page(self, events, request):
        token = request.get("nextToken")
        if token is not None and token not in self._tokens:
            raise ServiceError("InvalidParameterException", "The specified nextToken is invalid.")
        start = self._tokens.get(token, 0)
        size = min(request.get("limit", MAX_PAGE), self._page_size)
        self._pages += 1
        # An empty page is not the end; only a missing token is.
        empty = self._empty_every > 0 and self._pages % self._empty_every == 0 and start < len(events)
        end = start if empty else start + size
        response = {"events": events[start:end], "searchedLogStreams": []}
        if end < len(events):
            fresh = f"token-{self._pages}"
            self._tokens[fresh] = end
            response["nextToken"] = fresh
        return response

    def get_log_events(self, request):
        with self._lock:
            self._check_group(request)
            stream = request.get("logStreamName")
            events = dict(self._visible()).get(stream)
            if events is None:
                raise ServiceError("ResourceNotFoundException", "The specified log stream does not exist.")
            token = request.get("nextToken")
            start = int(token[2:]) if token else 0
            if not token and not request.get("startFromHead", False):
                start = max(0, len(events) - self._page_size)
            size = min(request.get("limit", MAX_PAGE), self._page_size)
            page = events[start:start + size]
            # At the end, the service returns the same token.
            return {"events": [{key: event[key] for key in ("timestamp", "message", "ingestionTime")}
                               for event in page],
                    "nextForwardToken": f"f/{start + len(page)}", "nextBackwardToken": f"b/{start}"}

    def handle(self, operation, request):
        handlers = {"FilterLogEvents": self.filter_log_events, "GetLogEvents": self.get_log_events,
                    "DescribeLogStreams": self.describe_log_streams}
        if operation not in handlers:
            raise validation(f"Unknown operation {operation}")
        return handlers[operation](request)
