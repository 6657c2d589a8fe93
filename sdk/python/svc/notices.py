"""What the SDK tells its user: warnings through the logger ``svc``, by default on stderr, and the link of a run."""

from __future__ import annotations

import contextlib
import logging
import sys

logger = logging.getLogger("svc")
_told: set[str] = set()


def warn_once(key: str, message: str, *args: object) -> None:
    """Log a warning the first time this key is seen in this process."""
    if key in _told:
        return
    _told.add(key)
    try:
        text = message % args
    except Exception:  # of an object that was handed over
        text = message
    logger.warning("svc: %s", text)


def tell(message: str) -> None:
    """One line for the person in front of the terminal."""
    with contextlib.suppress(Exception):  # there may be no stderr
        print(f"svc: {message}", file=sys.stderr, flush=True)


def forget() -> None:
    """Let every warning be given again."""
    _told.clear()
