"""The event of an exception that ends a training, or a cell of a notebook."""

from __future__ import annotations

import traceback
from types import TracebackType

from .masking import mask_text
from .records import Record
from .reports import MAX_MESSAGE_CHARACTERS, to_event

# A text of any length can hang on an exception.
MOST_MASKED_CHARACTERS = 256 * 1024


def to_failure_event(error: BaseException, trace: TracebackType | None) -> Record:
    """Critical, with the end of the traceback as the message: the innermost frames and the exception."""
    text = "".join(traceback.format_exception(type(error), error, trace)).rstrip()
    kind = type(error).__name__
    title = traceback.format_exception_only(type(error), error)[-1].strip().splitlines() or [kind]
    message = mask_text(text[-MOST_MASKED_CHARACTERS:])[-MAX_MESSAGE_CHARACTERS:]
    return to_event(title[0], message, "critical", {"exception": kind})
