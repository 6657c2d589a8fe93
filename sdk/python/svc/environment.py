"""The environment snapshot of a run: what it takes to tell later what ran. Silent about what cannot be found out.

What is cheap is taken by ``init``; the rest by the sender's thread, which needs no import for it: a fork meanwhile
would leave the child with half of one.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, Callable, NamedTuple

from .masking import mask_secrets, mask_text
from .notices import logger
from .values import encode_json, shorten
from .version import __version__

MAX_ARGUMENT_CHARACTERS = 2000
MAX_ARGUMENTS = 100
MAX_PACKAGES = 2000
MAX_DIFF_BYTES = 1_000_000
# The server takes bodies of 1 MiB, and the spool lines of that size.
MAX_SNAPSHOT_BYTES = 1024 * 1024 - 16 * 1024
# For all the programs that are asked, together.
PROGRAMS_TIMEOUT_S = 3.0
MAX_ANSWER_BYTES = 64 * 1024
# Of a repository's own settings none may start a program or a download.
GIT = ["git", "-c", "core.fsmonitor=false", "--no-pager"]
GIT_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
GIT_DIFF = ["diff", "HEAD", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short"]
GPU_FIELDS = "index,uuid,name,memory.total,driver_version"


class Printed(NamedTuple):
    """What a program printed: whole, or its first lines."""

    text: str
    size_bytes: int
    cut_bytes: int


def first_snapshot() -> dict[str, Any]:
    """What is known at once, secrets masked."""
    command = getattr(sys, "orig_argv", None) or [sys.executable, *sys.argv]
    masked: dict[str, Any] = mask_secrets(
        {
            "python": platform.python_version(),
            "hostname": socket.gethostname(),
            "command": [shorten(argument, MAX_ARGUMENT_CHARACTERS) for argument in command[:MAX_ARGUMENTS]],
            "working_dir": _working_directory(),
            "svc_sdk": __version__,
        }
    )
    return masked


def snapshot_completer() -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Adds to a body with a first snapshot what takes longer. Made by ``init``: a script may change directory later."""
    return partial(_with_whole_snapshot, _script_directory())


def _with_whole_snapshot(directory: str, body: dict[str, Any]) -> dict[str, Any]:
    try:
        return {**body, "environment": whole_snapshot(body["environment"], directory)}
    except Exception:  # a run is worth more than its snapshot
        logger.debug("svc: the environment snapshot is not complete", exc_info=True)
        return body


def whole_snapshot(first: dict[str, Any], directory: str) -> dict[str, Any]:
    """The first snapshot with platform, CUDA, GPUs, packages, and the commit and changes of the repository there.

    The changes are cut where the whole would be more than the server takes; ``diff_cut_bytes`` says by how much.
    """
    deadline = time.monotonic() + PROGRAMS_TIMEOUT_S
    found = {"platform": platform.platform(), "cuda": _cuda(), "gpu": _gpu(deadline), "packages": installed_packages()}
    snapshot = {**first, **{key: value for key, value in found.items() if value}}
    git = _git(directory, deadline)
    if git:
        snapshot["git"] = git
        _cut_diff(git, len(encode_json(snapshot)) - MAX_SNAPSHOT_BYTES)
    return snapshot


def installed_packages() -> list[str]:
    """``name==version`` of each distribution that this interpreter finds, by the names of its metadata folder."""
    versions: dict[str, str] = {}
    for name, version in _distributions():
        versions.setdefault(re.sub("[-_.]+", "-", name).lower(), version)
    named = sorted(f"{name}=={version}" if version else name for name, version in versions.items())
    return named[:MAX_PACKAGES]


def _distributions() -> Iterator[tuple[str, str]]:
    for directory in list(sys.path):
        try:
            names = os.listdir(directory or ".")
        except OSError:  # zipped, or not there
            continue
        for stem, suffix in map(os.path.splitext, names):
            if suffix in (".dist-info", ".egg-info"):
                name, version = [*stem.split("-"), ""][:2]
                yield name, version


def _cuda() -> str | None:
    """The CUDA that torch was built for, when the training has imported torch; else the one of the image."""
    version = getattr(getattr(sys.modules.get("torch"), "version", None), "cuda", None)
    return str(version) if version else os.environ.get("CUDA_VERSION")


def _gpu(deadline: float) -> dict[str, Any] | None:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible in ("", "-1") or shutil.which("nvidia-smi") is None:
        return None
    query = ["nvidia-smi", f"--query-gpu={GPU_FIELDS}", "--format=csv,noheader,nounits"]
    answer = _ask(query, os.getcwd(), deadline, MAX_ANSWER_BYTES)
    rows = [line.split(", ") for line in answer.text.splitlines()] if answer else []
    devices = [_to_device(*row[:4]) for row in rows if len(row) == len(GPU_FIELDS.split(","))]
    return {"driver": rows[0][-1], "visible": visible, "devices": devices} if devices else None


def _to_device(index: str, uuid: str, name: str, memory_mb: str) -> dict[str, Any]:
    memory_total_mb = int(memory_mb) if memory_mb.isdigit() else None
    return {"index": int(index), "uuid": uuid, "name": name, "memory_total_mb": memory_total_mb}


def _git(directory: str, deadline: float) -> dict[str, Any]:
    head = _ask([*GIT, "rev-parse", "HEAD", "--abbrev-ref", "HEAD"], directory, deadline, MAX_ANSWER_BYTES)
    if head is None:
        return {}
    commit, branch = [*head.text.split("\n"), ""][:2]
    changes = _ask([*GIT, *GIT_DIFF], directory, deadline, MAX_DIFF_BYTES)
    found: dict[str, Any] = {"commit": commit, "branch": None if branch == "HEAD" else branch}
    if changes is None:
        return found
    if changes.size_bytes == 0:
        return {**found, "dirty": False}
    diff = {"diff": mask_text(changes.text), "diff_bytes": changes.size_bytes, "diff_cut_bytes": changes.cut_bytes}
    return {**found, "dirty": True, **diff}


def _cut_diff(git: dict[str, Any], excess_bytes: int) -> None:
    """Takes so many bytes of JSON from the end of the diff, in whole lines."""
    while excess_bytes > 0 and git.get("diff"):
        encoded_bytes = len(encode_json(git["diff"]))
        kept = git["diff"][: int(len(git["diff"]) * max(0.0, 1 - excess_bytes / encoded_bytes))]
        kept = kept[: kept.rfind("\n") + 1]
        git["diff_cut_bytes"] += len(git["diff"].encode()) - len(kept.encode())
        git["diff"] = kept
        excess_bytes -= encoded_bytes - len(encode_json(kept))


def _ask(command: list[str], directory: str, deadline: float, limit_bytes: int) -> Printed | None:
    """What the program prints, of more than ``limit_bytes`` the first lines; None when it fails or is too slow.

    Through a file, not a pipe: a process that the training forks meanwhile could hold the other end of a pipe open.
    """
    try:
        with tempfile.TemporaryFile() as output:
            subprocess.run(
                command,
                cwd=directory,
                env={**os.environ, **GIT_ENVIRONMENT},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                timeout=max(0.0, deadline - time.monotonic()),
                check=True,
            )
            size_bytes = output.seek(0, os.SEEK_END)
            output.seek(0)
            content = output.read(limit_bytes)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    if size_bytes > limit_bytes:
        content = content[: content.rfind(b"\n") + 1]
    text = content.decode("utf-8", "replace").replace("\x00", "")
    return Printed(text, size_bytes, size_bytes - len(content))


def _script_directory() -> str:
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.dirname(os.path.abspath(script)) if script else _working_directory()


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it has been deleted
        return ""
