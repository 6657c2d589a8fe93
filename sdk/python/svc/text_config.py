"""Hyperparameters that a training writes as a text, by the rules of the agent for event files (docs/reporting.md)."""

from __future__ import annotations

import json
import re
from typing import Any

_TAG = re.compile(r"(hyper_?param(eter)?s|hparams|config|args|model_config)", re.IGNORECASE)
# A longer text is none of hyperparameters.
MAX_TEXT_BYTES = 256 * 1024
MAX_DEPTH = 20
_FENCE = re.compile(r"```\w*\n(.*)\n```", re.DOTALL)
# The line below the heads of a table of two columns.
_RULE = re.compile(r"\|? *:?-+:? *\| *:?-+:? *\|?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_WORDS = {"True": True, "False": False, "None": None}


def config_of_text(tag: str, text: str) -> dict[str, Any] | None:
    """Those of a markdown table of names and values, or of a JSON object; None for a text that is something else."""
    if not _TAG.fullmatch(tag) or len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
        return None
    stripped = text.strip()
    if stripped.startswith("|"):
        return _of_table(stripped)
    fenced = _FENCE.fullmatch(stripped)
    return _of_object(fenced[1] if fenced else stripped)


def _of_table(text: str) -> dict[str, Any] | None:
    lines = [line.strip() for line in text.split("\n")]
    if len(lines) < 2 or not _RULE.fullmatch(lines[1]):
        return None
    return dict(_entry(line) for line in lines[2:] if line.startswith("|"))


def _entry(row: str) -> tuple[str, Any]:
    """A value may have bars of its own."""
    inner = row[1:-1] if row.endswith("|") else row[1:]
    name, _, value = inner.partition("|")
    return _plain(name), _value(_plain(value))


def _plain(cell: str) -> str:
    text = cell.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "`" else text


def _value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if not _NUMBER.fullmatch(text):
        return text
    return int(text) if text.lstrip("+-").isdigit() and len(text) < 16 else float(text)


def _of_object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and _is_within(found, MAX_DEPTH) else None


def _is_within(value: Any, depth: int) -> bool:
    if not isinstance(value, (dict, list)):
        return True
    entries = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_within(entry, depth - 1) for entry in entries)
