"""The records of what a training reports one by one: checkpoints, events, and what a metric means."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from typing import Any

from .checkpoint_size import with_size
from .masking import mask_secrets, mask_text
from .notices import warn_once
from .records import Record, now_ms
from .values import MAX_ATTACHED_BYTES, shorten, to_bounded_object

_MASKED_CHARACTERS = 64 * 1024
MAX_TITLE_CHARACTERS = 500
MAX_MESSAGE_CHARACTERS = 20_000
MAX_UNIT_CHARACTERS = 50


def to_checkpoint(path: Any, step: int | None, epoch: float | None, metadata: Mapping[str, Any] | None) -> Record:
    place = _absolute(path)
    body = {
        "path": _on_host(place),
        "step": step,
        "epoch": epoch,
        "metadata": _to_attached(metadata, "the metadata of a checkpoint"),
    }
    return Record("checkpoint", _without_none(body), now_ms(), complete=lambda body: with_size(body, place))


def to_event(title: str, message: str | None, severity: str, data: Mapping[str, Any] | None) -> Record:
    body = {
        "title": _to_text(title, MAX_TITLE_CHARACTERS) or "(no title)",
        "severity": severity,
        "message": None if message is None else _to_text(message, MAX_MESSAGE_CHARACTERS),
        "data": _to_attached(data, "the data of an event"),
    }
    return Record("event", _without_none(body), now_ms(), key=secrets.token_hex(16))


def to_definition(name: str, direction: str | None, unit: str | None, primary: bool | None) -> Record:
    body = {
        "direction": direction,
        "unit": None if unit is None else _to_text(unit, MAX_UNIT_CHARACTERS),
        "is_primary": None if primary is None else bool(primary),
    }
    return Record("metric", _without_none(body), now_ms(), name=name)


def _to_attached(value: Mapping[str, Any] | None, what: str) -> Any:
    return None if value is None else mask_secrets(to_bounded_object(value, what, MAX_ATTACHED_BYTES))


def _to_text(text: Any, max_characters: int) -> str:
    """The text without its secrets. It is masked before it is cut: half a secret has no form by which it is known."""
    return shorten(mask_text(shorten(text, _MASKED_CHARACTERS)), max_characters)


def _absolute(path: Any) -> str:
    """Without links: the agent, which sees the files from outside, knows the same checkpoint by the same path."""
    try:
        return os.path.realpath(os.fsdecode(path))
    except (TypeError, ValueError, OSError):
        return str(path)


def _on_host(path: str) -> str:
    """The path on the host of what lies in a mount of this container, by the innermost one.

    SVC_PATH_MAP has the source of each target.
    """
    try:
        given: dict[str, str] = json.loads(os.environ.get("SVC_PATH_MAP") or "{}")
        mounts = {os.path.realpath(target): source for target, source in given.items()}
        for target in sorted(mounts, key=len, reverse=True):
            if path == target or path.startswith(f"{target}/"):
                return mounts[target] + path[len(target) :]
    except (TypeError, ValueError, AttributeError):
        warn_once("path map", "SVC_PATH_MAP is not understood: paths are told as they are in the container")
    return path


def _without_none(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if value is not None}
