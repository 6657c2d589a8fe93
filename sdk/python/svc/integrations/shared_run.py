"""Which run an integration reports to."""

from __future__ import annotations

from typing import Any

from .. import current
from ..run import Run
from ..start import init


def run_for(run: Run | None, **wishes: Any) -> Run:
    """The run that was given, else the current one of this process, else a new one by the arguments of ``svc.init``."""
    return run or current.find_open() or init(**wishes)


def numbers_of(values: dict[str, Any]) -> dict[str, Any]:
    """Without texts and None, which frameworks log beside numbers."""
    return {name: value for name, value in values.items() if value is not None and not isinstance(value, str)}
