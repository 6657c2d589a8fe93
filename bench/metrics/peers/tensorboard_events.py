"""python tensorboard_events.py DIR POINTS: writes an event file with one scalar series."""

import sys
import time

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

directory, points = sys.argv[1], int(sys.argv[2])
writer = EventFileWriter(directory, max_queue_size=10_000)
for step in range(points):
    summary = Summary(value=[Summary.Value(tag="loss", simple_value=10 / (1 + step / 1e5))])
    writer.add_event(Event(wall_time=time.time(), step=step, summary=summary))
writer.close()
