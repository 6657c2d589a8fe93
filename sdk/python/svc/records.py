"""What waits in the outbox: what ``log`` was given, which travels in batches, and records, which travel one by one."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Callable, NamedTuple, Optional, Union

from .notices import warn_once

# What one call of log reported: values by name, step, time in seconds since the Unix epoch, epoch.
Logged = tuple[dict[str, float], int, float, Optional[float]]
# After so many points the thread that writes them down lets others run. Python takes it from a thread only after 5 ms,
# for which a training would stand still.
POINTS_BETWEEN_PAUSES = 100
PAUSE_S = 50e-6


class Points(NamedTuple):
    """What calls of log reported, numbered in their order from ``first_seq`` on."""

    first_seq: int
    logged: list[Logged]

    @property
    def size(self) -> int:
        return sum(len(values) for values, *_ in self.logged)

    def lines(self) -> Iterator[str]:
        """The JSON of each point, as the contract has it."""
        seq = self.first_seq
        for values, step, time_s, epoch in self.logged:
            end = f',"step":{step},"ts":{int(time_s * 1000)}' + ("}" if epoch is None else f',"epoch":{epoch!r}}}')
            for name, value in values.items():
                number = repr(value) if math.isfinite(value) else _word(value)
                yield f'{{"seq":{seq},"name":{_quoted(name)},"value":{number}{end}'
                seq += 1
                if seq % POINTS_BETWEEN_PAUSES == 0:
                    time.sleep(PAUSE_S)

    def body(self) -> bytes:
        """The body of the request that reports them."""
        return f'{{"points":[{",".join(self.lines())}]}}'.encode()

    def halves(self) -> list[Points]:
        return self.split((self.size + 1) // 2)

    def split(self, most: int) -> list[Points]:
        """The same points in parts of at most so many."""
        parts: list[Points] = []
        part: list[Logged] = []
        seq, room = self.first_seq, most
        for values, *rest in self.logged:
            entries = iter(values.items())
            while piece := dict(islice(entries, room)):
                part.append((piece, *rest))  # type: ignore[arg-type]
                room -= len(piece)
                if room == 0:
                    parts.append(Points(seq, part))
                    seq, part, room = seq + most, [], most
        return [*parts, Points(seq, part)] if part else parts


@lru_cache(maxsize=4096)
def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _word(value: float) -> str:
    """The contract's word for a number that JSON cannot write."""
    return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'


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


Batch = Union[Points, Record]


def now_ms() -> int:
    return int(time.time() * 1000)
