"""Reports what a training writes as TensorBoard event files, as wandb does with ``sync_tensorboard``."""

from __future__ import annotations

import functools
import importlib
import os
import re
from collections.abc import Iterable
from typing import Any, Callable

from . import current
from .notices import logger, warn_once
from .run import Run

# Those of torch.utils.tensorboard, and of tensorboardX.
WRITERS = ("tensorboard.summary.writer.event_file_writer", "tensorboardX.event_file_writer")
# Folders of parts of one training: their names are a prefix wherever they lie.
PARTS = frozenset(("train", "training", "val", "valid", "validation", "dev", "test", "eval", "evaluation"))
# ``Nov22_10-00-00_host`` of ``SummaryWriter()``, without the comment that may stand behind it.
_DEFAULT_FOLDER = re.compile(r"^[A-Z][a-z]{2}\d{2}_\d{2}-\d{2}-\d{2}_[^_]*")
# Seconds or milliseconds since 1970 (``add_hparams``), a date with or without a time, a time.
_TIMES = re.compile(
    r"(?<!\d)(?:1\d{9}(?:\d{3})?(?:\.\d+)?"
    r"|20\d{2}([-_.]?)[01]\d\1[0-3]\d(?:[-_ T]*[0-2]\d([-_.:h]?)[0-5]\d(?:\2[0-5]\d)?(?:\.\d+)?)?"
    r"|[0-2]\d([-:])[0-5]\d\3[0-5]\d)(?!\d)"
)


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
    """What stands before the names of a folder's metrics: the way to it from the first folder, without times.

    These are the rules of the agent (docs/reporting.md). The agent waits for the folders that begin with the first
    one; a call cannot, so here the first folder alone is the base.
    """

    def __init__(self) -> None:
        self._base: str | None = None

    def of(self, folder: str) -> str:
        if self._base is None:
            self._base = _training_of(folder)
        way = os.path.relpath(folder, self._base).split(os.sep)
        names = _names_in(word for word in way if word not in (os.curdir, os.pardir))
        if os.pardir in way and not names:
            names = _names_in(folder.split(os.sep))[-1:]
        return "".join(f"{name}/" for name in names)


def _training_of(folder: str) -> str:
    """The folder of the whole training: above those of its parts and of times."""
    parent, name = os.path.split(folder)
    is_whole = name not in PARTS and _without_times(name) != ""
    return folder if is_whole or parent == folder else _training_of(parent)


def _names_in(words: Iterable[str]) -> list[str]:
    return [name for name in map(_without_times, words) if name]


def _without_times(word: str) -> str:
    name = _TIMES.sub("", _DEFAULT_FOLDER.sub("", word))
    return word if name == word else name.strip("-_. ")


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
