"""The background thread that empties an outbox."""

from __future__ import annotations

import random
import threading
import time
import traceback
from pathlib import Path
from typing import Union

from .notices import logger, warn_once
from .offline import OfflineFolder
from .outbox import Outbox
from .records import Batch, Points, Record
from .sink import ServerSink, TryLater

FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 30.0
LONGEST_ASKED_PAUSE_S = 300.0
# The server takes a run outside a job for LOST after 10 minutes without a write or a sign of life.
SIGN_EVERY_S = 30.0
TRIES_BEFORE_WARNING = 5
# A defect of the server that one batch brings out must not hold up all that comes after it.
TRIES_AT_SERVER_FAULT = 8

Sink = Union[ServerSink, OfflineFolder]
# Not the module's functions: a training's seeded random numbers must stay what they would be without us.
_jitter = random.SystemRandom()


class Sender:
    """Sends batch by batch, each until it is taken, refused or given up; the same batch always goes as it was."""

    def __init__(self, outbox: Outbox, sink: Sink, gives_signs: bool = False) -> None:
        self._outbox = outbox
        self._sink = sink
        self._patience_s = SIGN_EVERY_S if gives_signs else None
        self._thread = threading.Thread(target=self._run, name="svc-sender", daemon=True)

    def ensure_started(self) -> None:
        """Start the thread unless it runs; at the interpreter's shutdown none can start, and nothing happens."""
        if self._thread.ident is None:
            try:
                self._thread.start()
            except RuntimeError:
                logger.debug("svc: the sender was not started", exc_info=True)

    @property
    def is_started(self) -> bool:
        return self._thread.ident is not None

    def _run(self) -> None:
        while self._has_more():
            pass
        self._sink.close()

    def _has_more(self) -> bool:
        """Send the next batch; False at the end. Never raises: without this thread nothing would be reported."""
        try:
            batch = self._outbox.take(self._patience_s)
            if batch is not None:
                self._send(batch)
            return batch is not None
        except Exception:
            warn_once("sender", "a defect of the SDK; reporting goes on:\n%s", traceback.format_exc())
            time.sleep(FIRST_PAUSE_S)
            return True

    def _send(self, batch: Batch) -> None:
        if isinstance(batch, Points) and not batch.logged:
            self._give_sign()
            return
        if isinstance(batch, Record):
            batch.add_slow_part()
        self._deliver(batch)
        self._outbox.done()

    def _give_sign(self) -> None:
        """A sign of life that does not arrive is none; the next one follows."""
        try:
            if not self._sink.sign():
                self._patience_s = None
        except Exception:  # whatever it is, the thread must live
            logger.debug("svc: no sign of life could be given", exc_info=True)

    def _deliver(self, batch: Batch) -> None:
        tries = server_faults = 0
        while not self._outbox.is_abandoned:
            try:
                self._sink.send(batch)
                return
            except TryLater as problem:
                tries += 1
                server_faults += problem.is_server_fault
                if server_faults >= TRIES_AT_SERVER_FAULT:
                    warn_once("server fault", "the server keeps failing (%s); that part is kept locally", problem)
                    keep_locally(self._sink, batch)
                    return
                if tries == TRIES_BEFORE_WARNING:
                    warn_undelivered(self._sink.offline_path, str(problem))
                tries = self._pause(problem, tries)
            except Exception:  # whatever it is, the thread must live and the batch must not be lost
                logger.exception("svc: could not send; keeping that part locally")
                keep_locally(self._sink, batch)
                return

    def _pause(self, problem: TryLater, tries: int) -> int:
        """Wait before the next try; the count of tries to go on with."""
        if problem.after_s is not None:
            self._outbox.pause_fully(min(problem.after_s, LONGEST_ASKED_PAUSE_S))
            return tries
        was_hurried = self._outbox.pause(to_pause_s(tries))
        return 0 if was_hurried else tries


def keep_locally(sink: Sink, batch: Batch) -> Path | None:
    """Where the batch lies now; None, with a warning, for one that cannot be written down: it costs only itself."""
    try:
        return sink.keep(batch)
    except Exception as error:
        warn_once("not kept", "a part of what was reported cannot be written down and is lost (%s)", error)
        return None


def warn_undelivered(path: Path, reason: str) -> None:
    """Said once a run, whether it turns out on the way or at the end."""
    message = "the server cannot be reached (%s); trying on, and what is left at the end is kept in %s"
    warn_once(f"undelivered {path}", message, reason, path)


def to_pause_s(tries: int) -> float:
    """Exponential from 0.25 s to 30 s, with jitter between half and the whole of it."""
    longest = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(tries - 1, 16))
    return longest * _jitter.uniform(0.5, 1.0)
