"""Where batches go: to the server, and what the server does not take to the offline folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from .notices import warn_once
from .offline import OfflineFolder
from .records import Batch, Points, Record
from .transport import Answer, Transport, Unreachable

WIRE = {
    "update": ("PATCH", ""),
    "metric": ("PUT", "/metric-definitions/"),
    "event": ("POST", "/events"),
    "checkpoint": ("POST", "/checkpoints"),
    "finish": ("POST", "/finish"),
}
# The server takes so many at once.
MAX_POINTS = 10_000
# A batch is all or nothing: one that is refused for its content is halved, this often at most, to find what is wrong.
MAX_SPLITS = 64


class TryLater(Exception):
    """The server cannot take the batch now; it may be sent again as it is."""

    def __init__(self, reason: str, after_s: float | None = None, is_server_fault: bool = False) -> None:
        super().__init__(reason)
        self.after_s = after_s
        self.is_server_fault = is_server_fault


class Refused(Exception):
    """Sending the same again would be refused again."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.message)
        self.status = answer.status


class ServerSink:
    """Sends the batches of one run. For the sender's thread alone, keep() excepted."""

    def __init__(self, transport: Transport, run_id: str, folder: OfflineFolder) -> None:
        self._transport = transport
        self._run_id = run_id
        self._folder = folder
        self.run_name: str | None = None  # as the server last told it

    @property
    def offline_path(self) -> Path:
        return self._folder.offline_path

    def send(self, batch: Batch) -> None:
        """Deliver the batch; what is refused is kept in the offline folder.

        Raises:
            TryLater: nothing is known to have arrived, and trying again is right.
        """
        if isinstance(batch, Record):
            self._send_record(batch)
        else:
            self._send_points(batch)

    def keep(self, batch: Batch) -> Path:
        """Write the batch to a disk instead; answers where it lies."""
        return self._folder.keep(batch)

    def close(self) -> None:
        self._transport.close()

    def after_fork(self) -> ServerSink:
        """The same sink with a connection of its own."""
        return ServerSink(self._transport.fresh(), self._run_id, self._folder)

    def _send_record(self, record: Record) -> None:
        method, suffix = WIRE[record.kind]
        try:
            answer = self._request(method, suffix + quote(record.name or ""), record.body, record.key)
            if record.kind == "update":
                self.run_name = answer.body.get("name")
            self._tell_kept(record, answer.body)
        except Refused as refusal:
            if record.kind == "finish" and refusal.status == 409:
                self._tell_ended(refusal)
            else:
                self._explain(record.kind, refusal, self._set_aside(record, refusal))

    def _send_points(self, points: Points) -> None:
        waiting, splits = points.split(MAX_POINTS), 0
        waiting.reverse()
        while waiting:
            part = waiting.pop()
            try:
                self._request("POST", "/metrics:batch", part.body())
            except Refused as refusal:
                if refusal.status in (413, 422) and part.size > 1 and splits < MAX_SPLITS:
                    splits += 1
                    waiting += reversed(part.halves())
                else:
                    self._explain("points", refusal, self._set_aside(part, refusal))

    def sign(self) -> bool:
        """Give a sign of life; False when the server wants none, as of a run that has ended."""
        try:
            answer = self._request("POST", "/alive", {})
        except TryLater:
            return True
        except Refused:
            return False
        return isinstance(answer.body, dict) and answer.body.get("status") == "RUNNING"

    def _tell_kept(self, record: Record, answer: Any) -> None:
        """Say what of ``init`` could not be had, because it was decided before."""
        kept = answer.get("kept") if isinstance(answer, dict) and "fill" in record.body else None
        if isinstance(kept, dict) and kept:
            stands = ", ".join(f"{field} {value!r}" for field, value in kept.items())
            warn_once(f"{self._run_id} kept", "this run keeps its %s, decided before init", stands)

    def _request(
        self, method: str, suffix: str, body: dict[str, Any] | bytes, idempotency_key: str | None = None
    ) -> Answer:
        try:
            answer = self._transport.request(method, f"/runs/{self._run_id}{suffix}", body, idempotency_key)
        except Unreachable as problem:
            raise TryLater(str(problem)) from problem
        raise_for_status(answer)
        return answer

    def _set_aside(self, batch: Batch, refusal: Refused) -> Path:
        """Keep what was refused for good; answers where it lies."""
        return self._folder.keep(batch)

    def _tell_ended(self, refusal: Refused) -> None:
        warn_once(f"{self._run_id} had ended", "the run had already ended: %s", refusal)

    def _explain(self, kind: str, refusal: Refused, place: Path) -> None:
        key = f"{self._run_id} refused {kind} {refusal.status}"
        warn_once(key, "the server refused %s (%s); kept in %s", kind, refusal, place)


def raise_for_status(answer: Answer) -> None:
    """
    Raises:
        TryLater: for 408, 429 and every 5xx, and for an answer below 400 that is none of svc.
        Refused: for every other status.
    """
    if answer.ok:
        return
    if answer.is_foreign or answer.status in (408, 429) or answer.status >= 500:
        raise TryLater(answer.message, answer.retry_after_s, is_server_fault=answer.status == 500)
    raise Refused(answer)
