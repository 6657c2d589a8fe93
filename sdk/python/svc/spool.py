"""The spool of a job: what cannot be reported now is appended to files that the agent of this host delivers.

Lines are handed to the operating system before an append is over: they outlive the process, however it ends. They are
not synced to the disk.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .notices import warn_once
from .records import Batch, Record
from .values import encode_json

# A line is read and sent as a whole: even with the longest names it must stay below the 1 MiB that the agent takes.
LINE_POINTS = 200
# A file that has been delivered is removed once the next one is begun.
FILE_BYTES = 16 * 1024 * 1024
END = b'{"kind":"end"}\n'


class Spool:
    """Writes the records of one run, in one process, to ``<run>-<pid>-<random>.jsonl``.

    Never raises: what the disk does not take, or what would bring all of the attempt's spool above ``max_bytes``, is
    not taken, and stays with the caller.
    """

    def __init__(self, directory: Path, run_id: str, max_bytes: int) -> None:
        self.directory = directory
        self._run_id = run_id
        self._max_bytes = max_bytes
        # A signal handler may append while the interrupted code holds the lock.
        self._lock = threading.RLock()
        self._file: int | None = None

    def append(self, batch: Batch) -> bool:
        """Whether all of the batch is in the spool. If not, appending it again later doubles nothing."""
        lines = list(self._lines(batch))
        with self._lock:
            if not self._has_room(sum(map(len, lines))):
                warn_once(
                    f"spool full {self.directory}",
                    "the spool %s has reached %d bytes: the queue takes what follows, and when full drops the oldest",
                    self.directory,
                    self._max_bytes,
                )
                return False
            try:
                for line in lines:
                    self._write(line)
            except OSError as error:
                warn_once(f"spool {self.directory}", "cannot write to the spool %s (%s)", self.directory, error)
                return False
        return True

    def end_file(self) -> None:
        """Nothing more comes into the present file: the agent removes it when it is delivered."""
        with self._lock:
            file, self._file = self._file, None
            if file is None:
                return
            with contextlib.suppress(OSError):  # the agent removes it at the end of the attempt
                _write_whole(file, END)
            os.close(file)

    def after_fork(self) -> Spool:
        """The same directory, with files and a lock of its own."""
        return Spool(self.directory, self._run_id, self._max_bytes)

    def _lines(self, batch: Batch) -> Iterator[bytes]:
        if isinstance(batch, Record):
            yield self._line(**_to_fields(batch))
            return
        for part in batch.split(LINE_POINTS):
            yield b'{"kind":"points","run_id":"%s","body":%s}\n' % (self._run_id.encode(), part.body())

    def _line(self, kind: str, **fields: Any) -> bytes:
        return encode_json({"kind": kind, "run_id": self._run_id, **fields}) + b"\n"

    def _has_room(self, size_bytes: int) -> bool:
        try:
            with os.scandir(self.directory) as entries:
                used_bytes = sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
            return used_bytes + size_bytes <= self._max_bytes
        except OSError:
            return True  # what is wrong shows when it is written to

    def _write(self, line: bytes) -> None:
        if self._file is None:
            name = f"{self._run_id}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
            self._file = os.open(self.directory / name, flags, 0o600)
        _write_whole(self._file, line)
        if os.fstat(self._file).st_size >= FILE_BYTES:
            self.end_file()


def _to_fields(record: Record) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": record.kind, "body": record.body}
    if record.kind in ("event", "checkpoint"):
        fields["ts"] = record.ts
    optional = {"key": record.key, "name": record.name}
    fields.update({key: value for key, value in optional.items() if value is not None})
    return fields


def _write_whole(file: int, line: bytes) -> None:
    """All of the line or nothing of it: the agent takes whole lines alone, so a torn one may be cut off again."""
    start = os.fstat(file).st_size
    rest = line
    try:
        while rest:
            rest = rest[os.write(file, rest) :]
    except OSError:
        os.ftruncate(file, start)
        raise
