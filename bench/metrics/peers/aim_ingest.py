"""python aim_ingest.py DIR POINTS CLIENT: tracks the points of one run, and prints how many seconds that took."""

import sys
import time

from aim import Repo, Run

directory, points, _client = sys.argv[1], int(sys.argv[2]), sys.argv[3]
NAMES = [f"train/metric_{index}" for index in range(20)]

Repo.from_path(directory, init=True)
run = Run(repo=directory, system_tracking_interval=None, log_system_params=False, capture_terminal_logs=False)
started = time.perf_counter()
for seq in range(points):
    run.track(10 / (1 + seq / 1e5), name=NAMES[seq % len(NAMES)], step=seq // len(NAMES))
run.close()
print(f"seconds {time.perf_counter() - started}")
