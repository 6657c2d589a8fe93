"""What each peer logs: so many metrics and steps as the run of svc has, of the same shape."""

import random
import sys

PARTS = ["train", "val", "optim", "perf"]
DIRECTORY, METRICS, STEPS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
NAMES = [f"{PARTS[index % len(PARTS)]}/metric_{index}" for index in range(METRICS)]


def value(step):
    return 10 / (1 + step / 50) + random.random()
