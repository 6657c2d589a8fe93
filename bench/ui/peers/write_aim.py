"""python write_aim.py DIRECTORY METRICS STEPS: tracks a run, and prints its hash."""

from aim import Repo, Run
from scalars import DIRECTORY, NAMES, STEPS, value

Repo.from_path(DIRECTORY, init=True)
run = Run(repo=DIRECTORY, system_tracking_interval=None, log_system_params=False, capture_terminal_logs=False)
for step in range(STEPS):
    for name in NAMES:
        run.track(value(step), name=name, step=step)
run.close()
print(f"address /runs/{run.hash}/metrics")
