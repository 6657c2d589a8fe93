"""A real HTTP server that keeps the wire contract, and what the tests need around it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable
from unittest import mock
from urllib.parse import unquote

SDK = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SDK))

import svc  # noqa: E402
from svc import current, notices, process, start  # noqa: E402

TOKEN = "svc_sdk_" + "t" * 43
JOB_ID = "job_01JD0000000000000000000001"
RUN_ID = "run_01JD0000000000000000000001"
RUN_FIELDS = {
    "name", "project", "experiment", "job_id", "source", "config", "environment", "max_steps", "tags", "started_at",
    "import_key",
}  # fmt: skip
ROUTES = {
    ("POST", "/runs"): RUN_FIELDS,
    ("PATCH", ""): {"config", "environment", "max_steps", "fill"},
    ("PUT", "/metric-definitions"): {"direction", "unit", "is_primary"},
    ("POST", "/alive"): set(),
    ("POST", "/metrics:batch"): {"points"},
    ("POST", "/events"): {"title", "message", "severity", "data"},
    ("POST", "/checkpoints"): {"path", "step", "epoch", "size", "metadata"},
    ("POST", "/finish"): {"status", "finished_at"},
}
TRICKLES = {
    "trickle-head": b"HTTP/1.1 201 Created\r\nX-Slow:",
    "trickle-body": b"HTTP/1.1 201 Created\r\nContent-Length: 1000\r\n\r\n",
}
POINT_FIELDS = {"seq", "name", "step", "value", "ts", "epoch"}


class Problem(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Server:
    """Stores what it is sent by the rules of the contract, and fails as it is told.

    ``fail(suffix, *faults)``: each of the next requests whose path ends so meets one fault: a status (int), a pair of
    status and Retry-After, ``cut`` (no answer), ``cut-after`` (carried out, no answer), ``hang`` (until ``release``),
    ``trickle-head`` and ``trickle-body`` (an answer that comes byte by byte, for 6 s, and is never whole).
    """

    def __init__(self, port: int = 0) -> None:
        self.changed = threading.Condition()
        self.runs: dict[str, dict[str, Any]] = {}
        self.points: dict[str, dict[int, dict[str, Any]]] = {}
        self.records: list[tuple[str, str, dict[str, Any]]] = []
        self.requests: list[tuple[float, str, str, Any]] = []
        self.event_keys: list[str | None] = []  # of every request, answered or not
        self.tokens: dict[str, set[str]] = {}
        self.accepted = self.duplicates = self.connections = 0
        self.release = threading.Event()
        self.refused_names: set[str] = set()
        self.knows_checkpoints = True
        self.kept: dict[str, str] = {}  # what a server answers to `fill`
        self._faults: dict[str, deque[Any]] = {}
        self._sockets: set[socket.socket] = set()
        self.start(port)

    def start(self, port: int = 0) -> None:
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self.port = self._http.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Refuse connections and cut those there are."""
        self.release.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        for connection in list(self._sockets):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def add_job_run(self) -> None:
        """The run that a job's attempt has before the SDK attaches."""
        self.runs[RUN_ID] = {"id": RUN_ID, "name": "the job", "job_id": JOB_ID, "status": "RUNNING"}
        self.tokens[TOKEN] = {RUN_ID}

    def fail(self, suffix: str, *faults: Any) -> None:
        self._faults.setdefault(suffix, deque()).extend(faults)

    def until(self, condition: Callable[[], Any], timeout_s: float = 8.0) -> None:
        """Wait for what the server has been sent."""
        with self.changed:
            if not self.changed.wait_for(condition, timeout_s):
                raise AssertionError(f"not within {timeout_s} s; requests: {[r[1:3] for r in self.requests][-20:]}")

    def values(self, name: str, run_id: str = RUN_ID) -> list[Any]:
        points = sorted(self.points.get(run_id, {}).values(), key=lambda point: (point["step"], point["seq"]))
        return [point["value"] for point in points if point["name"] == name]

    def bodies(self, suffix: str) -> list[Any]:
        return [body for _, _, path, body in self.requests if path.endswith(suffix)]

    def bodies_of(self, kind: str) -> list[Any]:
        return [body for record, _, body in self.records if record == kind]

    def next_fault(self, path: str) -> Any:
        for suffix, faults in self._faults.items():
            if path.endswith(suffix) and faults:
                return faults.popleft()
        return None

    def carry_out(self, method: str, path: str, token: str, body: dict[str, Any]) -> tuple[int, Any]:
        match = re.fullmatch(r"/api/v1(/runs)(?:/(run_\w+)(/[\w:-]+)?(/.*)?)?", path)
        if match is None:
            raise Problem(404, f"no such path {path}")
        run_id, suffix = match.group(2), "/runs" if match.group(2) is None else match.group(3) or ""
        name = unquote((match.group(4) or "")[1:])
        fields = ROUTES.get((method, suffix))
        if fields is None or (suffix == "/checkpoints" and not self.knows_checkpoints):
            raise Problem(404, "no such path")
        if token not in self.tokens and token != TOKEN:
            raise Problem(401, "unknown token")
        unknown = set(body) - fields
        if unknown:
            raise Problem(422, f"unknown fields {unknown}")
        if run_id is None:
            return self._create(body)
        if run_id not in self.runs:
            raise Problem(404, "no such run")
        if run_id not in self.tokens.get(token, {run_id}):
            raise Problem(403, "the token is another run's")
        return self._write(run_id, suffix, name, body)

    def _create(self, body: dict[str, Any]) -> tuple[int, Any]:
        key = body.get("import_key")
        for run in self.runs.values():
            if key is not None and run.get("import_key") == key:
                return 200, {**run, "ingest_token": f"svc_sdk_{run['id']}"}
        run_id = f"run_01JD00000000000000000001{len(self.runs):02d}"
        token = f"svc_sdk_{run_id}"
        self.tokens[token] = {run_id}
        self.runs[run_id] = {"id": run_id, "name": "a run", **body, "status": "RUNNING"}
        return 201, {**self.runs[run_id], "ingest_token": token}

    def _write(self, run_id: str, suffix: str, name: str, body: dict[str, Any]) -> tuple[int, Any]:
        if suffix == "/metrics:batch":
            return 200, self._write_points(run_id, body["points"])
        run = self.runs[run_id]
        if suffix == "/finish":
            if run["status"] not in ("RUNNING", body["status"]):
                raise Problem(409, f"the run is {run['status']}")
            run["status"] = body["status"]
        elif suffix == "/metric-definitions":
            run.setdefault("metrics", {})[name] = body
        elif suffix == "":
            run.update({key: value for key, value in body.items() if key != "fill"})
        self.records.append((suffix.strip("/") or "update", run_id, body))
        return 200, {**run, "kept": self.kept} if "fill" in body else run

    def _write_points(self, run_id: str, points: list[dict[str, Any]]) -> dict[str, int]:
        if not 1 <= len(points) <= 10_000:
            raise Problem(422, "1 to 10 000 points")
        for point in points:
            self._check(point)
        stored = self.points.setdefault(run_id, {})
        fresh = [point for point in points if point["seq"] not in stored]
        for point in fresh:
            stored.setdefault(point["seq"], point)
        self.accepted += len(fresh)
        self.duplicates += len(points) - len(fresh)
        return {"accepted": len(fresh), "duplicates": len(points) - len(fresh)}

    def _check(self, point: dict[str, Any]) -> None:
        is_number = isinstance(point["value"], (int, float)) and not isinstance(point["value"], bool)
        is_valid = (
            set(point) <= POINT_FIELDS
            and isinstance(point["seq"], int)
            and 0 <= point["seq"] <= 2**53 - 1
            and isinstance(point["step"], int)
            and 1 <= len(point["name"]) <= 250
            and point["name"] not in self.refused_names
            and (is_number or point["value"] in ("NaN", "Infinity", "-Infinity"))
        )
        if not is_valid:
            raise Problem(422, f"bad point {point}")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            server.connections += 1
            server._sockets.add(self.connection)

        def finish(self) -> None:
            server._sockets.discard(self.connection)
            super().finish()

        def log_message(self, *_args: Any) -> None:
            pass

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with server.changed:
                fault = server.next_fault(self.path)
            self._reply(fault or (200 if self.path == "/api/v1/health" else 404), {"status": "ok"}, None)

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"]))
            with server.changed:
                fault = server.next_fault(self.path)
                body = json.loads(text, parse_constant=_refuse_constant)
                server.requests.append((time.monotonic(), self.command, self.path, body))
                if self.path.endswith("/events"):
                    server.event_keys.append(self.headers.get("Idempotency-Key"))
                server.changed.notify_all()
            if fault == "hang":
                server.release.wait(30)
            if fault in TRICKLES:
                self._trickle(TRICKLES[fault])
            if fault in ("hang", "cut", *TRICKLES):
                self.close_connection = True
                return
            self._answer(fault, body)

        do_PATCH = do_PUT = do_POST

        def _trickle(self, start: bytes) -> None:
            with contextlib.suppress(OSError):
                self.wfile.write(start)
                for _ in range(120):
                    if server.release.wait(0.05):
                        break
                    self.wfile.write(b" ")

        def _answer(self, fault: Any, body: Any) -> None:
            if fault == "page":
                self._reply(200, "<html>Please log in</html>", None)
                return
            status, retry_after = fault if isinstance(fault, tuple) else (fault, None)
            try:
                if isinstance(status, int):
                    raise Problem(status, "as told")
                token = self.headers.get("Authorization", "").removeprefix("Bearer ")
                with server.changed:
                    answer = server.carry_out(self.command, self.path, token, body)
                    server.changed.notify_all()
            except Problem as problem:
                envelope = {"error": {"code": "told", "message": str(problem), "details": {}}}
                answer = (problem.status, envelope)
            if fault == "cut-after":
                self.close_connection = True
                return
            self._reply(*answer, retry_after)

        def _reply(self, status: int, body: Any, retry_after: Any) -> None:
            content = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            if retry_after is not None:
                self.send_header("Retry-After", str(retry_after))
            self.end_headers()
            self.wfile.write(content)

    return Handler


class SdkTest(unittest.TestCase):
    """A server, an empty working directory, and an environment without svc."""

    def setUp(self) -> None:
        self.directory = Path(os.path.realpath(tempfile.mkdtemp()))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.directory)
        self.server = Server()
        self.addCleanup(self.server.stop)
        without_svc = {key: value for key, value in os.environ.items() if not key.startswith("SVC_") and key != "RANK"}
        self.patched_environ(without_svc, clear=True)
        self.set(SVC_URL=self.server.url, SVC_TOKEN=TOKEN, SVC_DATA_DIR=str(self.directory / "data"), SVC_QUIET="1")
        notices.forget()
        start._attached_pid = None
        current._open.clear()
        current._newest = None
        self.addCleanup(self.close_runs)

    def patched_environ(self, values: dict[str, str], clear: bool = False) -> None:
        patch = mock.patch.dict(os.environ, values, clear=clear)
        patch.start()
        self.addCleanup(patch.stop)

    def set(self, **values: str) -> None:
        self.patched_environ(values)

    def close_runs(self) -> None:
        self.server.release.set()
        for run in list(process._open_runs):
            run.end(process.Ending.CLEAN, 2.0)

    def in_job(self) -> None:
        """As in a job: the run is there, and the environment names it."""
        self.server.add_job_run()
        self.set(SVC_JOB_ID=JOB_ID, SVC_RUN_ID=RUN_ID, SVC_ATTEMPT="1")

    def in_job_with_spool(self) -> Path:
        """As in a job under an agent that delivers; answers the spool directory."""
        self.in_job()
        spool = self.directory / "spool"
        spool.mkdir()
        self.set(SVC_SPOOL_DIR=str(spool))
        return spool

    def spooled(self, kind: str | None = None) -> list[Any]:
        """The records in the spool, of one kind or all, in the order in which each process wrote them."""
        files = sorted((self.directory / "spool").glob("*.jsonl"))
        records = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
        return [record for record in records if kind in (None, record["kind"])]

    def spooled_points(self) -> list[Any]:
        return [point for record in self.spooled("points") for point in record["body"]["points"]]

    def attach(self) -> svc.Run:
        self.in_job()
        return svc.init()

    def offline_lines(self, name: str, run: str = "*") -> list[Any]:
        files = sorted(self.directory.glob(f"svc-offline/{run}/{name}"))
        return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]

    def offline_metadata(self) -> Any:
        (file,) = self.directory.glob("svc-offline/*/metadata.json")
        return json.loads(file.read_text("utf-8"))

    def script(self, code: str) -> subprocess.Popen[str]:
        """A process of its own that runs the code with svc imported."""
        return subprocess.Popen(
            [sys.executable, "-c", f"import os, sys, signal, svc\n{code}"],
            env={**os.environ, "PYTHONPATH": str(SDK)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run_script(self, code: str) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of such a process."""
        process_ = self.script(code)
        out, err = process_.communicate(timeout=30)
        return process_.returncode, out, err
