"""A run: what a training reports to."""

from __future__ import annotations

import itertools
import os
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Union

from . import process
from .masking import mask_secrets, mask_text
from .notices import logger, warn_once
from .offline import OfflineFolder
from .outbox import Outbox
from .process import Ending
from .records import Point, Record, now_ms
from .sender import Sender, Sink, keep_locally, warn_undelivered
from .values import MAX_ATTACHED_BYTES, flatten, name_problem, shorten, to_bounded_object, to_integer, to_number

Scalar = Any  # a number, or a scalar of numpy, torch and their kind
PathLike = Union[str, "os.PathLike[str]"]

FINISHES = ("SUCCEEDED", "FAILED", "CANCELLED")
SEVERITIES = ("info", "warning", "critical")
_MASKED_CHARACTERS = 64 * 1024
MAX_TITLE_CHARACTERS = 500
MAX_MESSAGE_CHARACTERS = 20_000
# Each process (rank, restart, forked worker) that writes to a run numbers its points from a random start of its own.
# Two writers of n points each overlap with a probability of about 2n / 2**52: one in a billion for two million points
# each. The upper half of what JSON carries exactly, 2**52 numbers, is left for counting on.
SEQ_START_BITS = 52

# How a run that this process began ends with it. A run that belongs to a job's attempt is ended by the server when
# the attempt ends, by the exit code; only an uncaught exception is known here before it is known there.
OWN_STATUS = {
    Ending.CLEAN: "SUCCEEDED",
    Ending.EXCEPTION: "FAILED",
    Ending.EXIT_CODE: "FAILED",
    Ending.INTERRUPT: "CANCELLED",
    Ending.TERMINATED: "CANCELLED",
}
JOB_STATUS = {Ending.EXCEPTION: "FAILED"}


class Run:
    """Made by ``svc.init``.

    Its methods may be called from any thread and never raise because of the network; only flush and finish wait for it.

    Attributes:
        id: the run's identifier on the server; None for one that was begun offline.
        name: the name it was given; None when the server or the job named it.
        is_attached: whether it is the run of the job this process runs in.
        is_offline: whether it records to ``offline_path`` instead of the server.
    """

    def __init__(
        self,
        sink: Sink,
        folder: OfflineFolder,
        *,
        run_id: str | None,
        name: str | None,
        is_attached: bool = False,
        queue_points: int,
        flush_timeout_s: float,
        description: Iterable[Record] = (),
    ) -> None:
        self.id = run_id
        self.name = name
        self.is_attached = is_attached
        self.is_offline = sink is folder
        self.offline_path = folder.offline_path
        self.flush_timeout_s = flush_timeout_s
        self._sink = sink
        self._queue_points = queue_points
        self._home_pid = os.getpid()
        self._next_step = 0
        self._become_writer()
        self._start_sender()  # now, because none can start when the interpreter shuts down
        for record in description:
            self._add(record)

    def log(self, metrics: Mapping[str, Scalar], step: int | None = None, epoch: float | None = None) -> None:
        """Report metric values.

        Args:
            metrics: name to number; nested mappings are flattened with ``/``; anything else is left out with a warning.
            step: the step the values belong to; left out, one more than the step logged last (at first 0).
            epoch: the epoch, which may be a fraction.
        """
        if not isinstance(metrics, Mapping):
            self._warn("log", "log() takes a mapping of names to numbers, not %s", type(metrics).__name__)
            return
        at_step = self._advance(step)
        if at_step is None:
            return
        at_epoch = self._to_epoch(epoch)
        ts = now_ms()
        points = [Point(next(self._seqs), name, at_step, value, ts, at_epoch) for name, value in self._usable(metrics)]
        if points:
            self._note_taken(self._outbox.add_points(points))

    def checkpoint(
        self,
        path: PathLike,
        step: int | None = None,
        epoch: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Register a checkpoint, a file or a directory, once it is written completely.

        Args:
            path: where it lies on this host; sent as an absolute path with its size in bytes.
            step: the step it belongs to; left out, the step logged last.
            epoch: the epoch, which may be a fraction.
            metadata: any JSON object of at most 64 KiB; a larger one is left out.
        """
        at_step = self._last_step() if step is None else to_integer(step)
        body: dict[str, Any] = {"path": _absolute(path), "step": at_step, "epoch": self._to_epoch(epoch)}
        if metadata is not None:
            bounded = to_bounded_object(metadata, "the metadata of a checkpoint", MAX_ATTACHED_BYTES)
            body["metadata"] = mask_secrets(bounded)
        self._add(Record("checkpoint", _without_none(body), now_ms(), complete=_with_size))

    def event(
        self,
        title: str,
        message: str | None = None,
        severity: str = "info",
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """Report an event of type CUSTOM.

        Args:
            title: one line; cut at 500 characters.
            message: cut at 20 000 characters.
            severity: info, warning or critical.
            data: any JSON object of at most 64 KiB; a larger one is left out.
        """
        if severity not in SEVERITIES:
            self._warn("severity", "severity %r is not one of %s; using info", severity, ", ".join(SEVERITIES))
            severity = "info"
        body: dict[str, Any] = {"title": _to_text(title, MAX_TITLE_CHARACTERS) or "(no title)", "severity": severity}
        if message is not None:
            body["message"] = _to_text(message, MAX_MESSAGE_CHARACTERS)
        if data is not None:
            body["data"] = mask_secrets(to_bounded_object(data, "the data of an event", MAX_ATTACHED_BYTES))
        self._add(Record("event", _without_none(body), now_ms(), key=secrets.token_hex(16)))

    def flush(self, timeout_s: float | None = None) -> bool:
        """Wait until all is delivered, or in the spool of the job, from where the agent delivers it.

        False when that took longer than ``timeout_s`` seconds (default SVC_FLUSH_TIMEOUT_S).
        """
        return self._outbox.flush(self.flush_timeout_s if timeout_s is None else timeout_s)

    def finish(self, status: str = "SUCCEEDED") -> None:
        """End the run as SUCCEEDED, FAILED or CANCELLED.

        Waits until all is delivered, at most SVC_FLUSH_TIMEOUT_S seconds; what is not goes to the spool of the job, or
        without one to ``offline_path``.
        """
        if status in FINISHES:
            self._close(status, self.flush_timeout_s)
        else:
            self._warn("finish", "finish(%r) is ignored: the status is one of %s", status, ", ".join(FINISHES))

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end(process.ending_of(error), self.flush_timeout_s)

    def end(self, ending: Ending, timeout_s: float) -> None:
        """Close as the process or block ended; in a forked child only flush, for the run goes on in its parent."""
        statuses = JOB_STATUS if self.is_attached else OWN_STATUS
        is_home = os.getpid() == self._home_pid
        self._close(statuses.get(ending) if is_home else None, timeout_s)

    def restart_after_fork(self) -> None:
        """In a forked child: the queue, the thread, the connection and the locks are the parent's; take new ones."""
        self._sink = self._sink.after_fork()
        self._become_writer()

    def _become_writer(self) -> None:
        self._lock = threading.RLock()
        self._seqs = itertools.count(secrets.randbits(SEQ_START_BITS))
        self._outbox = Outbox(self._queue_points)
        self._sender = Sender(self._outbox, self._sink)

    def _advance(self, step: int | None) -> int | None:
        with self._lock:
            at_step = self._next_step if step is None else to_integer(step)
            if at_step is None:
                self._warn("step", "step %r is not a whole number; these values are left out", step)
            else:
                self._next_step = at_step + 1
            return at_step

    def _last_step(self) -> int | None:
        return self._next_step - 1 if self._next_step > 0 else None

    def _to_epoch(self, epoch: float | None) -> float | None:
        number = None if epoch is None else to_number(epoch)
        if epoch is not None and (number is None or number - number != 0):
            self._warn("epoch", "epoch %r is not a finite number; left out", epoch)
            return None
        return number

    def _usable(self, metrics: Mapping[str, Scalar]) -> Iterator[tuple[str, float]]:
        for name, value in flatten(metrics):
            number = to_number(value)
            problem = name_problem(name)
            if number is not None and problem is None:
                yield name, number
            else:
                reason = problem or f"{type(value).__name__} is not a number"
                self._warn(f"metric {name[:80]}", "metric %r is left out: %s", name[:80], reason)

    def _add(self, record: Record) -> None:
        self._note_taken(self._outbox.add_record(record))

    def _note_taken(self, was_taken: bool) -> None:
        if not was_taken:
            self._warn("closed", "the run has ended; what is reported to it now is left out")
            return
        self._start_sender()
        if self._outbox.dropped:
            self._warn("dropped", "the queue is full: the oldest points that wait are dropped")

    def _start_sender(self) -> None:
        if not self._sender.is_started:
            process.flush_at_worker_end()
            self._sender.ensure_started()

    def _close(self, status: str | None, timeout_s: float) -> None:
        last = None if status is None else Record("finish", {"status": status}, now_ms())
        if last is not None and not self._outbox.is_closed:
            self._start_sender()
        left_over = self._outbox.close(last, timeout_s if self._sender.is_started else 0.0)
        places = {keep_locally(self._sink, batch) for batch in left_over}
        for place in sorted(place for place in places if place is not None):
            if not self.is_offline:
                warn_undelivered(place, f"not all was taken within {timeout_s:g} s")
        if self._outbox.dropped:
            logger.info("svc: %d points were dropped because the queue was full", self._outbox.dropped)
        process.untrack(self)

    def _warn(self, key: str, message: str, *args: object) -> None:
        warn_once(f"{key} {self.offline_path}", message, *args)


class DisabledRun(Run):
    """Stands in for a run under SVC_MODE=disabled: every call is taken and nothing is done."""

    def __init__(self) -> None:
        self.id = None
        self.name = None
        self.is_attached = False
        self.is_offline = False
        self.offline_path = Path(os.devnull)

    def log(self, metrics: Mapping[str, Scalar], step: int | None = None, epoch: float | None = None) -> None:
        pass

    def checkpoint(
        self,
        path: PathLike,
        step: int | None = None,
        epoch: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        pass

    def event(
        self,
        title: str,
        message: str | None = None,
        severity: str = "info",
        data: Mapping[str, Any] | None = None,
    ) -> None:
        pass

    def flush(self, timeout_s: float | None = None) -> bool:
        return True

    def finish(self, status: str = "SUCCEEDED") -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass


def _to_text(text: Any, max_characters: int) -> str:
    """The text without its secrets. It is masked before it is cut: half a secret has no form by which it is known."""
    return shorten(mask_text(shorten(text, _MASKED_CHARACTERS)), max_characters)


def _absolute(path: PathLike) -> str:
    try:
        return os.path.abspath(os.fsdecode(path))
    except (TypeError, ValueError, OSError):
        return str(path)


def _with_size(body: dict[str, Any]) -> dict[str, Any]:
    """The body of a checkpoint with its size, in bytes, when there is something at its path."""
    size = _size_bytes(body["path"])
    if size is None:
        warn_once(f"no checkpoint {body['path']}", "there is nothing at the checkpoint's path %s", body["path"])
        return body
    return {**body, "size": size}


def _size_bytes(path: str) -> int | None:
    if not os.path.isdir(path):
        return _file_size_bytes(path)
    files: list[str] = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
    return sum(_file_size_bytes(file) or 0 for file in files)


def _file_size_bytes(path: str) -> int | None:
    try:
        return os.path.getsize(path)
    except (OSError, ValueError):  # a path that no file can have: a NUL, or half a character, in it
        return None


def _without_none(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if value is not None}
