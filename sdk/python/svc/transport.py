"""One kept-alive HTTP connection to the server. Knows HTTP and JSON, and nothing of runs or retries."""

from __future__ import annotations

import encodings.idna  # noqa: F401  (looking up a host imports it: a fork meanwhile would leave the child half of it)
import http.client
import json
import time
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from .values import encode_json
from .version import __version__

API = "/api/v1"
# Below the keep-alive time of common servers and proxies (5 s), so that a request never goes into a closing connection.
MAX_IDLE_S = 3.0


class Unreachable(Exception):
    """No answer came: refused, cut, timed out, or not HTTP."""


class Answer(NamedTuple):
    status: int
    body: Any  # the JSON of the answer; None when it is not JSON
    retry_after_s: float | None

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def message(self) -> str:
        """The reason the server gives."""
        error = self.body.get("error") if isinstance(self.body, dict) else None
        text = error.get("message") if isinstance(error, dict) else None
        return f"{self.status} {text or http.client.responses.get(self.status, '')}".strip()


class Transport:
    """Sends JSON requests under ``url``/api/v1 with a bearer token. For one thread at a time."""

    def __init__(self, url: str, token: str, timeout_s: float = 10.0) -> None:
        self.url = url
        self.token = token
        self._timeout_s = timeout_s
        self._connection: http.client.HTTPConnection | None = None
        self._used_at = 0.0

    def request(self, method: str, path: str, body: dict[str, Any], idempotency_key: str | None = None) -> Answer:
        """The server's answer, whatever its status.

        Raises:
            Unreachable: when there is none; the request may still have been carried out.
        """
        payload = encode_json(body)
        try:
            connection = self._ready_connection()
            connection.request(method, self._prefix() + path, payload, self._headers(idempotency_key))
            answer = _read(connection.getresponse())
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise Unreachable(str(error) or type(error).__name__) from error
        self._used_at = time.monotonic()
        return answer

    def fresh(self, timeout_s: float | None = None) -> Transport:
        """The same server and token over a connection of its own, with its own patience if given one."""
        return Transport(self.url, self.token, self._timeout_s if timeout_s is None else timeout_s)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _ready_connection(self) -> http.client.HTTPConnection:
        if time.monotonic() - self._used_at > MAX_IDLE_S:
            self.close()
        if self._connection is None:
            self._connection = _connect(self.url, self._timeout_s)
        return self._connection

    def _prefix(self) -> str:
        return urlsplit(self.url).path + API

    def _headers(self, idempotency_key: str | None) -> dict[str, str]:
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "User-Agent": f"svc-sdk-python/{__version__}",
        }
        return headers if idempotency_key is None else {**headers, "Idempotency-Key": idempotency_key}


def _connect(url: str, timeout_s: float) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url} is not an http or https address")
    is_secure = parts.scheme == "https"
    connect = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
    return connect(parts.hostname, parts.port, timeout=timeout_s)


def _read(response: http.client.HTTPResponse) -> Answer:
    content = response.read()
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    return Answer(response.status, body, _seconds(response.headers.get("Retry-After")))


def _seconds(text: str | None) -> float | None:
    return float(text) if text and text.strip().isdigit() else None
