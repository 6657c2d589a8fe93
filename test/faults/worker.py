"""One job of the fault suite: does what its plan (JSON, the one argument) says, and writes down what it did itself.

Every process of the job appends to the journal, one line of JSON per event, so that what the server says of it can be held against what
it was: start, beat (it lives), lines (how many it is about to print and has printed, per stream), points, end (the code it is about to
exit with). start and end are on the disk before it goes on.
"""

import json
import logging
import os
import signal
import sys
import time

plan = json.loads(sys.argv[1])
journal = os.open(plan["journal"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
about = {
    "job": os.environ["SVC_JOB_ID"],
    "attempt": int(os.environ["SVC_ATTEMPT"]),
    "node": os.environ["SVC_NODE_ID"],
    "gpus": [int(index) for index in os.environ["CUDA_VISIBLE_DEVICES"].split(",") if index],
}


def note(event, durable=False, **facts):
    at = {"mono_ms": time.monotonic() * 1000, "wall_ms": time.time() * 1000}
    entry = {"event": event, "pid": os.getpid(), **about, **at, **facts}
    os.write(journal, (json.dumps(entry) + "\n").encode())
    if durable:
        os.fsync(journal)


def write_all(fd, data):
    """The whole of it, however often the disk refuses."""
    while data:
        try:
            data = data[os.write(fd, data):]
        except OSError as error:
            note("refused", errno=error.errno)
            time.sleep(0.05)


def print_lines(first, behind):
    note("lines", intended=behind, printed=first)
    mark = f"{about['node']} {about['attempt']}"
    for fd, name in ((1, "o"), (2, "e")):
        write_all(fd, "".join(f"{name} {mark} {number} {'x' * (number % 40)}\n" for number in range(first, behind)).encode())
    note("lines", intended=behind, printed=behind)


def sleep_beating(seconds):
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, 0.05))
        note("beat", role=role)


def leave_grandchild():
    """A process that wants to stay: in a session of its own, deaf to SIGTERM, with or without a parent."""
    if os.fork() != 0:
        return
    os.setsid()
    if plan["grandchild"] == "double-fork" and os.fork() != 0:
        os._exit(0)
    global role
    role = "grandchild"
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    note("start", durable=True, role=role)
    sleep_beating(plan["grandchild_s"])
    note("end", durable=True, role=role, code=0)
    os._exit(0)


class ToJournal(logging.Handler):
    """What the SDK warns about; on stderr it would stand between the numbered lines."""

    def emit(self, record):
        note("sdk", text=record.getMessage())


def start_run():
    sys.path.insert(0, plan["sdk"])
    import svc

    logging.getLogger("svc").addHandler(ToJournal())

    return svc.init(max_steps=plan["steps"])


role = "main"
note("start", durable=True, role=role)
if plan["ignores_term"]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if plan["grandchild"]:
    leave_grandchild()
run = start_run() if plan["points_per_step"] else None
points = 0
for step in range(plan["steps"]):
    print_lines(step * plan["lines_per_step"], (step + 1) * plan["lines_per_step"])
    for _ in range(plan["points_per_step"]):
        note("points", logged=points + 1)
        run.log({"number": points * 3}, step=points)
        points += 1
    if run is not None and step % 4 == 3 and run.flush(0.5):
        note("points", flushed=points)
    sleep_beating(plan["step_s"])
if run is not None and run.flush():
    note("points", flushed=points)
if plan["partial_last_line"]:
    write_all(1, b"o the end without a newline")
note("end", durable=True, role=role, code=plan["exit"])
if plan["exit"] < 0:
    if -plan["exit"] != signal.SIGKILL:
        signal.signal(-plan["exit"], signal.SIG_DFL)
    os.kill(os.getpid(), -plan["exit"])
    time.sleep(60)
os._exit(plan["exit"])
