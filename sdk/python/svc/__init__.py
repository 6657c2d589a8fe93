"""Reports a training to svc: ``run = svc.init()``, then ``run.log``, ``run.checkpoint``, ``run.event``, ``run.finish``.

Nothing here blocks a training on the network or raises because of it; see the package's README for what is promised.
"""

from .run import DisabledRun, Run
from .start import init
from .version import __version__

__all__ = ["DisabledRun", "Run", "__version__", "init"]
