"""``svc.init``: decides what this process reports to."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from . import current, process
from .delivery import deliver_in_background
from .disabled_run import DisabledRun
from .environment import first_snapshot, snapshot_completer
from .masking import mask_secrets
from .notices import tell, warn_once
from .offline import OfflineFolder, new_label, offline_base, offline_path
from .ranks import is_secondary_rank
from .records import Record, now_ms
from .run import Run, RunFacts
from .sender import Sink, to_pause_s
from .settings import MODES, Settings, load_settings
from .sink import Refused, ServerSink, TryLater, raise_for_status
from .spool import Spool
from .spooling_sink import SpoolingSink
from .transport import Transport, Unreachable
from .values import shorten, to_bounded_object, to_integer, to_texts

MAX_NAME_CHARACTERS = 200
MAX_TAG_CHARACTERS = 100
MAX_TAGS = 100
REINITS = ("end", "new")
# With a spool at hand there is no need to wait long for an answer, during which what is reported lies in memory alone.
SPOOLING_PATIENCE_S = 5.0

OFFLINE = "recording offline in %s (%s); svc import, or the next run from here that finds a server, brings it in"

_attached_pid: int | None = None


def init(
    *,
    project: str | None = None,
    experiment: str | None = None,
    name: str | None = None,
    config: Any = None,
    max_steps: int | None = None,
    tags: Iterable[str] | None = None,
    reinit: str = "end",
    quiet: bool | None = None,
    all_ranks: bool | None = None,
    mode: str | None = None,
) -> Run:
    """Begin to report, and print the link of the run.

    Inside a job the first call in a process attaches to the job's run, and gives it what the submit left open of name,
    project, experiment and tags; a further call makes a further run of the job. Elsewhere every call makes a run.
    Without a server the run is recorded in ./svc-offline/. Waits for the server only to make a run, at most
    SVC_INIT_TIMEOUT_S seconds, in which the lookup of the server's name is not counted, and to end the current run.

    Args:
        project: name or id; a new name is created.
        experiment: name or id within the project.
        name: the name of the run.
        config: the hyperparameters: a mapping, a dataclass, an argparse namespace, or a config of omegaconf,
            pydantic or transformers.
        max_steps: the number of steps planned, for the display of progress.
        tags: labels to find the run by.
        reinit: what becomes of the current run of this process: "end" ends it, "new" leaves it open beside this one.
        quiet: print no link; left out, as SVC_QUIET says.
        all_ranks: report from every process of a distributed training; left out, as SVC_ALL_RANKS says. Otherwise the
            first rank alone reports, and the calls of the others do nothing. In a job all ranks report to its run,
            and the first describes it; elsewhere each has a run of its own.
        mode: "online", "offline" or "disabled"; left out, as SVC_MODE says.

    Raises:
        ValueError: reinit or mode is none of those named.
    """
    if reinit not in REINITS:
        raise ValueError(f"reinit={reinit!r} is not one of {', '.join(REINITS)}")
    if mode is not None and mode not in MODES:
        raise ValueError(f"mode={mode!r} is not one of {', '.join(MODES)}")
    previous = current.find_open()
    if previous is not None and reinit == "end":
        previous.end(process.ending_so_far(), previous.flush_timeout_s)
    settings = load_settings({**os.environ, **({} if mode is None else {"SVC_MODE": mode})})
    reports = settings.all_ranks if all_ranks is None else all_ranks
    if settings.mode == "disabled" or (is_secondary_rank() and not reports):
        run: Run = DisabledRun(config)
    else:
        details = _details(project, experiment, name, config, max_steps, tags)
        run = _start(Draft(settings, details, config))
        process.track(run)
        if not (settings.is_quiet if quiet is None else quiet):
            _tell_link(run)
    current.begin(run)
    return run


@dataclass(frozen=True)
class Draft:
    """A run about to begin: ``details`` are the fields of POST /runs, ``config`` is as it was given."""

    settings: Settings
    details: dict[str, Any]
    config: Any


def _start(draft: Draft) -> Run:
    global _attached_pid
    settings = draft.settings
    is_attachable = settings.run_id is not None and _attached_pid != os.getpid()
    if is_attachable:
        _attached_pid = os.getpid()
    run_id = settings.run_id if is_attachable else None
    if settings.mode == "offline":
        return _record_offline(draft, run_id, "the mode is offline")
    if not settings.url:
        return _record_offline(draft, run_id, "no server runs on this host; svc login or SVC_URL names another")
    if run_id is not None:
        return _attach(draft, run_id)
    return _create(draft)


def _tell_link(run: Run) -> None:
    """The first rank says it for all."""
    if run.url is not None and not (run.is_attached and is_secondary_rank()):
        name = "of this job" if run.is_attached else run.name
        tell(f"the run {name} is at {run.url}")


def _details(
    project: str | None,
    experiment: str | None,
    name: str | None,
    config: Any,
    max_steps: int | None,
    tags: Iterable[str] | None,
) -> dict[str, Any]:
    """The fields of POST /runs that the caller and this host know."""
    names = {"name": name, "project": project, "experiment": experiment}
    details: dict[str, Any] = {key: _to_name(value) for key, value in names.items()}
    details["config"] = None if config is None else mask_secrets(to_bounded_object(config, "the config"))
    details["environment"] = first_snapshot()
    details["max_steps"] = _to_max_steps(max_steps)
    details["tags"] = None if tags is None else [tag[:MAX_TAG_CHARACTERS] for tag in to_texts(tags) if tag][:MAX_TAGS]
    return {key: value for key, value in details.items() if value is not None}


def _attach(draft: Draft, run_id: str) -> Run:
    described = _only(draft.details, "config", "environment", "max_steps")
    wishes = _only(draft.details, "name", "project", "experiment", "tags")
    bodies = [{"fill": wishes}, described] if wishes else [described]
    description = [Record("update", body, now_ms()) for body in bodies]
    return _online_run(draft, run_id, draft.settings.token, is_attached=True, description=description)


def _only(details: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: details[key] for key in keys if key in details}


def _create(draft: Draft) -> Run:
    settings = draft.settings
    try:
        answer = _post_run(settings, _to_body(settings, draft.details))
    except (Unreachable, TryLater, Refused) as problem:
        return _record_offline(draft, None, f"{settings.console_url}: {problem}{_remedy(settings, problem)}")
    token = answer.get("ingest_token") or settings.token
    if settings.job_id is None:
        deliver_in_background(offline_base(), settings.url, settings.token, settings.flush_timeout_s)
    named = replace(draft, details={**draft.details, "name": answer.get("name")})
    return _online_run(named, answer["id"], token)


def _remedy(settings: Settings, problem: Exception) -> str:
    """What to do about a token that the server does not accept; the token of a job is not the user's to change."""
    is_refused = isinstance(problem, Refused) and problem.status == 401
    return f"; svc login {settings.console_url} saves a valid one" if is_refused and settings.job_id is None else ""


def _to_body(settings: Settings, details: dict[str, Any]) -> dict[str, Any]:
    """The body of POST /runs; a run of a job takes the job's project and experiment."""
    if settings.job_id is None:
        return {**details, "source": "sdk"}
    own = {key: value for key, value in details.items() if key not in ("project", "experiment")}
    return {**own, "source": "sdk", "job_id": settings.job_id}


def _post_run(settings: Settings, body: dict[str, Any]) -> dict[str, Any]:
    """The run made. Tried again only after an answer that says it was not made, so that none is made twice."""
    deadline = time.monotonic() + settings.init_timeout_s
    tries = 0
    while True:
        left_s = max(0.1, deadline - time.monotonic())
        with closing(Transport(settings.url, settings.token, timeout_s=left_s)) as transport:
            answer = transport.request("POST", "/runs", body)
        if answer.is_foreign:
            raise Unreachable(answer.message)
        try:
            raise_for_status(answer)
            break
        except TryLater as problem:
            tries += 1
            pause_s = to_pause_s(tries) if problem.after_s is None else problem.after_s
            if time.monotonic() + pause_s > deadline:
                raise
            time.sleep(pause_s)
    if not isinstance(answer.body.get("id"), str):
        raise Unreachable("what answers there is not svc")
    return dict(answer.body)


def _online_run(draft: Draft, run_id: str, token: str, **kind: Any) -> Run:
    folder = OfflineFolder(offline_path(run_id), _metadata(draft, run_id))
    sink = _server_sink(draft.settings, token, run_id, folder)
    return _new_run(draft, sink, folder, run_id=run_id, **kind)


def _server_sink(settings: Settings, token: str, run_id: str, folder: OfflineFolder) -> ServerSink:
    if settings.spool_dir is None:
        return ServerSink(Transport(settings.url, token), run_id, folder)
    spool = Spool(settings.spool_dir, run_id, settings.spool_bytes)
    return SpoolingSink(Transport(settings.url, token, timeout_s=SPOOLING_PATIENCE_S), run_id, folder, spool)


def _record_offline(draft: Draft, run_id: str | None, reason: str) -> Run:
    folder = OfflineFolder(offline_path(run_id or new_label(draft.details.get("name"))), _metadata(draft, run_id))
    folder.save_metadata()
    warn_once("offline", OFFLINE, folder.offline_path, reason)
    return _new_run(draft, folder, folder, run_id=run_id, is_attached=run_id is not None)


def _new_run(
    draft: Draft,
    sink: Sink,
    folder: OfflineFolder,
    *,
    run_id: str | None,
    is_attached: bool = False,
    description: Iterable[Record] = (),
) -> Run:
    settings = draft.settings
    snapshot = Record("update", {"environment": draft.details["environment"]}, now_ms(), complete=snapshot_completer())
    # Every rank attaches to the same run; the first one describes it.
    is_described = not (is_attached and is_secondary_rank())
    is_online = run_id is not None and sink is not folder
    facts = RunFacts(
        id=run_id,
        name=draft.details.get("name"),
        url=f"{settings.console_url}/runs/{run_id}" if is_online else None,
        is_attached=is_attached,
        gives_signs=is_online and settings.job_id is None,
        is_described=is_described,
        config=draft.config,
        queue_points=settings.queue_points,
        flush_timeout_s=settings.flush_timeout_s,
    )
    return Run(facts, sink, folder, [*description, snapshot] if is_described else [])


def _metadata(draft: Draft, run_id: str | None) -> dict[str, Any]:
    known = {"run_id": run_id, "job_id": draft.settings.job_id, "attempt": draft.settings.attempt}
    given = {key: value for key, value in known.items() if value is not None}
    return {**given, **draft.details, "created_at": now_ms()}


def _to_name(value: str | None) -> str | None:
    return None if value is None else shorten(value, MAX_NAME_CHARACTERS).strip() or None


def _to_max_steps(value: int | None) -> int | None:
    steps = None if value is None else to_integer(value)
    if value is not None and (steps is None or steps < 1):
        warn_once("max_steps", "max_steps=%r is not a whole number of at least 1; left out", value)
        return None
    return steps
