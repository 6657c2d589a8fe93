"""The offline folder of a run: JSON lines in the shape of the requests they stand for, for a later import."""

from __future__ import annotations

import json
import os
import re
import secrets
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .notices import warn_once
from .records import Batch, Record
from .values import encode_json

FORMAT = "svc-offline/1"
FILES = {
    "points": "points.jsonl",
    "event": "events.jsonl",
    "checkpoint": "checkpoints.jsonl",
    "metric": "metrics.jsonl",
}


class OfflineFolder:
    """Made when first written to. Never raises: a disk that takes nothing is warned about once.

    Several processes may write into one folder: every batch is one appending write.
    """

    run_name: str | None = None  # no server tells it

    def __init__(self, path: Path, metadata: dict[str, Any]) -> None:
        self.offline_path = path
        self._metadata = {"format": FORMAT, **metadata}
        self._has_metadata = False
        self._lock = threading.RLock()

    def send(self, batch: Batch) -> None:
        """Write the batch down; the batch is dealt with whether or not the disk took it."""
        self.keep(batch)

    def keep(self, batch: Batch) -> Path:
        """As send; answers where it lies."""
        with self._lock:
            if isinstance(batch, Record):
                self._keep_record(batch)
            else:
                self._append(FILES["points"], (line.encode("utf-8", "replace") for line in batch.lines()))
        return self.offline_path

    def save_metadata(self, changes: dict[str, Any] | None = None) -> None:
        """Merge the changes into metadata.json."""
        with self._lock:
            self._metadata.update(changes or {})
            self._has_metadata = True
            try:
                self.offline_path.mkdir(parents=True, exist_ok=True)
                partial = self.offline_path / f"metadata.json.{os.getpid()}.partial"
                metadata = {**self._stored_metadata(), **self._metadata}
                partial.write_bytes(json.dumps(metadata, indent=2).encode("utf-8"))
                os.replace(partial, self.offline_path / "metadata.json")
            except OSError as error:
                self._warn(error)

    def sign(self) -> bool:
        """Nobody waits for a sign of life."""
        return False

    def close(self) -> None:
        """Nothing is held open."""

    def after_fork(self) -> OfflineFolder:
        """The same folder with a lock of its own."""
        copy = OfflineFolder(self.offline_path, self._metadata)
        copy._has_metadata = self._has_metadata
        return copy

    def _keep_record(self, record: Record) -> None:
        if record.kind == "update":
            # The metadata has from the start what the training asks to be filled in.
            self.save_metadata({key: value for key, value in record.body.items() if key != "fill"})
        elif record.kind == "finish":
            self.save_metadata({"status": record.body["status"], "finished_at": record.ts})
        else:
            named = {} if record.name is None else {"name": record.name}
            self._append(FILES[record.kind], [encode_json({**named, **record.body, "ts": record.ts})])

    def _append(self, name: str, lines: Iterable[bytes]) -> None:
        if not self._has_metadata:
            self.save_metadata()
        try:
            with open(self.offline_path / name, "ab", buffering=0) as file:
                _write_whole(file, b"".join(line + b"\n" for line in lines))
        except OSError as error:
            self._warn(error)

    def _stored_metadata(self) -> dict[str, Any]:
        try:
            stored = json.loads((self.offline_path / "metadata.json").read_bytes())
        except (OSError, ValueError):
            return {}
        return stored if isinstance(stored, dict) else {}

    def _warn(self, error: OSError) -> None:
        warn_once(
            f"disk {self.offline_path}", "cannot write to %s (%s); what belongs there is lost", self.offline_path, error
        )


def _write_whole(file: Any, content: bytes) -> None:
    """All or nothing, unless another process has written behind the part: then its line is torn."""
    start, written = os.fstat(file.fileno()).st_size, 0
    try:
        while written < len(content):
            written += file.write(content[written:])
    except OSError:
        if os.fstat(file.fileno()).st_size == start + written:
            os.ftruncate(file.fileno(), start)
        raise


def offline_base() -> Path:
    """./svc-offline, absolute."""
    try:
        return Path.cwd() / "svc-offline"
    except OSError:  # the working directory has been deleted
        return Path(tempfile.gettempdir()) / "svc-offline"


def offline_path(label: str) -> Path:
    """Where the folder of a run stands: ./svc-offline/<label>, absolute."""
    return offline_base() / (re.sub(r"[^A-Za-z0-9._-]+", "-", label).strip("-.") or "run")


def new_label(name: str | None) -> str:
    """A folder name for a run that no server knows: readable, sorted by time, and its own."""
    return f"{(name or 'run')[:60]}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
