"""Stands in for ``torch.utils.tensorboard``: ``from svc.integrations.tensorboard import SummaryWriter``."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Callable
from weakref import WeakKeyDictionary

from ..event_files import PARTS, Prefixes
from ..notices import warn_once
from ..run import Run
from ..text_config import config_of_text
from ..values import MAX_OBJECT_BYTES, encode_json, to_object
from .shared_run import run_for

# Each becomes an event of the run.
MAX_TEXTS = 100
_prefixes: WeakKeyDictionary[Run, Prefixes] = WeakKeyDictionary()


class SummaryWriter:
    """Takes the calls of PyTorch's ``SummaryWriter``, makes its folder, and writes no files.

    Scalars go to the run, hparams to its config, and texts become events, but for those of hyperparameters, which go to
    the config too where nothing else has set the same names and the config stays within 512 KiB.
    What svc does not keep (histograms, images, graphs) is left out with one warning each. Several writers of one run
    have their folders as prefixes, by the rules of event files (docs/reporting.md): ``runs/a/train`` and ``runs/a/val``
    make ``train/loss`` and ``val/loss``.

    Args:
        log_dir, comment: name the run, when one is begun here. Without a log_dir the folder is ``runs/TIME_HOST``.
        run: the run to report to; left out, the current one, else one that ``svc.init`` begins.
        wishes: arguments of ``svc.init`` for that run; those of the original are ignored.
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
        write_to_disk: bool = True,
        *,
        run: Run | None = None,
        **wishes: Any,
    ) -> None:
        given = os.fspath(log_dir) if log_dir else ""
        self.log_dir = given or _default_folder(comment)
        self.run = run_for(run, **{"name": _name(given) + comment or None, **wishes})
        self._texts = 0
        self._config_texts: dict[str, tuple[int, bool]] = {}
        self._prefix = self._prefix_of(self.log_dir)
        with contextlib.suppress(OSError):  # nothing of svc is written there
            os.makedirs(self.log_dir, exist_ok=True)

    def get_logdir(self) -> str:
        return self.log_dir

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: int | None = None, walltime: float | None = None, **_others: Any
    ) -> None:
        self.run.log({f"{self._prefix}{tag}": scalar_value}, step=global_step)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """As PyTorch, which gives each of them a folder below its own."""
        folder = os.path.join(self.log_dir, str(main_tag).replace("/", "_"))
        values = {f"{self._prefix_of(f'{folder}_{tag}')}{main_tag}": value for tag, value in tag_scalar_dict.items()}
        self.run.log(values, step=global_step)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Any = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        self.run.config.update(hparam_dict)
        prefix = self._prefix_of(os.path.join(self.log_dir, run_name or ""))
        values = {f"{prefix}{name}": value for name, value in metric_dict.items()}
        self.run.log(values, step=0 if global_step is None else global_step)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        if isinstance(tag, str) and isinstance(text_string, str) and self._takes_as_config(tag, text_string):
            return
        self._texts += 1
        if self._texts <= MAX_TEXTS:
            data = None if global_step is None else {"step": global_step}
            self.run.event(f"{self._prefix}{tag}", message=text_string, data=data)
        else:
            warn_once("texts", "add_text was called more than %d times: what follows is left out", MAX_TEXTS)

    def flush(self) -> None:
        self.run.flush()

    def close(self) -> None:
        """Delivers what waits. The end of the process, or ``svc.finish``, ends the run."""
        self.run.flush()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _takes_as_config(self, tag: str, text: str) -> bool:
        """Whether it is of hyperparameters that are in the config now. The same text again is not read again."""
        content = hash(text)
        known_content, is_taken = self._config_texts.get(tag, (None, False))
        if content == known_content:
            return is_taken
        config = config_of_text(tag, text)
        if config is None:
            return False
        is_taken = self._fill_config(config, tag)
        self._config_texts[tag] = (content, is_taken)
        return is_taken

    def _fill_config(self, values: dict[str, Any], tag: str) -> bool:
        """Set what nothing has set yet; False when the config would be too large for the server with it."""
        config = self.run.config
        fresh = {name: value for name, value in values.items() if name not in config}
        if not fresh:
            return True
        if not _fits_server({**config, **fresh}):
            warn_once("config texts", "with the text %r the config would be too large; it stays an event", tag)
            return False
        config.update(fresh)
        return True

    def _prefix_of(self, folder: str) -> str:
        return _prefixes.setdefault(self.run, Prefixes()).of(os.path.abspath(folder))

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("add_"):
            raise AttributeError(f"SummaryWriter of svc has no attribute {name!r}")

        def leave_out(*_args: Any, **_others: Any) -> None:
            warn_once(name, "svc does not keep what %s adds; it is left out", name)

        return leave_out


def _fits_server(config: dict[str, Any]) -> bool:
    try:
        return len(encode_json(to_object(config))) <= MAX_OBJECT_BYTES
    except Exception:  # of a value that the training has set
        return False


def _default_folder(comment: str) -> str:
    """As PyTorch has it."""
    return os.path.join("runs", f"{time.strftime('%b%d_%H-%M-%S')}_{socket.gethostname()}{comment}")


def _name(folder: str) -> str:
    """Of the run: its folder's, above that of a part of it."""
    parent, name = os.path.split(folder.rstrip("/"))
    return os.path.basename(parent) or name if name in PARTS else name
