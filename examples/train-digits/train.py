#!/usr/bin/env python3
"""Trains a small network on handwritten digits in plain Python and reports to svc. See README.md."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from checkpoints import Checkpoint, load_latest_checkpoint, save_checkpoint
from digits import batch_at, load_digits, split_digits
from network import create_network, descend, evaluate, loss_and_gradients

try:
    import svc
except ImportError:  # not installed: the one of this repository
    sys.path.append(str(Path(__file__).resolve().parents[2] / "sdk" / "python"))
    import svc

SETTINGS = ("steps", "seed", "lr", "batch_size", "hidden")
WARM_UP_STEPS = 20


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--steps", type=positive, default=400, help="steps to train, each on one batch")
    parser.add_argument("--seed", type=int, default=0, help="decides the split, the first weights and the batches")
    parser.add_argument("--lr", type=float, default=0.5, help="highest learning rate, reached after the warm-up")
    parser.add_argument("--batch-size", type=positive, default=32, help="digits in a batch")
    parser.add_argument("--hidden", type=positive, default=32, help="units in the hidden layer")
    parser.add_argument("--eval-every", type=positive, default=10, help="steps between two validations")
    parser.add_argument("--checkpoint-every", type=positive, default=50, help="steps between two checkpoints")
    parser.add_argument("--pace-ms", type=float, default=140, help="least time a step takes, so that one can watch")
    return parser.parse_args(arguments)


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def learning_rate(step: int, steps: int, highest: float) -> float:
    """Rises in a line over the warm-up, then falls along a cosine to nearly 0 at the last step."""
    return highest * min(1.0, step / WARM_UP_STEPS) * (0.5 + 0.5 * math.cos(math.pi * (step - 1) / steps))


def begin_or_resume(settings: dict) -> Checkpoint:
    """The latest checkpoint of a training with these settings that was not finished, or a new network at step 0."""
    latest = load_latest_checkpoint()
    if latest is not None and latest.settings == settings and latest.step < settings["steps"]:
        print(f"resuming after step {latest.step}", flush=True)
        return latest
    return Checkpoint(0, settings, create_network(settings["hidden"], settings["seed"]))


def train(options: argparse.Namespace, run: svc.Run) -> float:
    """Train to the last step; the validation accuracy reached."""
    settings = {name: getattr(options, name) for name in SETTINGS}
    training, validation = split_digits(load_digits(), options.seed)
    first, _, network = begin_or_resume(settings)
    accuracy = report(run, options, first, evaluate(network, validation), {})
    recent: list[float] = []
    for step in range(first + 1, options.steps + 1):
        started = time.monotonic()
        rate = learning_rate(step, options.steps, options.lr)
        batch = batch_at(training, step, options.batch_size, options.seed)
        loss, batch_accuracy, gradients = loss_and_gradients(network, batch)
        descend(network, gradients, rate)
        recent.append(batch_accuracy)
        run.log({"train/loss": loss, "lr": rate}, step=step, epoch=step * options.batch_size / len(training))
        if is_due(step, options.eval_every, options):
            accuracy = report(run, options, step, evaluate(network, validation), {"train/accuracy": fmean(recent)})
            recent.clear()
        if is_due(step, options.checkpoint_every, options):
            run.checkpoint(save_checkpoint(Checkpoint(step, settings, network)), step=step)
        time.sleep(max(0.0, options.pace_ms / 1000 - (time.monotonic() - started)))
    return accuracy


def is_due(step: int, every: int, options: argparse.Namespace) -> bool:
    return step % every == 0 or step == options.steps


def report(
    run: svc.Run, options: argparse.Namespace, step: int, validation: tuple[float, float], training: dict[str, float]
) -> float:
    """Log and print how it goes; the validation accuracy."""
    loss, accuracy = validation
    metrics = {"val/loss": loss, "val/accuracy": accuracy, **training}
    run.log(metrics, step=step)
    figures = "  ".join(f"{name} {value:.4f}" for name, value in metrics.items())
    print(f"step {step:4d}/{options.steps}  {figures}", flush=True)
    return accuracy


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_options(arguments)
    with svc.init(
        project="examples",
        experiment="train-digits",
        config=vars(options),
        max_steps=options.steps,
        tags=["example"],
    ) as run:
        accuracy = train(options, run)
        run.event("training finished", message=f"validation accuracy {accuracy:.4f}", data={"val/accuracy": accuracy})
        print(f"finished: validation accuracy {accuracy:.4f}", flush=True)


if __name__ == "__main__":
    main()
