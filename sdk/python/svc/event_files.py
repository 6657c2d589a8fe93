"""Reports what a training writes as TensorBoard event files, as wandb does with ``sync_tensorboard``."""

from __future__ import annotations

import functools
import importlib
import os
import re
from typing import Any, Callable

from . import current
from .notices import logger, warn_once
from .run import Run

# Those of torch.utils.tensorboard, and of tensorboardX.
WRITERS = ("tensorboard.summary.writer.event_file_writer", "tensorboardX.event_file_writer")
# Folders of parts of one training: their names are a prefix wherever they lie.
PARTS = frozenset(("train", "training", "val", "valid", "validation", "dev", "test", "eval", "evaluation"))
# ``add_hparams`` of PyTorch makes a folder with the time as its name.
_TIME = re.compile(r"\d{10}\.\d+")


def report_event_files() -> None:
    """Scalars that are written from now on go to the current run, too. In a job the agent reads the files already."""
    taps = [_tap(name) for name in WRITERS]
    if not any(taps):
        warn_once("no event files", "sync_tensorboard is left out: neither tensorboard nor tensorboardX is installed")


def _tap(module: str) -> bool:
    """False when it is not installed."""
    try:
        writer = importlib.import_module(module).EventFileWriter
    except ImportError:
        return False
    if not hasattr(writer.add_event, "__wrapped__"):
        writer.add_event = _reporting(writer.add_event)
    return True


def _reporting(add_event: Callable[..., Any]) -> Callable[..., Any]:
    prefixes = Prefixes()

    @functools.wraps(add_event)
    def add_and_report(self: Any, event: Any, *args: Any, **others: Any) -> Any:
        try:
            run = current.find_open()
            if run is not None and not run.is_attached:
                _report(run, event, prefixes.of(os.path.abspath(self.get_logdir())))
        except Exception:
            logger.debug("svc: an event could not be reported", exc_info=True)
        return add_event(self, event, *args, **others)

    return add_and_report


class Prefixes:
    """What stands before the names of a folder's metrics, by the rules of the agent (docs/reporting.md)."""

    def __init__(self) -> None:
        self._bases: list[tuple[str, str]] = []

    def of(self, folder: str) -> str:
        for base, prefix in self._bases:
            if f"{folder}/".startswith(f"{base}/"):
                return _join(prefix, os.path.relpath(folder, base))
        parent, name = os.path.split(folder)
        base = parent if name in PARTS else folder
        prefix = os.path.basename(base) if self._bases else ""
        self._bases.append((base, prefix))
        return _join(prefix, os.path.relpath(folder, base))


def _join(prefix: str, way: str) -> str:
    words = [prefix, *way.split(os.sep)]
    return "".join(f"{word}/" for word in words if word not in ("", ".") and not _TIME.fullmatch(word))


def _report(run: Run, event: Any, prefix: str) -> None:
    scalars = {f"{prefix}{value.tag}": _number(value) for value in event.summary.value}
    known = {name: number for name, number in scalars.items() if number is not None}
    if known:
        run.log(known, step=event.step)


def _number(value: Any) -> float | None:
    """None for what is no scalar. The second form is that of ``add_scalar(..., new_style=True)``."""
    if value.HasField("simple_value"):
        return float(value.simple_value)
    if value.metadata.plugin_data.plugin_name == "scalars" and len(value.tensor.float_val) == 1:
        return float(value.tensor.float_val[0])
    return None
