"""What happens to the open runs when this process ends or forks.

Hooks of others are chained, never replaced: the excepthook and sys.exit call on to what was there, and SIGTERM is
taken only while it still has its default action.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from enum import Enum
from types import FrameType, TracebackType
from typing import Any, Protocol


class Ending(Enum):
    """How the process, or the block of a ``with``, ended."""

    CLEAN = "clean"
    EXIT_CODE = "exit code"
    EXCEPTION = "exception"
    INTERRUPT = "interrupt"
    TERMINATED = "terminated"


class OpenRun(Protocol):
    flush_timeout_s: float

    def end(self, ending: Ending, timeout_s: float) -> None:
        """Flush and close, at most ``timeout_s`` seconds."""

    def report_failure(self, error: BaseException, trace: TracebackType | None) -> None:
        """Tell of an exception that nobody caught."""

    def restart_after_fork(self) -> None:
        """Become a writer of its own in the child."""


# A cancelled job has 10 s between SIGTERM and SIGKILL.
SIGTERM_FLUSH_LIMIT_S = 5.0

_open_runs: list[OpenRun] = []
_ending = Ending.CLEAN
_is_installed = False
_worker_pid: int | None = None
_home_pid = os.getpid()
_forking = threading.local()


def ending_of(error: BaseException | None) -> Ending:
    if error is None or isinstance(error, GeneratorExit):
        return Ending.CLEAN
    if isinstance(error, SystemExit):
        return Ending.CLEAN if error.code in (None, 0) else Ending.EXIT_CODE
    return Ending.INTERRUPT if isinstance(error, KeyboardInterrupt) else Ending.EXCEPTION


def track(run: OpenRun) -> None:
    """End this run when the process ends, unless it is untracked before."""
    global _is_installed
    if not _is_installed:
        _is_installed = True
        atexit.register(_at_exit)
        _chain_excepthook()
        _chain_sys_exit()
        _listen_to_notebook()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=_hold_sigterm, after_in_parent=_release_sigterm, after_in_child=_after_fork_in_child
            )
    _take_default_sigterm()
    _open_runs.append(run)


def untrack(run: OpenRun) -> None:
    if run in _open_runs:
        _open_runs.remove(run)


def flush_at_worker_end() -> None:
    """A forked multiprocessing worker leaves by os._exit, past atexit: multiprocessing's own finalizers flush it."""
    global _worker_pid
    util = sys.modules.get("multiprocessing.util")
    if util is not None and os.getpid() not in (_home_pid, _worker_pid):
        _worker_pid = os.getpid()
        util.Finalize(None, _at_exit, exitpriority=0)


def _end_all(ending: Ending, limit_s: float | None = None) -> None:
    started_at = time.monotonic()
    for run in list(_open_runs):
        allowed_s = run.flush_timeout_s if limit_s is None else min(limit_s, run.flush_timeout_s)
        run.end(ending, max(0.0, allowed_s - (time.monotonic() - started_at)))


def _at_exit() -> None:
    _end_all(_ending)


def _chain_excepthook() -> None:
    previous = sys.excepthook

    def note_exception(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if not hasattr(sys, "ps1"):  # at an interactive prompt the process goes on
            _note_uncaught(error, traceback)
        previous(kind, error, traceback)

    sys.excepthook = note_exception


def _note_uncaught(error: BaseException, traceback: TracebackType | None) -> None:
    global _ending
    _ending = ending_of(error)
    if _ending is Ending.EXCEPTION:
        for run in list(_open_runs):
            run.report_failure(error, traceback)


def _listen_to_notebook() -> None:
    """In IPython an exception ends a cell and not the process: what the last cell came to is what the process does."""
    ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if ipython is not None:
        ipython.events.register("post_run_cell", _note_cell)


def _note_cell(result: Any) -> None:
    global _ending
    error = getattr(result, "error_in_exec", None)
    if error is None:
        _ending = Ending.CLEAN
    else:
        _note_uncaught(error, error.__traceback__)


def ending_so_far() -> Ending:
    """How the process would end if it ended now; in a notebook, how the last cell ended."""
    return _ending


def _chain_sys_exit() -> None:
    previous = sys.exit

    def note_exit(status: object = None, /) -> None:
        global _ending
        if threading.current_thread() is threading.main_thread():
            _ending = ending_of(SystemExit(status))
        previous(status)  # type: ignore[arg-type]

    sys.exit = note_exit  # type: ignore[assignment]


def _take_default_sigterm() -> None:
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _on_sigterm)


def _on_sigterm(signum: int, _frame: FrameType | None) -> None:
    """Flush, then die of the signal after all, so that the exit status is what it would have been."""
    _end_all(Ending.TERMINATED, SIGTERM_FLUSH_LIMIT_S)
    signal.signal(signum, signal.SIG_DFL)
    os.kill(os.getpid(), signum)


def _hold_sigterm() -> None:
    """A SIGTERM that reaches the child before it has its default action back would be swallowed there."""
    _forking.mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def _release_sigterm() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _forking.mask)


def _after_fork_in_child() -> None:
    global _ending
    _ending = Ending.CLEAN
    if signal.getsignal(signal.SIGTERM) is _on_sigterm:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        for run in _open_runs:
            run.restart_after_fork()
    finally:
        _release_sigterm()
