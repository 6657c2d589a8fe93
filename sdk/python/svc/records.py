"""What waits in the outbox: metric points, which travel in batches, and records, which travel one by one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple, Union

from .notices import warn_once
from .values import to_wire_number


class Point(NamedTuple):
    seq: int
    name: str
    step: int
    value: float
    ts: int  # milliseconds since the Unix epoch
    epoch: float | None

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {
            "seq": self.seq,
            "name": self.name,
            "step": self.step,
            "value": to_wire_number(self.value),
            "ts": self.ts,
        }
        if self.epoch is not None:
            wire["epoch"] = self.epoch
        return wire


@dataclass
class Record:
    """``kind`` is update, metric, event, checkpoint or finish; ``body`` is that of the request.

    ``key`` is the Idempotency-Key of an event, ``name`` the metric that is defined.

    The body is whole without its slow part, and goes without it when there is no time left.
    """

    kind: str
    body: dict[str, Any]
    ts: int
    complete: Callable[[dict[str, Any]], dict[str, Any]] | None = None  # adds the slow part; the sender's thread alone
    key: str | None = None
    name: str | None = None

    def add_slow_part(self) -> None:
        """Where that fails the body stays as it is."""
        if self.complete is None:
            return
        try:
            self.body, self.complete = self.complete(self.body), None
        except Exception as error:
            message = "part of the %s is left out, as it could not be found out (%s)"
            warn_once(f"incomplete {self.kind}", message, self.kind, error)


Batch = Union[list[Point], Record]


def now_ms() -> int:
    return int(time.time() * 1000)
