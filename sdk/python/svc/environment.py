"""The environment snapshot of a run. Cheap, and silent about what cannot be found out."""

from __future__ import annotations

import os
import platform
import re
import socket
import subprocess
import sys
from typing import Any

from .values import shorten
from .version import __version__

GIT_TIMEOUT_S = 1.0
MAX_ARGUMENT_CHARACTERS = 2000
MAX_ARGUMENTS = 100
_SECRET = re.compile(r"token(?!s|iz)|secret|passw|(api|private)[-_]?key|credential", re.IGNORECASE)


def environment_snapshot() -> dict[str, Any]:
    """Python, host, command line, and the commit of the script's repository when it has one."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "hostname": socket.gethostname(),
        "command": masked_command(getattr(sys, "orig_argv", None) or [sys.executable, *sys.argv]),
        "svc_sdk": __version__,
        **_git(_script_directory()),
    }


def is_secondary_rank() -> bool:
    """Whether this process is another than the first of a distributed training (the RANK that launchers set)."""
    return os.environ.get("RANK", "0").strip() not in ("", "0")


def masked_command(arguments: list[str]) -> list[str]:
    """The command line, with the value behind a flag whose name speaks of a secret replaced by ``***``."""
    masked: list[str] = []
    hides_next = False
    for argument in arguments[:MAX_ARGUMENTS]:
        flag, equals, _ = argument.partition("=")
        is_secret = flag.startswith("-") and bool(_SECRET.search(flag))
        if hides_next and not argument.startswith("-"):
            masked.append("***")
        else:
            masked.append(f"{flag}=***" if is_secret and equals else shorten(argument, MAX_ARGUMENT_CHARACTERS))
        hides_next = is_secret and not equals
    return masked


def _script_directory() -> str:
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.dirname(os.path.abspath(script)) if script else os.getcwd()


def _git(directory: str) -> dict[str, Any]:
    commit = _git_output(directory, "rev-parse", "HEAD")
    if commit is None:
        return {}
    changes = _git_output(directory, "status", "--porcelain", "--untracked-files=no")
    dirty = {} if changes is None else {"git_dirty": bool(changes)}
    return {"git_commit": commit, **dirty}


def _git_output(directory: str, *arguments: str) -> str | None:
    try:
        result = subprocess.run(
            ["git", *arguments],
            cwd=directory,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=GIT_TIMEOUT_S,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return result.stdout.strip() if result.returncode == 0 else None
