"""Brings in what ended runs have recorded offline, when a run next reports from the same directory to a server.

It works on a thread of its own. What is sent again after it was cut off, or was brought in by ``svc import``, is stored
once: the run has a key made of the folder, events one of their place in it, and points their ``seq``.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from .notices import logger, tell, warn_once
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
# The thread that was begun last.
_at_work: list[threading.Thread] = []
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


def deliver_in_background(base: Path, url: str, token: str, patience_s: float) -> None:
    """Brings in the runs below this directory that have ended. The end of the process waits ``patience_s`` for it."""
    if fcntl is None or not base.is_dir():
        return
    thread = threading.Thread(target=_deliver_all, args=(base, url, token), name="svc-delivery", daemon=True)
    thread.start()
    if not _at_work:  # before the end of runs is registered for the first time: it comes after that
        atexit.register(_wait, base, patience_s, os.getpid())
    _at_work[:] = [thread]


def _wait(base: Path, patience_s: float, pid: int) -> None:
    if os.getpid() != pid:  # a fork has no such thread
        return
    (thread,) = _at_work
    thread.join(patience_s)
    if thread.is_alive():
        tell(f"runs that are recorded in {base} are still to come in; the next run from here, or svc import, goes on")


def _deliver_all(base: Path, url: str, token: str) -> None:
    try:
        names = sorted(folder.name for folder in base.iterdir() if (folder / "metadata.json").is_file())
        with closing(Transport(url, token)) as transport:
            for name in names:
                _try_to_deliver(base / name, transport)
    except (TryLater, Unreachable) as problem:
        logger.info("svc: what is recorded in %s is brought in later (%s)", base, problem)
    except Exception:
        logger.debug("svc: what is recorded in %s could not be brought in", base, exc_info=True)


def _try_to_deliver(folder: Path, transport: Transport) -> None:
    """What is wrong with one folder is no reason to leave out the others.

    Raises:
        TryLater, Unreachable: the server takes nothing now.
    """
    try:
        with _alone(folder) as is_ours:
            if is_ours:
                _deliver(folder, transport)
    except Unreachable:
        raise
    except Exception as problem:
        if isinstance(problem, TryLater) and not problem.is_server_fault:
            raise
        warn_once(f"delivery {folder}", "what is recorded in %s could not be brought in (%s)", folder, problem)


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
    lines = Lines(folder)
    for batch in _batches(lines, _key(folder, metadata)):
        sink.send(batch)
    sink.send(Record("finish", {"status": status, "finished_at": metadata["finished_at"]}, 0))
    place = folder.parent / DELIVERED / folder.name
    place.parent.mkdir(exist_ok=True)
    os.replace(folder, place)
    if lines.bad:
        warn_once(f"bad lines {folder}", "%d lines in %s hold no JSON object; they are left out", lines.bad, place)
    tell(f"what was recorded in {folder} is at {transport.url}/runs/{run_id} now; its files are in {place}")


def _create(folder: Path, metadata: dict[str, Any], transport: Transport) -> str:
    """The id of the run for this folder, which is made once. `svc import` gives it the same key."""
    key = hashlib.sha256(_key(folder, metadata).encode()).hexdigest()[:40]
    about = {"source": "sdk", "import_key": f"svc-offline:{key}", "started_at": metadata["created_at"]}
    body = {name: metadata[name] for name in RUN_FIELDS if name in metadata}
    answer = transport.request("POST", "/runs", {**body, **about})
    raise_for_status(answer)
    return str(answer.body["id"])


class Lines:
    """What stands in the files of a folder; ``bad`` counts the lines that hold no JSON object, which are left out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.bad = 0

    def of(self, kind: str) -> Iterator[str]:
        """Those of a file, without one that a kill has cut off."""
        path = self._folder / FILES[kind]
        if path.exists():
            with open(path, encoding="utf-8", errors="replace") as file:
                yield from (line.rstrip("\n") for line in file if line.endswith("\n"))

    def objects(self, lines: list[str]) -> list[tuple[str, dict[str, Any]]]:
        """The good ones of these lines, each with what it says."""
        said = _parsed(f"[{','.join(lines)}]")
        if said is None or len(said) != len(lines):
            said = [_parsed(line) for line in lines]
        good = [(line, value) for line, value in zip(lines, said) if isinstance(value, dict)]
        self.bad += len(lines) - len(good)
        return good


def _parsed(text: str) -> Any:
    """None for what is no JSON."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _batches(lines: Lines, key: str) -> Iterator[Any]:
    """All that the run has reported. The key of an event is its place in the file, of all its lines."""
    points = lines.of("points")
    while part := list(islice(points, POINTS_PER_REQUEST)):
        if good := [line for line, _ in lines.objects(part)]:
            yield LinesOfPoints(good)
    for kind in FILES:
        if kind == "points":
            continue
        for number, line in enumerate(lines.of(kind)):
            for _, body in lines.objects([line]):
                yield _to_record(kind, body, f"{key} {number}")


def _key(folder: Path, metadata: dict[str, Any]) -> str:
    return f"{folder.name} {metadata['created_at']}"


def _to_record(kind: str, body: dict[str, Any], place: str) -> Record:
    ts = body.pop("ts", 0)
    key = hashlib.sha256(place.encode()).hexdigest()[:32] if kind == "event" else None
    return Record(kind, body, ts, key=key, name=str(body.pop("name", "")) if kind == "metric" else None)
