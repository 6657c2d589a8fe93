"""python memory.py LOGS: logs 10 scalars so often to a server that goes away first; prints the resident memory in MB: before, the most while it logged."""

import json
import resource
import sys

import svc

NAMES = [f"train/metric_{index}" for index in range(10)]


def most_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


run = svc.init(name="memory", quiet=True)
run.flush()
before = most_mb()
print("READY", flush=True)
sys.stdin.readline()
for step in range(int(sys.argv[1])):
    run.log({name: 10 / (1 + step) for name in NAMES}, step=step)
print("TAKEN " + json.dumps([before, most_mb()]))
