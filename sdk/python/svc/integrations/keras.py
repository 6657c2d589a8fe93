"""Reports a Keras model: ``model.fit(..., callbacks=[SvcCallback()])``."""

from __future__ import annotations

from typing import Any

try:
    import keras
except ImportError:
    from tensorflow import keras  # type: ignore[no-redef,unused-ignore]

from ..run import Run
from .shared_run import numbers_of, run_for


class SvcCallback(keras.callbacks.Callback):  # type: ignore[misc,name-defined,unused-ignore]
    """Reports the metrics of each epoch at the optimizer's step, and the optimizer's config and the sizes as config.

    ``loss`` becomes ``train/loss``, ``val_loss`` becomes ``val/loss``. The run stays open behind ``fit``; the end of
    the process ends it.

    Args:
        run: the run to report to; left out, the current one, else one that ``svc.init`` begins when ``fit`` begins.
        every_batches: also report ``batch/loss`` and the like each so many batches; left out, never.
        wishes: arguments of ``svc.init`` for that run.
    """

    def __init__(self, run: Run | None = None, every_batches: int | None = None, **wishes: Any) -> None:
        super().__init__()
        self._given = run
        self._every_batches = every_batches
        self._wishes = wishes
        self._run: Run | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        epochs, steps = self.params.get("epochs"), self.params.get("steps")
        max_steps = epochs * steps if epochs and steps else None
        self._run = run_for(self._run or self._given, **{"max_steps": max_steps, **self._wishes})
        optimizer = self.model.optimizer
        sizes = {"epochs": epochs, "steps_per_epoch": steps, "parameters": self.model.count_params()}
        self._run.config.update({"optimizer": optimizer.get_config() if optimizer is not None else None, **sizes})

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._run is not None and self._every_batches and (batch + 1) % self._every_batches == 0:
            values = numbers_of(logs or {})
            self._run.log({f"batch/{name}": value for name, value in values.items()}, step=self._step())

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self._run is not None:
            values = {_to_name(name): value for name, value in numbers_of(logs or {}).items()}
            self._run.log(values, step=self._step(), epoch=epoch + 1)

    def on_train_end(self, logs: Any = None) -> None:
        if self._run is not None:
            self._run.flush()

    def _step(self) -> int:
        return int(self.model.optimizer.iterations)


def _to_name(name: str) -> str:
    return f"val/{name[4:]}" if name.startswith("val_") else f"train/{name}"
