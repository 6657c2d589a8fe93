"""python loop.py KIND ROUNDS STEPS: prints for each round how much longer logging 10 scalars makes steps of 1 ms, in percent, as JSON.

KIND `held`: the step is Python that never gives its lock away; `released`: it works outside of the lock, as torch does. Steps with and
without a log take turns by the hundred, so that both meet the same machine.
"""

import hashlib
import json
import statistics
import sys
import time

import svc

kind, rounds, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
NAMES = [f"train/metric_{index}" for index in range(10)]
STEP_S = 0.001
buffer = bytes(10_000_000)


def held(size):
    sum(range(size))


def released(size):
    hashlib.sha256(memoryview(buffer)[:size]).digest()


work = {"held": held, "released": released}[kind]


def seconds(count, size, run=None):
    started = time.perf_counter()
    for step in range(count):
        work(size)
        values = {name: 10 / (1 + step) for name in NAMES}
        if run is not None:
            run.log(values, step=step)
    return time.perf_counter() - started


size = 50_000
for _ in range(5):
    size = int(size * STEP_S * 200 / seconds(200, size))
run = svc.init(name="loop", quiet=True)
slower = []
for _ in range(rounds):
    plain, logging = [], []
    for _ in range(steps // 100):
        plain.append(seconds(100, size))
        logging.append(seconds(100, size, run))
    slower.append(100 * (statistics.median(logging) / statistics.median(plain) - 1))
run.finish()
print("TAKEN " + json.dumps(slower))
