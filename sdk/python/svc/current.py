"""The current run of this process, for ``svc.log`` and its kind: the newest one that is open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .run import PathLike, Run, Scalar

_open: list[Run] = []
_newest: Run | None = None


def log(metrics: Mapping[str, Scalar], step: int | None = None, epoch: float | None = None) -> None:
    """As ``run.log`` of the current run."""
    require().log(metrics, step, epoch)


def checkpoint(
    path: PathLike, step: int | None = None, epoch: float | None = None, metadata: Mapping[str, Any] | None = None
) -> None:
    """As ``run.checkpoint`` of the current run."""
    require().checkpoint(path, step, epoch, metadata)


def event(
    title: str, message: str | None = None, severity: str = "info", data: Mapping[str, Any] | None = None
) -> None:
    """As ``run.event`` of the current run."""
    require().event(title, message, severity, data)


def finish(status: str = "SUCCEEDED") -> None:
    """As ``run.finish`` of the current run."""
    require().finish(status)


def find_open() -> Run | None:
    return _open[-1] if _open else None


def require() -> Run:
    """The current run. Without an open one it is the last, which warns of what is reported too late.

    Raises:
        RuntimeError: no run was begun in this process.
    """
    run = find_open() or _newest
    if run is None:
        raise RuntimeError("there is no run in this process: call svc.init() first")
    return run


def is_open(run: Run) -> bool:
    return run in _open


def begin(run: Run) -> None:
    global _newest
    _newest = run
    _open.append(run)


def end(run: Run) -> None:
    if run in _open:
        _open.remove(run)
