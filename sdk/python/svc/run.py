"""A run: what a training reports to."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import time
from types import TracebackType
from typing import Any, Union

from . import current, process
from .config import Config
from .failure_event import to_failure_event
from .intake import Intake
from .masking import mask_secrets
from .notices import logger, warn_once
from .offline import OfflineFolder
from .outbox import Outbox
from .process import Ending
from .records import Record, now_ms
from .reports import to_checkpoint, to_definition, to_event
from .sender import Sender, Sink, keep_locally, warn_undelivered
from .values import flatten, name_problem, to_bounded_object, to_integer, to_number

Scalar = Any  # a number, or a scalar of numpy, torch and their kind
PathLike = Union[str, "os.PathLike[str]"]

FINISHES = ("SUCCEEDED", "FAILED", "CANCELLED")
SEVERITIES = ("info", "warning", "critical")
DIRECTIONS = ("minimize", "maximize")
# What is logged is checked by the sender, unless so many calls wait for that, or one call has so many values.
SETTLE_AT = 1000
MANY_VALUES = 100
PYTHON_NUMBERS = (float, int, bool)

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

INSTEAD = {
    "config": "run.config.update(...) changes values of it",
    "summary": "run.log changes the values in it",
}
FIXED = "give its name, project, experiment and tags to svc.init, numbers to run.log, and other values to run.config"


@dataclass(frozen=True)
class RunFacts:
    """What is known of a run when it begins."""

    id: str | None
    name: str | None
    url: str | None
    is_attached: bool
    gives_signs: bool  # outside a job the server waits for signs of life
    is_described: bool  # by this process, and not by the first rank
    config: Any
    queue_points: int
    flush_timeout_s: float


class Run:
    """Made by ``svc.init``.

    Its methods may be called from any thread and never raise because of the network; only flush and finish wait for it.

    Attributes:
        id: the run's identifier on the server; None for one that was begun offline.
        name: its name. In a job it is the one that init asked for, or None, until the server has told that of the run,
            which it keeps when somebody chose it at the submit.
        url: its page in the console; None for one that was begun offline.
        config: the hyperparameters, as a dict; ``config.update(...)`` changes them.
        summary: the last value of each metric that this process has logged, by name.
        is_attached: whether it is the run of the job this process runs in.
        is_offline: whether it records to ``offline_path`` instead of the server.
        offline_path: the directory for that; while ``is_offline`` is False, it is made only for what the server refuses
            for good, and for what can be neither delivered at the end nor spooled.
    """

    id: str | None
    url: str | None
    config: Config
    summary: Mapping[str, float]
    is_attached: bool
    is_offline: bool
    offline_path: Path
    flush_timeout_s: float

    def __init__(self, facts: RunFacts, sink: Sink, folder: OfflineFolder, description: Iterable[Record] = ()) -> None:
        self._sink = sink
        self._begin(facts, folder.offline_path, is_offline=sink is folder)
        self._become_writer()
        self._start_sender()  # now, because none can start when the interpreter shuts down
        for record in description:
            self._add(record)

    def _begin(self, facts: RunFacts, offline_path: Path, is_offline: bool) -> None:
        self._facts = facts
        self._home_pid = os.getpid()
        self._intake = Intake(self._warn)
        vars(self).update(
            id=facts.id,
            url=facts.url,
            is_attached=facts.is_attached,
            is_offline=is_offline,
            offline_path=offline_path,
            flush_timeout_s=facts.flush_timeout_s,
            summary=Summary(self),
            config=Config(facts.config, self._send_config),
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"run.{name} cannot be set: {INSTEAD.get(name, FIXED)}")
        super().__setattr__(name, value)

    def log(self, metrics: Mapping[str, Scalar], step: int | None = None, epoch: float | None = None) -> None:
        """Report metric values.

        Args:
            metrics: name to number or bool; nested mappings are flattened with ``/``; anything else is left out with a
                warning.
            step: the step the values belong to; left out, one more than the step logged last (at first 0).
            epoch: the epoch, which may be a fraction.
        """
        if (
            type(metrics) is dict
            and (step is None or type(step) is int)
            and (epoch is None or type(epoch) in PYTHON_NUMBERS)
        ):
            values = metrics.copy()
            for value in values.values():
                if type(value) is not float and type(value) not in PYTHON_NUMBERS:
                    break
            else:
                given = self._given
                given.append((values, step, time(), epoch))
                if len(given) >= self._settle_at or len(values) > MANY_VALUES:
                    self._settle()
                return
        with self._left_out_if_unusable("log"):
            self._log_others(metrics, step, epoch)

    @property
    def name(self) -> str | None:
        return self._sink.run_name or self._facts.name

    @property
    def last_step(self) -> int | None:
        """The step that was logged last; None before the first."""
        self._outbox.settle()
        return self._intake.last_step

    def checkpoint(
        self,
        path: PathLike,
        step: int | None = None,
        epoch: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Register a checkpoint, a file or a directory, once it is written completely.

        Args:
            path: where it lies on this host; sent as an absolute path without links, with its size in bytes. When
                nothing is there it is registered without a size, with a warning: another thread or host may be about to
                write it.
            step: the step it belongs to; left out, the step logged last.
            epoch: the epoch, which may be a fraction.
            metadata: any JSON object of at most 64 KiB; a larger one is left out.
        """
        with self._left_out_if_unusable("checkpoint"):
            at_step = self.last_step if step is None else to_integer(step)
            self._add(to_checkpoint(path, at_step, self._to_epoch(epoch), metadata))

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
        with self._left_out_if_unusable("event"):
            if severity not in SEVERITIES:
                self._warn("severity", "severity %r is not one of %s; using info", severity, ", ".join(SEVERITIES))
                severity = "info"
            self._add(to_event(title, message, severity, data))

    def define_metric(
        self, name: str, direction: str | None = None, unit: str | None = None, primary: bool | None = None
    ) -> None:
        """Say what a metric means in this run, in place of what the server guesses from its name.

        Args:
            name: the metric, as it is logged.
            direction: minimize or maximize.
            unit: shown behind its values; cut at 50 characters.
            primary: whether runs and checkpoints are ranked by it; of several the last one is.
        """
        with self._left_out_if_unusable("define_metric"):
            problem = name_problem(name) if isinstance(name, str) else "the name is no text"
            if problem is None and direction not in (None, *DIRECTIONS):
                problem = f"direction {direction!r} is not one of {', '.join(DIRECTIONS)}"
            if problem is not None:
                self._warn(f"define {name!r:.80}", "define_metric(%.80r) is ignored: %s", name, problem)
                return
            if self._facts.is_described:
                self._add(to_definition(name, direction, unit, primary))

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
        ending = process.ending_of(error)
        if error is not None and ending is Ending.EXCEPTION:
            self.report_failure(error, traceback)
        self.end(ending, self.flush_timeout_s)

    def report_failure(self, error: BaseException, trace: TracebackType | None) -> None:
        """Report an exception that nobody caught as a critical event; an exception whose text raises is not told."""
        with contextlib.suppress(Exception):
            if os.getpid() == self._home_pid and not self._outbox.is_closed:
                self._add(to_failure_event(error, trace))

    def end(self, ending: Ending, timeout_s: float) -> None:
        """Close as the process or block ended; in a forked child only flush, for the run goes on in its parent."""
        statuses = JOB_STATUS if self.is_attached else OWN_STATUS
        is_home = os.getpid() == self._home_pid
        self._close(statuses.get(ending) if is_home else None, timeout_s)

    def restart_after_fork(self) -> None:
        """In a forked child: the queue, the thread, the connection and the locks are the parent's; take new ones."""
        name = self._sink.run_name
        self._sink = self._sink.after_fork()
        self._sink.run_name = name
        self._become_writer()

    def _become_writer(self) -> None:
        self._intake = self._intake.after_fork()
        self._given = self._intake.given
        self._settle_at = 0
        self._outbox = Outbox(self._intake, self._facts.queue_points, self._warn_dropped)
        # A worker that outlives its parent must not keep the run alive.
        gives_signs = self._facts.gives_signs and os.getpid() == self._home_pid
        self._sender = Sender(self._outbox, self._sink, gives_signs)

    def _send_config(self, config: Config) -> None:
        body = {"config": mask_secrets(to_bounded_object(config, "the config"))}
        if self._facts.is_described and body["config"] is not None:
            self._add(Record("update", body, now_ms()))

    @contextlib.contextmanager
    def _left_out_if_unusable(self, call: str) -> Iterator[None]:
        """Must hold: whatever an object does that a training hands over, the training gets no exception of it."""
        try:
            yield
        except Exception as error:
            message = "a call of %s is left out: what it was given raised %s"
            self._warn(f"unusable {call}", message, call, type(error).__name__)

    def _settle(self) -> None:
        """When much waits to be checked; and at each log when the sender is not started, or the run has ended."""
        self._note_taken(self._outbox.settle())

    def _log_others(self, metrics: Any, step: Any, epoch: Any) -> None:
        """What is not a dict of Python's own numbers, or has another step or epoch: converted before log returns.

        A tensor may be changed in place later.
        """
        if not isinstance(metrics, Mapping):
            self._warn("log", "log() takes a mapping of names to numbers, not %s", type(metrics).__name__)
            return
        at_step = None if step is None else to_integer(step)
        if step is not None and at_step is None:
            self._warn("step", "step %r is not a whole number; these values are left out", step)
            return
        values = dict(self._numbers(metrics))
        if values:
            self._given.append((values, at_step, time(), self._to_epoch(epoch)))
            if len(self._given) >= self._settle_at or len(values) > MANY_VALUES:
                self._settle()

    def _numbers(self, metrics: Mapping[Any, Any]) -> Iterator[tuple[str, float]]:
        for name, value in flatten(metrics):
            number = to_number(value)
            if number is None:
                reason = f"{type(value).__name__} is not a number"
                self._warn(f"metric {name[:80]}", "metric %r is left out: %s", name[:80], reason)
            else:
                yield name, number

    def _to_epoch(self, epoch: float | None) -> float | None:
        number = None if epoch is None else to_number(epoch)
        if epoch is not None and (number is None or number - number != 0):
            self._warn("epoch", "epoch %r is not a finite number; left out", epoch)
            return None
        return number

    def _add(self, record: Record) -> None:
        self._note_taken(self._outbox.add_record(record))

    def _note_taken(self, was_taken: bool) -> None:
        if not was_taken:
            self._warn("closed", "the run has ended; what is reported to it now is left out")
            return
        self._start_sender()

    def _start_sender(self) -> None:
        if not self._sender.is_started:
            process.flush_at_worker_end()
            self._sender.ensure_started()
        if self._sender.is_started and not self._outbox.is_closed:
            self._settle_at = min(SETTLE_AT, self._facts.queue_points)

    def _warn_dropped(self) -> None:
        self._warn("dropped", "the queue is full: the oldest points that wait are dropped")

    def _close(self, status: str | None, timeout_s: float) -> None:
        last = None if status is None else Record("finish", {"status": status}, now_ms())
        if last is not None and not self._outbox.is_closed:
            self._start_sender()
        self._settle_at = 0
        left_over = self._outbox.close(last, timeout_s if self._sender.is_started else 0.0)
        places = {keep_locally(self._sink, batch) for batch in left_over}
        for place in sorted(place for place in places if place is not None):
            if not self.is_offline:
                warn_undelivered(place, f"not all was taken within {timeout_s:g} s")
        if self._outbox.dropped:
            logger.info("svc: %d points were dropped because the queue was full", self._outbox.dropped)
        process.untrack(self)
        current.end(self)

    def _warn(self, key: str, message: str, *args: object) -> None:
        warn_once(f"{key} {self.offline_path}", message, *args)


class Summary(Mapping[str, float]):
    """The last value of each metric that this process has logged, by name."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def _values(self) -> dict[str, float]:
        self._run._outbox.settle()
        return self._run._intake.last_values

    def __getitem__(self, name: str) -> float:
        return self._values()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._values()))

    def __len__(self) -> int:
        return len(self._values())

    def __repr__(self) -> str:
        return repr(dict(self))
