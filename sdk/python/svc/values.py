"""Turns what a training hands over (tensors, dataclasses, nested dicts) into what JSON and the contract can carry."""

from __future__ import annotations

import argparse
import dataclasses
import enum
import json
import math
import operator
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from .notices import warn_once

MAX_NAME_CHARACTERS = 250
MAX_SAFE_INTEGER = 2**53 - 1
MAX_DEPTH = 20
# A larger array in a config is data: its text says what it is.
MAX_ARRAY_VALUES = 100_000
# The server takes bodies of 1 MiB.
MAX_OBJECT_BYTES = 512 * 1024
# What the server takes as the data of an event or the metadata of a checkpoint.
MAX_ATTACHED_BYTES = 64 * 1024
_CONTROL_CHARACTER = re.compile("[\x00-\x1f\x7f]")


def flatten(metrics: Mapping[Any, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """(name, value) pairs; the names of nested mappings are joined with ``/``."""
    for key, value in metrics.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and depth < MAX_DEPTH:
            yield from flatten(value, f"{name}/", depth + 1)
        else:
            yield name, value


@lru_cache(maxsize=4096)
def name_problem(name: str) -> str | None:
    """Why the server would refuse this metric name; None when it would not."""
    if not name:
        return "the name is empty"
    if len(name) > MAX_NAME_CHARACTERS:
        return f"the name is longer than {MAX_NAME_CHARACTERS} characters"
    if _CONTROL_CHARACTER.search(name):
        return "the name holds a control character"
    return None if _clean(name) == name else "the name is not valid Unicode"


def to_number(value: Any) -> float | None:
    """The value as a float: numbers, bools, scalars of numpy, torch and their kind. None for anything else."""
    if type(value) is float or type(value) is int:
        return _float(value)
    # .item() before float(): no warning for a tensor that requires grad.
    scalar = _scalar(value)
    return None if isinstance(scalar, (str, bytes, bytearray)) else _float(scalar)


def _scalar(value: Any) -> Any:
    try:
        return value.item() if hasattr(value, "item") else value
    except Exception:
        return None


def _item(value: Any) -> Any:
    """The one value in a scalar of numpy or torch; None when there is none, or more."""
    try:
        return value.item()
    except Exception:
        return None


def _entries(value: Any) -> Any:
    """An array of numpy or torch as nested lists, one without dimensions as its value. None: it is too large."""
    try:
        return value.tolist() if _count(value) <= MAX_ARRAY_VALUES else None
    except Exception:
        return None


def _count(array: Any) -> int:
    return int(array.numel() if hasattr(array, "numel") else getattr(array, "size", 0))


def _float(value: Any) -> float | None:
    try:
        return float(value)
    except Exception:
        return None


def to_integer(value: Any) -> int | None:
    """The value as a whole number within what JSON carries exactly (2**53 - 1); None when it is not one."""
    if isinstance(value, bool):
        return None
    try:
        return _safe(operator.index(value))
    except Exception:
        number = to_number(value)
        return _safe(int(number)) if number is not None and number.is_integer() else None


def _safe(whole: int) -> int | None:
    return whole if abs(whole) <= MAX_SAFE_INTEGER else None


def to_wire_number(value: float) -> float | str:
    """The number, or the contract's word for one that JSON cannot write."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def to_mapping(value: Any) -> dict[str, Any]:
    """The entries of a mapping, dataclass, namespace, config of another library or plain object, as they are."""
    value = _opened(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    if isinstance(value, argparse.Namespace):
        value = vars(value)
    if not isinstance(value, Mapping):
        value = getattr(value, "__dict__", None) or {"value": value}
    return {_text(key): item for key, item in value.items()}


def _opened(value: Any) -> Any:
    """What a config of omegaconf, pydantic or transformers holds, without importing them; anything else as it is."""
    if isinstance(value, type):
        return value
    try:
        if type(value).__module__.partition(".")[0] == "omegaconf":
            return _from_omegaconf(value)
        for name in ("model_dump", "to_dict"):
            dump = getattr(type(value), name, None)
            if dump is not None:
                return dump(value)
    except Exception:
        return value
    return value


def _from_omegaconf(value: Any) -> Any:
    to_container = sys.modules["omegaconf"].OmegaConf.to_container
    try:
        return to_container(value, resolve=True)
    except Exception:  # a value that is missing, or refers to one that is
        return to_container(value, resolve=False)


def to_object(value: Any) -> dict[str, Any]:
    """A mapping, dataclass, argparse namespace or plain object as a JSON object."""
    return {key: to_jsonable(item, 1) for key, item in to_mapping(value).items()}


def to_bounded_object(value: Any, what: str, max_bytes: int = MAX_OBJECT_BYTES) -> dict[str, Any] | None:
    """As to_object, but None, with a warning, for one too large for the server."""
    try:
        result = to_object(value)
        size_bytes = len(encode_json(result))
    except Exception as error:
        warn_once(f"unusable {what}", "%s is left out: reading it raised %s", what, type(error).__name__)
        return None
    if size_bytes <= max_bytes:
        return result
    warn_once(f"size of {what}", "%s is %d bytes of JSON, more than %d; left out", what, size_bytes, max_bytes)
    return None


def to_jsonable(value: Any, depth: int = 0) -> Any:
    """JSON that says the same as closely as it can; what has no JSON form becomes its text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return to_wire_number(float(value))
    if depth >= MAX_DEPTH:
        return _text(value)
    value = _opened(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = to_mapping(value)
    if isinstance(value, enum.Enum):
        return to_jsonable(value.value, depth + 1)
    if isinstance(value, Mapping):
        return {_text(key): to_jsonable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_jsonable(item, depth + 1) for item in value]
    entries = _entries(value) if hasattr(value, "tolist") else _item(value)
    return _text(value) if entries is None else to_jsonable(entries, depth + 1)


def to_texts(value: Any) -> list[str]:
    """A list of texts from one text or several, each once; nothing from what cannot be read."""
    try:
        values = [value] if isinstance(value, str) else list(value)
    except Exception:
        return []
    return list(dict.fromkeys(_text(item) for item in values))


def shorten(text: Any, limit: int) -> str:
    """The text in at most ``limit`` characters."""
    whole = _text(text)
    return whole if len(whole) <= limit else whole[: limit - 1] + "…"


def encode_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")


def _text(value: Any) -> str:
    try:
        return _clean(str(value))
    except Exception:
        return f"<{type(value).__name__}>"


def _clean(text: str) -> str:
    """Text that every store takes: no NUL, no lone surrogates."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
