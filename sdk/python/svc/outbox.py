"""The queue between the training and the sender."""

from __future__ import annotations

import secrets
import threading
import time
from collections import deque
from typing import Callable

from .intake import Intake
from .records import Batch, Logged, Points, Record

BATCH_POINTS = 10_000
LINGER_S = 0.3
MAX_RECORDS = 10_000
# Each process (rank, restart, forked worker) that writes to a run numbers its points from a random start of its own.
# Two writers of n points each overlap with a probability of about 2n / 2**52: one in a billion for two million points
# each. The upper half of what JSON carries exactly, 2**52 numbers, is left for counting on.
SEQ_START_BITS = 52


class Outbox:
    """Bounded: when full the oldest go, and are counted in ``dropped``. Adding waits for nothing but a short lock.

    One thread takes batches. A batch taken is in flight until done(), and close() hands it back with the rest. It looks
    by itself every LINGER_S seconds whether something was logged, because to wake it costs more than to log.
    """

    def __init__(self, intake: Intake, capacity_points: int, on_drop: Callable[[], None]) -> None:
        self._intake = intake
        # An RLock: a signal handler may flush while the interrupted code holds it.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._capacity_points = capacity_points
        self._on_drop = on_drop
        self._logged: deque[Logged] = deque()
        self._points = 0
        self._next_seq = secrets.randbits(SEQ_START_BITS)
        self._records: deque[Record] = deque(maxlen=MAX_RECORDS)
        self._last: Record | None = None
        self._in_flight: Batch | None = None
        self._flushes = 0
        self._hurried = False
        self._closed = False
        self._abandoned = False
        self.dropped = 0

    def settle(self) -> bool:
        """Check what was logged up to now, and put it into the queue. False when that is closed: it is left out."""
        with self._lock:
            settled = self._intake.settle()
            if self._closed:
                return not settled
            self._logged.extend(settled)
            self._points += sum(len(logged[0]) for logged in settled)
            self._make_room()
        return True

    def add_record(self, record: Record) -> bool:
        """False when the outbox is closed."""
        with self._lock:
            if self._closed:
                return False
            if len(self._records) == MAX_RECORDS:
                self.dropped += 1
                self._on_drop()
            self._records.append(record)
            self._changed.notify_all()
        return True

    def take(self, patience_s: float | None = None) -> Batch | None:
        """The next batch once one is worth sending; None when the outbox is closed and empty, or abandoned.

        When nothing came for ``patience_s`` seconds it is one of no points.
        """
        asked_at = time.monotonic()
        looks_every_s = LINGER_S if patience_s is None else min(LINGER_S, patience_s)
        with self._changed:
            while not self._changed.wait_for(self._is_worth_sending, looks_every_s) and not self._logged:
                if patience_s is not None and time.monotonic() - asked_at >= patience_s:
                    return Points(0, [])
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
                self.settle()
                self._closed = True
                self._last = last
            self.flush(timeout_s)
            self._abandoned = True
            self._changed.notify_all()
            return self._left_over()

    def _make_room(self) -> None:
        while self._points > self._capacity_points and len(self._logged) > 1:
            count = len(self._logged.popleft()[0])
            self._points -= count
            self.dropped += count
            self._on_drop()

    def _is_worth_sending(self) -> bool:
        self.settle()
        has_enough = self._points >= BATCH_POINTS or self._flushes > 0
        return bool(self._records or self._closed or (self._logged and has_enough))

    def _is_empty(self) -> bool:
        return not (self._intake.given or self._records or self._logged or self._in_flight or self._last)

    def _next(self) -> Batch | None:
        if self._records:
            return self._records.popleft()
        if self._logged:
            return self._next_points()
        last, self._last = self._last, None
        return last

    def _next_points(self) -> Points:
        """At most BATCH_POINTS points, or what one call of log reported."""
        first_seq, logged = self._next_seq, [self._logged.popleft()]
        count = len(logged[0][0])
        while self._logged and count + len(self._logged[0][0]) <= BATCH_POINTS:
            logged.append(self._logged.popleft())
            count += len(logged[-1][0])
        self._points -= count
        self._next_seq += count
        return Points(first_seq, logged)

    def _left_over(self) -> list[Batch]:
        """Points first: they are the most, and the process may be killed before all is written down."""
        batches: list[Batch] = [self._in_flight] if self._in_flight else []
        self._in_flight = None
        while (batch := self._next()) is not None:
            batches.append(batch)
        return sorted(batches, key=lambda batch: isinstance(batch, Record))
