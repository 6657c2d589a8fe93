"""Reports a Hugging Face ``Trainer``: ``Trainer(..., callbacks=[SvcCallback()])``."""

from __future__ import annotations

import os
from typing import Any

from transformers import TrainerCallback  # type: ignore[import-not-found,unused-ignore]

from ..run import Run
from .shared_run import numbers_of, run_for

PARTS = ("eval", "test")


class SvcCallback(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """Reports what the Trainer logs, its arguments and the model's config as config, and each checkpoint that it saves.

    ``loss`` becomes ``train/loss``, ``eval_loss`` becomes ``eval/loss``. The run stays open behind the training, for
    what is evaluated later; the end of the process ends it.

    Args:
        run: the run to report to; left out, the current one, else one that ``svc.init`` begins at the start of the
            training.
        wishes: arguments of ``svc.init`` for that run.
    """

    def __init__(self, run: Run | None = None, **wishes: Any) -> None:
        self._given = run
        self._wishes = wishes
        self._run: Run | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_others: Any) -> None:
        run = self._begin(args, state)
        if run is not None:
            described: dict[str, Any] = getattr(getattr(model, "config", None), "to_dict", dict)()
            run.config.update({**described, **args.to_dict()})

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_others: Any) -> None:
        run = self._begin(args, state)
        if run is not None and logs:
            values = {_to_name(name): value for name, value in numbers_of(logs).items() if name != "epoch"}
            run.log(values, step=state.global_step, epoch=state.epoch)

    def on_save(self, args: Any, state: Any, control: Any, **_others: Any) -> None:
        run = self._begin(args, state)
        if run is not None:
            path = os.path.join(args.output_dir, f"checkpoint-{state.global_step}")
            run.checkpoint(path, step=state.global_step, epoch=state.epoch)

    def on_train_end(self, args: Any, state: Any, control: Any, **_others: Any) -> None:
        if self._run is not None:
            self._run.flush()

    def _begin(self, args: Any, state: Any) -> Run | None:
        """The run; None in other processes than the first."""
        if self._run is None and state.is_world_process_zero:
            max_steps = state.max_steps if state.max_steps > 0 else None
            wishes = {"name": getattr(args, "run_name", None), "max_steps": max_steps, **self._wishes}
            self._run = run_for(self._given, **wishes)
        return self._run


def _to_name(name: str) -> str:
    part, separator, rest = name.partition("_")
    return f"{part}/{rest}" if part in PARTS and separator else f"train/{name}"
