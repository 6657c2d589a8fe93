"""python write_trackio.py DIRECTORY METRICS STEPS: logs a run; TRACKIO_DIR says where to."""

import trackio
from scalars import NAMES, STEPS, value

trackio.init(project="bench", name="drawn")
for step in range(STEPS):
    trackio.log({name: value(step) for name in NAMES}, step=step)
trackio.finish()
