"""Brings in what ended runs have recorded offline, when a run next reports from the same directory to a server.

It works on a thread of its own. What is sent again after it was cut off, or was brought in by ``svc import``, is stored
once: the run has a key made of the folder, events one of their place in it, and points their ``seq``.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from .notices import logger, tell
from .offline import FILES, FORMAT, OfflineFolder
from .records import Batch, Record
from .sink import Refused, ServerSink, TryLater, raise_for_status
from .transport import Transport, Unreachable

try:
    import fcntl
except ImportError:  # Windows: `svc import` brings them in
    fcntl = None  # type: ignore[assignment]

# Below the folder of the runs: what has been brought in.
DELIVERED = "delivered"
POINTS_PER_REQUEST = 2_000
RUN_FIELDS = ("name", "project", "experiment", "config", "environment", "max_steps", "tags")


class LinesOfPoints(NamedTuple):
    """Points as they stand in the file, with what a sink asks of Points."""

    json: list[str]

    @property
    def size(self) -> int:
        return len(self.json)

    def body(self) -> bytes:
        return f'{{"points":[{",".join(self.json)}]}}'.encode()

    def split(self, most: int) -> list[LinesOfPoints]:
        return [LinesOfPoints(self.json[first : first + most]) for first in range(0, len(self.json), most)]

    def halves(self) -> list[LinesOfPoints]:
        return self.split((self.size + 1) // 2)


class DeliverySink(ServerSink):
    """What the server refuses for good stays where it lies. A run that has ended, as by ``svc import``, is fine."""

    def _set_aside(self, batch: Batch, refusal: Refused) -> Path:
        return self.offline_path

    def _tell_ended(self, refusal: Refused) -> None:
        pass


def deliver_in_background(base: Path, url: str, token: str) -> None:
    """Brings in the runs below this directory that have ended."""
    if fcntl is not None and base.is_dir():
        threading.Thread(target=_deliver_all, args=(base, url, token), name="svc-delivery", daemon=True).start()


def _deliver_all(base: Path, url: str, token: str) -> None:
    try:
        names = sorted(folder.name for folder in base.iterdir() if (folder / "metadata.json").is_file())
        with closing(Transport(url, token)) as transport:
            for name in names:
                with _alone(base / name) as is_ours:
                    if is_ours:
                        _deliver(base / name, transport)
    except (TryLater, Refused, Unreachable) as problem:
        logger.info("svc: what is recorded in %s is brought in later (%s)", base, problem)
    except Exception:
        logger.debug("svc: what is recorded in %s could not be brought in", base, exc_info=True)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Whether no other process is at this folder; none begins before the block ends."""
    file = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield (folder / "metadata.json").is_file()
    except BlockingIOError:
        yield False
    finally:
        os.close(file)


def _deliver(folder: Path, transport: Transport) -> None:
    metadata = json.loads((folder / "metadata.json").read_bytes())
    status = metadata.get("status")
    if metadata.get("format") != FORMAT or status is None or metadata.get("job_id") is not None:
        return  # a run that goes on, was killed, or belongs to a job: `svc import` brings it in
    record = OfflineFolder(folder, metadata)
    run_id = metadata.get("run_id") or _create(folder, metadata, transport)
    record.save_metadata({"run_id": run_id})
    sink = DeliverySink(transport, run_id, record)
    for batch in _batches(folder, metadata):
        sink.send(batch)
    sink.send(Record("finish", {"status": status, "finished_at": metadata["finished_at"]}, 0))
    place = folder.parent / DELIVERED / folder.name
    place.parent.mkdir(exist_ok=True)
    os.replace(folder, place)
    tell(f"what was recorded in {folder} is at {transport.url}/runs/{run_id} now; its files are in {place}")


def _create(folder: Path, metadata: dict[str, Any], transport: Transport) -> str:
    """The id of the run for this folder, which is made once. `svc import` gives it the same key."""
    key = hashlib.sha256(_key(folder, metadata).encode()).hexdigest()[:40]
    about = {"source": "sdk", "import_key": f"svc-offline:{key}", "started_at": metadata["created_at"]}
    body = {name: metadata[name] for name in RUN_FIELDS if name in metadata}
    answer = transport.request("POST", "/runs", {**body, **about})
    raise_for_status(answer)
    return str(answer.body["id"])


def _batches(folder: Path, metadata: dict[str, Any]) -> Iterator[Any]:
    """All that the run has reported. A line that a kill has cut off is left out."""
    for kind, name in FILES.items():
        if not (folder / name).exists():
            continue
        with open(folder / name, encoding="utf-8", errors="replace") as file:
            lines = (line.rstrip("\n") for line in file if line.endswith("}\n"))
            if kind == "points":
                while part := list(islice(lines, POINTS_PER_REQUEST)):
                    yield LinesOfPoints(part)
            else:
                for number, line in enumerate(lines):
                    yield _to_record(kind, json.loads(line), f"{_key(folder, metadata)} {number}")


def _key(folder: Path, metadata: dict[str, Any]) -> str:
    return f"{folder.name} {metadata['created_at']}"


def _to_record(kind: str, body: dict[str, Any], place: str) -> Record:
    ts = body.pop("ts", 0)
    key = hashlib.sha256(place.encode()).hexdigest()[:32] if kind == "event" else None
    return Record(kind, body, ts, key=key, name=body.pop("name") if kind == "metric" else None)
