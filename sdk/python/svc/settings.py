"""What the environment says: where the server is, which job this is, and the limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .notices import warn_once
from .server import find_server

MODES = ("online", "offline", "disabled")


@dataclass(frozen=True)
class Settings:
    mode: str
    url: str  # empty: no server is known, and none works on the local data directory
    console_url: str  # for people: in a container `url` may be an address that only the job can use, and keeps secret
    token: str
    job_id: str | None
    run_id: str | None
    attempt: int | None
    flush_timeout_s: float
    init_timeout_s: float
    queue_points: int
    spool_dir: Path | None
    spool_bytes: int
    is_quiet: bool
    all_ranks: bool


def load_settings(env: Mapping[str, str]) -> Settings:
    """Settings from environment variables; a value that makes no sense is warned about and its default taken."""
    server = find_server(env)
    return Settings(
        mode=_mode(env),
        url=server.url,
        console_url=env.get("SVC_CONSOLE_URL", "").strip().rstrip("/") or server.url,
        token=_checked_token(server.token),
        job_id=env.get("SVC_JOB_ID") or None,
        run_id=env.get("SVC_RUN_ID") or None,
        attempt=int(_number(env, "SVC_ATTEMPT", 0)) or None,
        flush_timeout_s=_number(env, "SVC_FLUSH_TIMEOUT_S", 10.0),
        init_timeout_s=_number(env, "SVC_INIT_TIMEOUT_S", 5.0),
        queue_points=max(1, int(_number(env, "SVC_QUEUE_POINTS", 100_000))),
        spool_dir=Path(env["SVC_SPOOL_DIR"]) if env.get("SVC_SPOOL_DIR") else None,
        spool_bytes=int(_number(env, "SVC_SPOOL_BYTES", 2**30)),
        is_quiet=_is_set(env, "SVC_QUIET"),
        all_ranks=_is_set(env, "SVC_ALL_RANKS"),
    )


def _mode(env: Mapping[str, str]) -> str:
    mode = env.get("SVC_MODE", "").strip().lower() or "online"
    if mode in MODES:
        return mode
    warn_once("SVC_MODE", "SVC_MODE=%s is not one of %s; using online", mode, ", ".join(MODES))
    return "online"


def _is_set(env: Mapping[str, str], name: str) -> bool:
    return env.get(name, "").strip().lower() not in ("", "0", "false", "no")


def _number(env: Mapping[str, str], name: str, default: float) -> float:
    text = env.get(name, "").strip()
    try:
        value = float(text) if text else default
    except ValueError:
        value = math.nan
    if math.isfinite(value) and value >= 0:
        return value
    warn_once(name, "%s=%s is not a number of at least 0; using %g", name, text, default)
    return default


def _checked_token(token: str) -> str:
    if token.isascii() and token.isprintable():
        return token
    warn_once("SVC_TOKEN", "SVC_TOKEN holds characters that no token has; going on without it")
    return ""
