"""Stands in for ``torch.utils.tensorboard``: ``from svc.integrations.tensorboard import SummaryWriter``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Callable

from ..notices import warn_once
from ..run import Run
from .shared_run import run_for

# Each becomes an event of the run.
MAX_TEXTS = 100


class SummaryWriter:
    """Takes the calls of PyTorch's ``SummaryWriter``, and writes no files.

    Scalars go to the run, hparams to its config, and texts become events.
    What svc does not keep (histograms, images, graphs) is left out with one warning each.

    Args:
        log_dir, comment: name the run, when one is begun here.
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
        self.log_dir = os.fspath(log_dir) if log_dir is not None else ""
        name = os.path.basename(self.log_dir.rstrip("/")) + comment
        self.run = run_for(run, **{"name": name or None, **wishes})
        self._texts = 0

    def get_logdir(self) -> str:
        return self.log_dir

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: int | None = None, walltime: float | None = None, **_others: Any
    ) -> None:
        self.run.log({tag: scalar_value}, step=global_step)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        self.run.log({f"{main_tag}/{tag}": value for tag, value in tag_scalar_dict.items()}, step=global_step)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Any = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        self.run.config.update(hparam_dict)
        self.run.log(metric_dict, step=global_step)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        self._texts += 1
        if self._texts <= MAX_TEXTS:
            self.run.event(tag, message=text_string, data=None if global_step is None else {"step": global_step})
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

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("add_"):
            raise AttributeError(f"SummaryWriter of svc has no attribute {name!r}")

        def leave_out(*_args: Any, **_others: Any) -> None:
            warn_once(name, "svc does not keep what %s adds; it is left out", name)

        return leave_out
