"""Reports a training to svc: ``run = svc.init()``, then ``run.log``, ``run.checkpoint``, ``run.event``, ``run.finish``.

``svc.log``, ``svc.checkpoint``, ``svc.event`` and ``svc.finish`` are those of the current run. Nothing here blocks a
training on the network or raises because of it; see the package's README for what is promised.
"""

from .current import checkpoint, event, finish, log
from .disabled_run import DisabledRun
from .run import Run
from .start import init
from .version import __version__

__all__ = ["DisabledRun", "Run", "__version__", "checkpoint", "event", "finish", "init", "log"]
