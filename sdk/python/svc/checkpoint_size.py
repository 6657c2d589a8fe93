"""How large a checkpoint is: a file, or all files of a directory."""

from __future__ import annotations

import os
from typing import Any

from .notices import warn_once


def with_size(body: dict[str, Any], path: str) -> dict[str, Any]:
    """The body of a checkpoint with its size, in bytes, when there is something at the path."""
    size = _size_bytes(path)
    if size is None:
        message = "there is nothing at the checkpoint's path %s; it is registered without a size"
        warn_once(f"no checkpoint {path}", message, path)
        return body
    return {**body, "size": size}


def _size_bytes(path: str) -> int | None:
    if not os.path.isdir(path):
        return _file_size_bytes(path)
    files: list[str] = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
    return sum(_file_size_bytes(file) or 0 for file in files)


def _file_size_bytes(path: str) -> int | None:
    try:
        return os.path.getsize(path)
    except (OSError, ValueError):  # a path that no file can have: a NUL, or half a character, in it
        return None
