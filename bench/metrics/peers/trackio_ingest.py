"""python trackio_ingest.py DIR POINTS CLIENT: logs the points of one run, 20 metrics a call, and prints how many seconds that took."""

import sys
import time

import trackio

_directory, points, client = sys.argv[1], int(sys.argv[2]), sys.argv[3]
NAMES = [f"train/metric_{index}" for index in range(20)]

trackio.init(project="bench", name=f"client-{client}")
started = time.perf_counter()
for step in range(points // len(NAMES)):
    trackio.log({name: 10 / (1 + step / 1e4) for name in NAMES}, step=step)
trackio.finish()
print(f"seconds {time.perf_counter() - started}")
