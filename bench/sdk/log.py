"""python log.py TRACKER CALLS PAUSE_S: prints how many microseconds each call took that logs 10 scalars, as JSON."""

import importlib
import json
import os
import sys
import time

tracker, calls, pause_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
NAMES = [f"train/metric_{index}" for index in range(10)]


def svc():
    run = importlib.import_module("svc").init(name="bench", quiet=True)
    return lambda values, step: run.log(values, step=step), run.finish


def wandb():
    library = importlib.import_module("wandb")
    run = library.init(mode="offline", project="bench", settings=library.Settings(silent=True))
    return lambda values, step: run.log(values, step=step), run.finish


def mlflow():
    library = importlib.import_module("mlflow")
    library.set_tracking_uri(f"sqlite:///{os.getcwd()}/mlflow.db")
    library.start_run()
    return lambda values, step: library.log_metrics(values, step=step), library.end_run


def trackio():
    library = importlib.import_module("trackio")
    library.init(project="bench")
    return lambda values, step: library.log(values, step=step), library.finish


def tensorboardX():
    writer = importlib.import_module("tensorboardX").SummaryWriter("runs")

    def log(values, step):
        for name, value in values.items():
            writer.add_scalar(name, value, step)

    return log, writer.close


log, finish = globals()[tracker]()
taken = []
for step in range(calls):
    values = {name: 10 / (1 + step + index) for index, name in enumerate(NAMES)}
    started = time.perf_counter_ns()
    log(values, step)
    taken.append((time.perf_counter_ns() - started) / 1000)
    time.sleep(pause_s)
print("TAKEN " + json.dumps(taken))
sys.stdout.flush()
finish()
