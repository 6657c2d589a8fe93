"""The queue between the training and the sender."""

from __future__ import annotations

import threading
from collections import deque

from .records import Batch, Point, Record

BATCH_POINTS = 10_000
LINGER_S = 0.3
MAX_RECORDS = 10_000


class Outbox:
    """Bounded: when full the oldest go, and are counted in ``dropped``. Adding waits for nothing but a short lock.

    One thread takes batches. A batch taken is in flight until done(), and close() hands it back with the rest.
    """

    def __init__(self, capacity_points: int) -> None:
        # A Condition over an RLock: a signal handler may log while the interrupted code holds the lock.
        self._changed = threading.Condition()
        self._capacity_points = capacity_points
        self._points: deque[Point] = deque(maxlen=capacity_points)
        self._records: deque[Record] = deque(maxlen=MAX_RECORDS)
        self._last: Record | None = None
        self._in_flight: Batch | None = None
        self._flushes = 0
        self._hurried = False
        self._closed = False
        self._abandoned = False
        self.dropped = 0

    def add_points(self, points: list[Point]) -> bool:
        """False when the outbox is closed."""
        with self._changed:
            if self._closed:
                return False
            waiting = len(self._points)
            self.dropped += max(0, waiting + len(points) - self._capacity_points)
            self._points.extend(points)
            if waiting == 0 or waiting < BATCH_POINTS <= len(self._points):
                self._changed.notify_all()
        return True

    def add_record(self, record: Record) -> bool:
        """False when the outbox is closed."""
        with self._changed:
            if self._closed:
                return False
            self.dropped += len(self._records) == MAX_RECORDS
            self._records.append(record)
            self._changed.notify_all()
        return True

    def take(self, patience_s: float | None = None) -> Batch | None:
        """The next batch once one is worth sending; None when the outbox is closed and empty, or abandoned.

        When nothing came for ``patience_s`` seconds it is an empty one.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._closed or self._records or self._points, patience_s):
                return []
            self._changed.wait_for(self._is_worth_sending, LINGER_S)
            self._in_flight = None if self._abandoned else self._next()
            return self._in_flight

    def done(self) -> None:
        """The batch taken last has been dealt with."""
        with self._changed:
            self._in_flight = None
            self._changed.notify_all()

    def pause(self, seconds: float) -> bool:
        """Wait between two tries; ends early, with True, when somebody has begun to wait for the outbox to be empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._hurried or self._abandoned, seconds)
            hurried, self._hurried = self._hurried, False
            return hurried

    def pause_fully(self, seconds: float) -> None:
        """Wait as long as the server asked for; only the end of the outbox cuts it short."""
        with self._changed:
            self._changed.wait_for(lambda: self._abandoned, seconds)

    @property
    def is_closed(self) -> bool:
        return self._closed

    @property
    def is_abandoned(self) -> bool:
        return self._abandoned

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything has been dealt with; False when that took longer."""
        with self._changed:
            self._flushes += 1
            self._hurried = True
            self._changed.notify_all()
            is_empty = self._changed.wait_for(self._is_empty, timeout_s)
            self._flushes -= 1
            return is_empty

    def close(self, last: Record | None, timeout_s: float) -> list[Batch]:
        """Take nothing more in and wait until all is sent, ``last`` behind the rest; what is left over comes back.

        May be called again, as by a signal handler that interrupted the first call; the first ``last`` stands.
        """
        with self._changed:
            if not self._closed:
                self._closed = True
                self._last = last
            self.flush(timeout_s)
            self._abandoned = True
            self._changed.notify_all()
            return self._left_over()

    def _is_worth_sending(self) -> bool:
        return bool(self._records or self._closed or self._flushes or len(self._points) >= BATCH_POINTS)

    def _is_empty(self) -> bool:
        return not (self._records or self._points or self._in_flight or self._last)

    def _next(self) -> Batch | None:
        if self._records:
            return self._records.popleft()
        if self._points:
            return [self._points.popleft() for _ in range(min(BATCH_POINTS, len(self._points)))]
        last, self._last = self._last, None
        return last

    def _left_over(self) -> list[Batch]:
        """Points first: they are the most, and the process may be killed before all is written down."""
        batches: list[Batch] = [self._in_flight] if self._in_flight else []
        self._in_flight = None
        while (batch := self._next()) is not None:
            batches.append(batch)
        return sorted(batches, key=lambda batch: isinstance(batch, Record))
