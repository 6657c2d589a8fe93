"""What the SDK tells its user: through the logger ``svc``, by default warnings on stderr."""

from __future__ import annotations

import logging

logger = logging.getLogger("svc")
_told: set[str] = set()


def warn_once(key: str, message: str, *args: object) -> None:
    """Log a warning the first time this key is seen in this process."""
    if key not in _told:
        _told.add(key)
        logger.warning("svc: " + message, *args)


def forget() -> None:
    """Let every warning be given again."""
    _told.clear()
