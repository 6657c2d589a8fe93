"""Checkpoints as checkpoints/checkpoint-<step>/network.json in the working directory."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from network import Network

DIRECTORY = Path("checkpoints")
FILE = "network.json"


class Checkpoint(NamedTuple):
    step: int
    settings: dict  # those that decide how the training goes
    network: Network


def save_checkpoint(checkpoint: Checkpoint) -> Path:
    """The directory written. The file appears under its name only when it is complete, so none is ever read half."""
    directory = DIRECTORY / f"checkpoint-{checkpoint.step}"
    directory.mkdir(parents=True, exist_ok=True)
    partial = directory / f"{FILE}.partial"
    with open(partial, "w", encoding="utf-8") as file:
        json.dump({**checkpoint._asdict(), "network": asdict(checkpoint.network)}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, directory / FILE)
    return directory


def load_latest_checkpoint() -> Checkpoint | None:
    """The one written last; None when there is none."""
    files = list(DIRECTORY.glob(f"checkpoint-*/{FILE}"))
    if not files:
        return None
    latest = max(files, key=lambda file: (file.stat().st_mtime_ns, step_of(file)))
    content = json.loads(latest.read_text("utf-8"))
    return Checkpoint(content["step"], content["settings"], Network(**content["network"]))


def step_of(file: Path) -> int:
    return int(file.parent.name.rpartition("-")[2])
