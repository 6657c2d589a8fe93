"""The bundled data set: 1797 handwritten digits of 8x8 pixels. Its source and licence are in data/ATTRIBUTION.md."""

from __future__ import annotations

import csv
import gzip
import random
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).resolve().parent / "data" / "digits.csv.gz"
PIXELS = 64
CLASSES = 10
BRIGHTEST = 16


class Digit(NamedTuple):
    pixels: list[float]  # 64 values from 0 to 1, row by row
    label: int  # 0 to 9


def load_digits() -> list[Digit]:
    with gzip.open(FILE, "rt", newline="") as file:
        return [to_digit(row) for row in csv.reader(file)]


def to_digit(row: list[str]) -> Digit:
    return Digit([float(value) / BRIGHTEST for value in row[:PIXELS]], int(float(row[PIXELS])))


def split_digits(digits: list[Digit], seed: int, validation_share: float = 0.2) -> tuple[list[Digit], list[Digit]]:
    """Training and validation digits, drawn at random, the same for the same seed."""
    shuffled = random.Random(f"split {seed}").sample(digits, len(digits))
    validation_count = round(len(digits) * validation_share)
    return shuffled[validation_count:], shuffled[:validation_count]


def batch_at(digits: list[Digit], step: int, size: int, seed: int) -> list[Digit]:
    """The batch of that step (from 1). Each epoch goes through all digits in an order of its own.

    It depends on nothing but its arguments: that is what lets a training go on exactly where it stopped.
    """
    steps_per_epoch = len(digits) // size
    epoch, place = divmod(step - 1, steps_per_epoch)
    order = random.Random(f"epoch {seed} {epoch}").sample(range(len(digits)), len(digits))
    return [digits[index] for index in order[place * size : (place + 1) * size]]
