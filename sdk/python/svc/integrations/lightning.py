"""Reports a Lightning ``Trainer``: ``Trainer(..., logger=SvcLogger())``."""

from __future__ import annotations

import os
from typing import Any

try:
    from lightning.pytorch.loggers.logger import Logger, rank_zero_experiment
    from lightning.pytorch.utilities import rank_zero_only
except ImportError:
    from pytorch_lightning.loggers.logger import Logger, rank_zero_experiment  # type: ignore[no-redef,unused-ignore]
    from pytorch_lightning.utilities import rank_zero_only  # type: ignore[no-redef,unused-ignore]

from ..run import Run
from .shared_run import numbers_of, run_for


class SvcLogger(Logger):  # type: ignore[misc,unused-ignore]
    """Reports what modules log, their hyperparameters as config, and each checkpoint that Lightning saves.

    The run stays open behind ``fit``, for a ``test`` that follows; the end of the process ends it.

    Args:
        run: the run to report to; left out, the current one, else one that ``svc.init`` begins when it is first needed.
        prefix: goes before each name, with a ``/``.
        wishes: arguments of ``svc.init`` for that run.
    """

    def __init__(self, run: Run | None = None, prefix: str = "", **wishes: Any) -> None:
        super().__init__()
        self._given = run
        self._prefix = f"{prefix}/" if prefix else ""
        self._wishes = wishes
        self._run: Run | None = None
        self._registered: set[tuple[str, float]] = set()

    @property
    @rank_zero_experiment  # type: ignore[untyped-decorator,unused-ignore]
    def experiment(self) -> Run:
        """The run of svc."""
        if self._run is None:
            self._run = run_for(self._given, **self._wishes)
        return self._run

    @property
    def name(self) -> str:
        return self.experiment.name or "svc"

    @property
    def version(self) -> str:
        """The id of the run; Lightning names the folder of the checkpoints by it."""
        run = self.experiment
        return str(run.id or run.offline_path.name)

    @rank_zero_only  # type: ignore[untyped-decorator,unused-ignore]
    def log_hyperparams(self, params: Any, *_args: Any, **_others: Any) -> None:
        self.experiment.config.update(params)

    @rank_zero_only  # type: ignore[untyped-decorator,unused-ignore]
    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        values = {f"{self._prefix}{name}": value for name, value in numbers_of(metrics).items() if name != "epoch"}
        self.experiment.log(values, step=step, epoch=metrics.get("epoch"))

    @rank_zero_only  # type: ignore[untyped-decorator,unused-ignore]
    def after_save_checkpoint(self, checkpoint_callback: Any) -> None:
        """Registers what the callback has saved since it was asked last."""
        last = getattr(checkpoint_callback, "last_model_path", "")
        best = getattr(checkpoint_callback, "best_model_path", "")
        scores = dict(getattr(checkpoint_callback, "best_k_models", {}))
        step = getattr(checkpoint_callback, "_last_global_step_saved", None)
        for path in dict.fromkeys(str(path) for path in (*scores, best, last) if path):
            if os.path.exists(path) and (path, os.path.getmtime(path)) not in self._registered:
                self._registered.add((path, os.path.getmtime(path)))
                monitored = {checkpoint_callback.monitor: scores[path]} if path in scores else None
                self.experiment.checkpoint(path, step=step, metadata=monitored)

    @rank_zero_only  # type: ignore[untyped-decorator,unused-ignore]
    def finalize(self, status: str) -> None:
        if self._run is not None:
            self._run.flush()
