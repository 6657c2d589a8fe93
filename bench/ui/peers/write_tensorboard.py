"""python write_tensorboard.py DIRECTORY METRICS STEPS: writes an event file."""

import time

from scalars import DIRECTORY, NAMES, STEPS, value
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

writer = EventFileWriter(DIRECTORY, max_queue_size=10_000)
for step in range(STEPS):
    values = [Summary.Value(tag=name, simple_value=value(step)) for name in NAMES]
    writer.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))
writer.close()
