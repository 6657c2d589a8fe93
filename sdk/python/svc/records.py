"""What waits in the outbox: what ``log`` was given, which travels in batches, and records, which travel one by one."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, islice
from typing import Any, Callable, NamedTuple, Optional, Union

from .notices import warn_once

# What one call of log reported: values by name, step, time in seconds since the Unix epoch, epoch.
Logged = tuple[dict[str, float], int, float, Optional[float]]
# After so many points, about 0.1 ms, the thread that writes them down lets others run. Python takes it from a thread
# only after 5 ms, for which a training would stand still.
POINTS_BETWEEN_PAUSES = 200
PAUSE_S = 50e-6


class Points(NamedTuple):
    """What calls of log reported, numbered in their order from ``first_seq`` on."""

    first_seq: int
    logged: list[Logged]

    @property
    def size(self) -> int:
        return sum(len(values) for values, *_ in self.logged)

    def lines(self) -> list[str]:
        """The JSON of each point, as the contract has it."""
        lines: list[str] = []
        pause_at = POINTS_BETWEEN_PAUSES
        for values, step, time_s, epoch in self.logged:
            end = f',"step":{step},"ts":{int(time_s * 1000)}' + ("}" if epoch is None else f',"epoch":{epoch!r}}}')
            numbers = map(repr if math.isfinite(sum(values.values())) else _to_json, values.values())
            middles = _middles(tuple(values))
            lines += [
                f'{{"seq":{seq}{middle}{number}{end}'
                for seq, middle, number in zip(count(self.first_seq + len(lines)), middles, numbers)
            ]
            if len(lines) >= pause_at:
                pause_at = len(lines) + POINTS_BETWEEN_PAUSES
                time.sleep(PAUSE_S)
        return lines

    def body(self) -> bytes:
        """The body of the request that reports them."""
        return f'{{"points":[{",".join(self.lines())}]}}'.encode()

    def halves(self) -> list[Points]:
        return self.split((self.size + 1) // 2)

    def split(self, most: int) -> list[Points]:
        """The same points in parts of at most so many."""
        if self.size <= most:
            return [self] if self.logged else []
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


@lru_cache(maxsize=64)
def _middles(names: tuple[str, ...]) -> list[str]:
    """What stands between the seq and the value of each point: the calls of a training mostly have the same names."""
    return [f',"name":{json.dumps(name, ensure_ascii=False)},"value":' for name in names]


def _to_json(value: float) -> str:
    """The number, or the contract's word for one that JSON cannot write."""
    if math.isfinite(value):
        return repr(value)
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
