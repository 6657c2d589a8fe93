"""Which server is meant, and with which token: the order that the command line, the agent and the SDKs share."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from .notices import warn_once

DEFAULT_PORTS = {"http": 80, "https": 443}
OF_OTHERS = 0o077


@dataclass(frozen=True)
class Server:
    """An address, and the token that belongs to it. The address is empty when no server is known."""

    url: str = ""
    token: str = field(default="", repr=False)


def find_server(env: Mapping[str, str]) -> Server:
    """The server that the environment names, else that of the current profile, else the one that runs here.

    A token of a profile, of a data directory, or beside SVC_URL goes to the address that it is for, and to no other.
    """
    found = _find(env)
    url = found.url.strip().rstrip("/")
    token = env.get("SVC_TOKEN", "").strip()
    if token and not _is_same(env.get("SVC_URL", "").strip() or url, url):
        token = ""
    return Server(url, token or found.token or (_saved_token(env, url) if url else ""))


def _find(env: Mapping[str, str]) -> Server:
    url = env.get("SVC_URL", "").strip()
    if url:
        return Server(url)
    name = env.get("SVC_PROFILE", "").strip()
    if name:
        return _named_profile(env, name)
    if env.get("SVC_DATA_DIR", "").strip():
        return _local_server(env)
    current, profiles = _profiles(env)
    return profiles.get(current, Server()) if current in profiles else _local_server(env)


def _named_profile(env: Mapping[str, str], name: str) -> Server:
    _current, profiles = _profiles(env)
    if name not in profiles:
        warn_once("SVC_PROFILE", "there is no profile %s; svc login URL --profile %s makes it", name, name)
    return profiles.get(name, Server())


def _saved_token(env: Mapping[str, str], url: str) -> str:
    current, profiles = _profiles(env)
    servers = [profiles.get(current, Server()), *profiles.values(), _local_server(env)]
    return next((server.token for server in servers if server.token and _is_same(server.url, url)), "")


def _profiles(env: Mapping[str, str]) -> tuple[str, dict[str, Server]]:
    """The name of the current profile, and what ``svc login`` has saved by name."""
    try:
        path = _config_home(env) / "svc" / "profiles.json"
        with open(path, encoding="utf-8") as file:
            _check_mode(path, os.fstat(file.fileno()).st_mode)
            content = json.load(file)
        profiles = {name: Server(str(one["url"]), str(one["token"])) for name, one in content["profiles"].items()}
        return str(content.get("current") or ""), profiles
    except (FileNotFoundError, NotADirectoryError, RuntimeError):  # RuntimeError: there is no home directory
        return "", {}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as problem:
        warn_once("profiles", "the profiles of svc login cannot be read (%s); going on without them", problem)
        return "", {}


def _check_mode(path: Path, mode: int) -> None:
    if os.name == "posix" and stat.S_IMODE(mode) & OF_OTHERS:
        warn_once("profiles.mode", "other users of this host may read the tokens in %s: run chmod 600 %s", path, path)


def _config_home(env: Mapping[str, str]) -> Path:
    given = Path(env.get("XDG_CONFIG_HOME") or "")
    return given if given.is_absolute() else Path("~/.config").expanduser()


def _local_server(env: Mapping[str, str]) -> Server:
    """The server that works on the local data directory now, with the token that it left there; empty without one."""
    try:
        directory = Path(env.get("SVC_DATA_DIR") or "~/.svc").expanduser()
        server = json.loads((directory / "server.json").read_text("utf-8"))
        if _start_ticks(server["pid"]) != server["start_ticks"]:
            return Server()
        return Server(str(server["url"]), _token_in(directory))
    except (OSError, ValueError, RuntimeError, LookupError, TypeError):
        return Server()


def _token_in(directory: Path) -> str:
    try:
        return (directory / "token").read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""


def _start_ticks(pid: int) -> int:
    """When the process started, in clock ticks since boot: a later process may have the same pid."""
    stat_line = Path(f"/proc/{int(pid)}/stat").read_text("latin-1")
    return int(stat_line[stat_line.rindex(")") + 2 :].split()[19])


def _is_same(url: str, other: str) -> bool:
    return url == other or (_address(url) is not None and _address(url) == _address(other))


def _address(url: str) -> tuple[str, str, int, str] | None:
    """The address in one spelling; None for what is no address of a server."""
    try:
        parts = urlsplit(url)
        port = parts.port or DEFAULT_PORTS[parts.scheme]
    except (ValueError, LookupError):
        return None
    return parts.scheme, parts.hostname or "", port, parts.path.rstrip("/")
