"""Where batches go inside a job: to the server while it can be reached, and otherwise to the spool."""

from __future__ import annotations

import time
from pathlib import Path

from .notices import warn_once
from .offline import OfflineFolder
from .records import Batch
from .sender import to_pause_s
from .sink import Refused, ServerSink, TryLater
from .spool import Spool
from .transport import Transport, Unreachable

PROBE_TIMEOUT_S = 2.0
# What the agent may say for an attempt is not bound to the token of the process.
NOT_ALLOWED = (401, 403)


class SpoolingSink(ServerSink):
    """Sends like ServerSink. Once that fails, every batch goes to the spool first, until the server answers a probe.

    A batch raises TryLater only when the spool does not take it either.
    """

    def __init__(self, transport: Transport, run_id: str, folder: OfflineFolder, spool: Spool) -> None:
        super().__init__(transport, run_id, folder)
        self._spool = spool
        self._probe_transport = transport.fresh(PROBE_TIMEOUT_S)
        self._is_away = False
        self._failures = 0
        self._probe_at = 0.0

    def send(self, batch: Batch) -> None:
        if self._is_away and self._spool.append(batch):
            self._probe_when_due()
            return
        try:
            super().send(batch)
        except TryLater as problem:
            self._note_failure(str(problem), problem.after_s)
            if not self._spool.append(batch):
                raise
        else:
            self._failures = 0
            self._come_back()

    def keep(self, batch: Batch) -> Path:
        return self._spool.directory if self._spool.append(batch) else super().keep(batch)

    def close(self) -> None:
        super().close()
        self._probe_transport.close()
        self._spool.end_file()

    def after_fork(self) -> SpoolingSink:
        return SpoolingSink(self._transport.fresh(), self._run_id, self._folder, self._spool.after_fork())

    def _set_aside(self, batch: Batch, refusal: Refused) -> Path:
        return self.keep(batch) if refusal.status in NOT_ALLOWED else super()._set_aside(batch, refusal)

    def _probe_when_due(self) -> None:
        if time.monotonic() < self._probe_at:
            return
        try:
            answer = self._probe_transport.request("GET", "/health", {})
        except Unreachable as problem:
            self._note_failure(str(problem))
        else:
            if answer.ok:
                self._come_back()
            else:
                self._note_failure(answer.message, answer.retry_after_s)

    def _note_failure(self, reason: str, after_s: float | None = None) -> None:
        self._is_away = True
        self._failures += 1
        self._probe_at = time.monotonic() + max(to_pause_s(self._failures), after_s or 0.0)
        message = "the server cannot be reached (%s); what is reported goes to %s, from where the agent delivers it"
        warn_once(f"spooling {self._spool.directory}", message, reason, self._spool.directory)

    def _come_back(self) -> None:
        if self._is_away:
            self._is_away = False
            self._spool.end_file()
