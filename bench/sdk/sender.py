"""python sender.py CALLS: prints the µs of processor time in which the SDK's thread checks, writes down and sends 1000 points, as JSON.

The training logs 10 scalars each ms. Unlike the time that a training takes, this hardly depends on what else the machine does.
"""

import json
import sys
import threading
import time

import svc

calls = int(sys.argv[1])
NAMES = [f"train/metric_{index}" for index in range(10)]
run = svc.init(name="sender", quiet=True)
(sender,) = (thread for thread in threading.enumerate() if thread.name == "svc-sender")
clock = time.pthread_getcpuclockid(sender.ident)


def log(count, first):
    for step in range(first, first + count):
        run.log({name: 10 / (1 + step + index) for index, name in enumerate(NAMES)}, step=step)
        time.sleep(0.001)
    run.flush()


log(500, 0)
before = time.clock_gettime(clock)
log(calls, 500)
taken = time.clock_gettime(clock) - before
run.finish()
print("TAKEN " + json.dumps([1e9 * taken / (calls * len(NAMES))]))
