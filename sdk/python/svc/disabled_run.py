"""The run of a process that reports nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import current
from .outbox import Outbox
from .records import Record
from .run import SETTLE_AT, Run, RunFacts


class DisabledRun(Run):
    """Under SVC_MODE=disabled, and in other ranks than the first: every call is taken and nothing is sent."""

    def __init__(self, config: Any = None) -> None:
        facts = RunFacts(None, None, None, False, False, False, config, queue_points=1, flush_timeout_s=0.0)
        self._begin(facts, Path(os.devnull), is_offline=False)
        self._given = self._intake.given
        self._settle_at = SETTLE_AT
        self._outbox = Outbox(self._intake, 1, lambda: None)

    @property
    def name(self) -> str | None:
        return None

    def flush(self, timeout_s: float | None = None) -> bool:
        return True

    def _settle(self) -> None:
        self._outbox.settle()

    def _add(self, record: Record) -> None:
        pass

    def _close(self, status: str | None, timeout_s: float) -> None:
        current.end(self)
