"""What ``log`` was given, on its way into the outbox."""

from __future__ import annotations

from collections import deque
from typing import Any, Callable, Optional

from .records import Logged
from .values import MAX_SAFE_INTEGER, name_problem, to_number

# Values by name, step or none, time in seconds since the Unix epoch, epoch or none. The values are numbers of Python.
Given = tuple[dict[Any, Any], Optional[int], float, Optional[float]]
# What a training logs each step is checked once by name; beyond so many names each time.
MAX_KNOWN_NAMES = 10_000
_FLOATS = frozenset((float,))

Warn = Callable[..., None]


class Intake:
    """Takes what is logged as it is, in well under the time that a check of it takes; ``settle`` checks it later.

    ``given`` may be appended to from any thread, and from a signal handler. Must hold: its dicts are the intake's own.

    Attributes:
        last_values: the last value of each metric, of what is settled.
        last_step: the step settled last.
    """

    def __init__(self, warn: Warn) -> None:
        self.given: deque[Given] = deque()
        self.last_values: dict[str, float] = {}
        self.last_step: int | None = None
        self._warn = warn
        self._known_names: set[str] = set()

    def settle(self) -> list[Logged]:
        """What waits, in order, without what cannot be used. For one thread at a time."""
        settled = []
        for _ in range(len(self.given)):
            try:
                given = self.given.popleft()
            except IndexError:  # a signal handler has settled the rest
                break
            logged = self._try_to_check(given)
            if logged is not None:
                settled.append(logged)
        return settled

    def after_fork(self) -> Intake:
        """Of a forked process, which goes on from the same step; what waits here is the parent's."""
        copy = Intake(self._warn)
        copy.last_values, copy.last_step = self.last_values, self.last_step
        return copy

    def _try_to_check(self, given: Given) -> Logged | None:
        """The text of a name, and what else is the caller's, may raise anything: that costs only its own entry."""
        try:
            return self._check(*given)
        except Exception as error:
            self._warn("unusable", "a call of log is left out: what it was given raised %s", type(error).__name__)
            return None

    def _check(self, values: dict[Any, Any], step: int | None, time_s: float, epoch: float | None) -> Logged | None:
        at_step = self._advance(step)
        if at_step is None:
            return None
        if epoch is not None:
            epoch = self._finite(epoch)
        if not values.keys() <= self._known_names:
            values = self._with_good_names(values)
        if not _FLOATS.issuperset(map(type, values.values())):
            values = self._with_floats(values)
        self.last_values.update(values)
        return (values, at_step, time_s, epoch) if values else None

    def _advance(self, step: int | None) -> int | None:
        if step is None:
            step = 0 if self.last_step is None else self.last_step + 1
        if abs(step) > MAX_SAFE_INTEGER:
            self._warn("step", "step %r is more than 2**53 - 1; these values are left out", step)
            return None
        self.last_step = step
        return step

    def _finite(self, epoch: float) -> float | None:
        number = to_number(epoch)
        if number is not None and number - number == 0:
            return number
        self._warn("epoch", "epoch %.40r is not a finite number; left out", epoch)
        return None

    def _with_good_names(self, values: dict[Any, Any]) -> dict[str, Any]:
        problems = {key: name_problem(str(key)) for key in values}
        for key, problem in problems.items():
            if problem is not None:
                self._warn(f"metric {key!s:.80}", "metric %.82r is left out: %s", key, problem)
        good = {str(key): value for key, value in values.items() if problems[key] is None}
        if len(self._known_names) < MAX_KNOWN_NAMES:
            self._known_names |= good.keys()
        return good

    def _with_floats(self, values: dict[str, Any]) -> dict[str, float]:
        numbers = {name: to_number(value) for name, value in values.items()}
        for name, number in numbers.items():
            if number is None:
                self._warn(f"metric {name[:80]}", "metric %r is left out: it is too large for a float", name[:80])
        return {name: number for name, number in numbers.items() if number is not None}
