"""What the environment says: where the server is, which job this is, and the limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from .notices import warn_once

DEFAULT_URL = "http://127.0.0.1:8600"
MODES = ("online", "offline", "disabled")
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Settings:
    mode: str
    url: str
    token: str
    job_id: str | None
    run_id: str | None
    attempt: int | None
    flush_timeout_s: float
    init_timeout_s: float
    queue_points: int
    spool_dir: Path | None
    spool_bytes: int


def load_settings(env: Mapping[str, str]) -> Settings:
    """Settings from environment variables; a value that makes no sense is warned about and its default taken."""
    url = env.get("SVC_URL", "").strip().rstrip("/") or DEFAULT_URL
    return Settings(
        mode=_mode(env),
        url=url,
        token=_token(env, url),
        job_id=env.get("SVC_JOB_ID") or None,
        run_id=env.get("SVC_RUN_ID") or None,
        attempt=int(_number(env, "SVC_ATTEMPT", 0)) or None,
        flush_timeout_s=_number(env, "SVC_FLUSH_TIMEOUT_S", 10.0),
        init_timeout_s=_number(env, "SVC_INIT_TIMEOUT_S", 5.0),
        queue_points=max(1, int(_number(env, "SVC_QUEUE_POINTS", 100_000))),
        spool_dir=Path(env["SVC_SPOOL_DIR"]) if env.get("SVC_SPOOL_DIR") else None,
        spool_bytes=int(_number(env, "SVC_SPOOL_BYTES", 2**30)),
    )


def _mode(env: Mapping[str, str]) -> str:
    mode = env.get("SVC_MODE", "").strip().lower() or "online"
    if mode in MODES:
        return mode
    warn_once("SVC_MODE", "SVC_MODE=%s is not one of %s; using online", mode, ", ".join(MODES))
    return "online"


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


def _token(env: Mapping[str, str], url: str) -> str:
    token = env.get("SVC_TOKEN", "").strip()
    # The token file is the local server's: it must never travel to another host.
    if not token and _host(url) in LOOPBACK_HOSTS:
        token = _token_of_local_server(env)
    if token.isascii() and token.isprintable():
        return token
    warn_once("SVC_TOKEN", "SVC_TOKEN holds characters that no token has; going on without it")
    return ""


def _token_of_local_server(env: Mapping[str, str]) -> str:
    data_dir = env.get("SVC_DATA_DIR") or "~/.svc"
    try:
        return (Path(data_dir).expanduser() / "token").read_text("utf-8").strip()
    except (OSError, ValueError, RuntimeError):
        return ""


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
