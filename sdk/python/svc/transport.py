"""One kept-alive HTTP connection to the server. Knows HTTP and JSON, and nothing of runs or retries."""

from __future__ import annotations

import encodings.idna  # noqa: F401  (looking up a host imports it: a fork meanwhile would leave the child half of it)
import http.client
import io
import json
import socket
import time
from functools import partial
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
        """Whether svc has taken it. It answers with an object; a login page of a network, or a proxy, does not."""
        return 200 <= self.status < 300 and isinstance(self.body, dict)

    @property
    def is_foreign(self) -> bool:
        """A page, or the way to one: neither taken nor refused by svc."""
        return self.status < 400 and not self.ok

    @property
    def message(self) -> str:
        """The reason the server gives."""
        if self.is_foreign:
            return f"what answers there with {self.status} is not svc"
        error = self.body.get("error") if isinstance(self.body, dict) else None
        text = error.get("message") if isinstance(error, dict) else None
        return f"{self.status} {text or http.client.responses.get(self.status, '')}".strip()


class Transport:
    """Sends JSON requests under ``url``/api/v1 with a bearer token. For one thread at a time.

    A request and its whole answer may take ``timeout_s``. What cannot be cut short in making a connection is the lookup
    of the host's name; each address that it has, and the handshake of TLS, is given up after ``timeout_s``.
    """

    def __init__(self, url: str, token: str, timeout_s: float = 10.0) -> None:
        self.url = url
        self.token = token
        self._timeout_s = timeout_s
        self._connection: http.client.HTTPConnection | None = None
        self._used_at = 0.0

    def request(
        self, method: str, path: str, body: dict[str, Any] | bytes, idempotency_key: str | None = None
    ) -> Answer:
        """The server's answer, whatever its status. The body is an object, or the JSON of one.

        Raises:
            Unreachable: when there is none; the request may still have been carried out.
        """
        payload = body if isinstance(body, bytes) else encode_json(body)
        deadline = time.monotonic() + self._timeout_s
        try:
            connection = self._ready_connection(deadline)
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

    def _ready_connection(self, deadline: float) -> http.client.HTTPConnection:
        """Connected, for one request that must have its answer by the deadline."""
        if time.monotonic() - self._used_at > MAX_IDLE_S:
            self.close()
        if self._connection is None:
            self._connection = _to_connection(self.url, self._timeout_s)
        connection = self._connection
        if connection.sock is None:
            connection.connect()
        _allow_until(deadline, connection.sock)
        connection.response_class = partial(_TimedResponse, deadline)  # type: ignore[assignment]
        return connection

    def _prefix(self) -> str:
        return urlsplit(self.url).path + API

    def _headers(self, idempotency_key: str | None) -> dict[str, str]:
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "User-Agent": f"svc-sdk-python/{__version__}",
        }
        return headers if idempotency_key is None else {**headers, "Idempotency-Key": idempotency_key}


class _TimedResponse(http.client.HTTPResponse):
    """An answer that must be whole by the deadline."""

    def __init__(self, deadline: float, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_TimedInput(self.fp.detach(), sock, deadline))


class _TimedInput(io.RawIOBase):
    """What a socket receives by the deadline: its own timeout begins anew with every byte that comes."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, deadline: float) -> None:
        self._raw = raw
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        _allow_until(self._deadline, self._sock)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _allow_until(deadline: float, sock: socket.socket) -> None:
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise TimeoutError("timed out")
    sock.settimeout(left_s)


def _to_connection(url: str, timeout_s: float) -> http.client.HTTPConnection:
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
