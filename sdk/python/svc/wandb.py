"""Stands in for the commonest calls of wandb: ``import svc.wandb as wandb``.

It reports to svc and needs no wandb. What svc has nothing for is left out with one warning each; docs/reporting.md says
what. Only what would change what a training does (sweeps, artifacts that are read) raises ``Error``.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import IO, Any

from . import current
from . import run as _runs
from .event_files import report_event_files
from .notices import tell, warn_once
from .start import init as _init
from .values import to_mapping, to_number

MEDIA = (
    "Audio", "Box3D", "Bokeh", "Graph", "Histogram", "Html", "Image", "JoinedTable", "Molecule", "Object3D", "Plotly",
    "Table", "Video",
)  # fmt: skip
# The version of wandb whose calls these are: programs compare it.
__version__ = "0.19.0"
MODES = {"online": "online", "offline": "offline", "dryrun": "offline", "disabled": "disabled", "shared": "online"}


class Error(Exception):
    """A call that svc cannot stand in for, or one that comes before ``init``."""


class UsageError(Error):
    """As that of wandb."""


class CommError(Error):
    """As that of wandb; svc raises none."""


class _Media:
    """What is shown and not plotted: accepted anywhere, and not kept."""

    def __init__(self, *_args: Any, **_others: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _accept


def _accept(*_args: Any, **_others: Any) -> _Media:
    return _Media()


class Config(MutableMapping[str, Any]):
    """``config.lr``, ``config["lr"]``, both also to be set; changes are sent."""

    _values: dict[str, Any]

    def __init__(self, run: _runs.Run) -> None:
        vars(self)["_values"] = run.config

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._values[name] = value

    def __delitem__(self, name: str) -> None:
        del self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what copy and pickle look for is no hyperparameter
            raise AttributeError(name)
        return getattr(self._values, name)

    __setattr__ = __setitem__

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, pickled or not, is a plain dict: its changes are not sent."""
        return dict, (self.as_dict(),)

    def update(self, values: Any = None, allow_val_change: Any = None, **more: Any) -> None:  # type: ignore[override]
        self._values.update(values, **more)

    def setdefaults(self, values: Any) -> None:
        given = to_mapping(values)
        self._values.update({name: value for name, value in given.items() if name not in self._values})

    def as_dict(self) -> dict[str, Any]:
        return dict(self._values)

    def __repr__(self) -> str:
        return repr(self.as_dict())


class Summary(MutableMapping[str, Any]):
    """The last values. A value that is set is the metric ``summary/<name>``, so that no curve gets a foreign point."""

    _run: _runs.Run
    _own: dict[str, Any]

    def __init__(self, run: _runs.Run) -> None:
        vars(self).update(_run=run, _own={})

    def __getitem__(self, name: str) -> Any:
        return self._own[name] if name in self._own else self._run.summary[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        self._own.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter({**self._run.summary, **self._own})

    def __len__(self) -> int:
        return len({**self._run.summary, **self._own})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self:
            raise AttributeError(name)
        return self[name]

    __setattr__ = __setitem__

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, pickled or not, is a plain dict."""
        return dict, (dict(self),)

    def update(self, values: Any = None, **more: Any) -> None:  # type: ignore[override]
        given = {**dict(values or {}), **more}
        self._own.update(given)
        step = self._run.last_step
        self._run.log({f"summary/{name}": value for name, value in given.items()}, step=0 if step is None else step)


class Artifact:
    """Holds the local paths that are added; ``log_artifact`` registers those of a model as checkpoints."""

    def __init__(self, name: str, type: str, description: str | None = None, metadata: Any = None, **_: Any) -> None:
        self.name, self.type, self.metadata = name, type, metadata
        self.paths: list[str] = []

    def add_file(self, local_path: Any, *_args: Any, **_others: Any) -> None:
        self.paths.append(os.fspath(local_path))

    add_dir = add_file

    @contextmanager
    def new_file(self, name: str, mode: str = "x", encoding: str | None = None) -> Iterator[IO[Any]]:
        """The file ``./svc-artifacts/ARTIFACT/name``, added once it is written.

        Raises:
            ValueError: the name leads out of that folder.
        """
        folder = os.path.abspath(os.path.join("svc-artifacts", self.name.replace("/", "-").strip(".") or "artifact"))
        path = os.path.abspath(os.path.join(folder, name))
        if not path.startswith(f"{folder}{os.sep}"):
            raise ValueError(f"the file {name!r} does not lie in the artifact")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, mode.replace("x", "w"), encoding=encoding) as file:
            yield file
        self.add_file(path)

    def add_reference(self, uri: Any, *_args: Any, **_others: Any) -> None:
        if str(uri).startswith("file://"):
            self.paths.append(str(uri)[len("file://") :])

    def add(self, *_args: Any, **_others: Any) -> None:
        _leave_out("objects in an Artifact")

    def wait(self, *_args: Any, **_others: Any) -> Artifact:
        return self


class Run:
    """The run, with the attributes and methods of that of wandb."""

    _svc: _runs.Run
    _next: int
    id: str
    url: str | None
    config: Config
    summary: Summary
    offline: bool
    dir: str
    resumed: bool
    entity: str | None
    project: str | None
    group: str | None
    job_type: str | None
    notes: str | None
    tags: list[str]

    def __init__(self, run: _runs.Run, about: dict[str, Any]) -> None:
        vars(self).update(
            _svc=run,
            _next=0,
            id=run.id or run.offline_path.name,
            url=run.url,
            config=Config(run),
            summary=Summary(run),
            offline=run.is_offline,
            dir=os.getcwd(),
            resumed=False,
            **about,
        )

    @property
    def name(self) -> str | None:
        return self._svc.name or self.id

    @property
    def step(self) -> int:
        """The step to which the next ``log`` belongs."""
        return int(self._next)

    @property
    def path(self) -> str:
        return f"{self.project}/{self.id}"

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            vars(self)[name] = value
        else:
            _leave_out(f"a new {name} of a run that has begun (give it to init)")

    def log(
        self, data: Mapping[str, Any], step: int | None = None, commit: bool | None = None, sync: Any = None
    ) -> None:
        """Reports the numbers in ``data``.

        Args:
            step: the step they belong to; left out, that of the last call, one more when that was committed.
            commit: whether the next call without a step belongs to the next one; left out, True without a step.
        """
        at = self._next if step is None else step
        values = {name: value for name, value in data.items() if not _is_media(value)}
        self._svc.log(values, step=at)
        is_committed = step is None if commit is None else commit
        self._next = max(self._next, int(to_number(at) or 0) + (1 if is_committed else 0))

    def finish(self, exit_code: int | None = None, quiet: bool | None = None) -> None:
        """Ends the run: FAILED with an exit code other than 0. In a job, only delivers it: the job ends its run."""
        if self._svc.is_attached and not exit_code:
            self._svc.flush()
            current.end(self._svc)
        else:
            self._svc.finish("FAILED" if exit_code else "SUCCEEDED")
        _forget(self)

    def define_metric(
        self,
        name: str,
        step_metric: Any = None,
        step_sync: Any = None,
        hidden: Any = None,
        summary: str | None = None,
        goal: str | None = None,
        overwrite: Any = None,
    ) -> None:
        if "*" in name:
            return _leave_out("define_metric for several metrics at once")
        if step_metric is not None:
            _leave_out("define_metric(step_metric=...): values stay at their steps")
        wanted = f"{goal or ''},{summary or ''}"
        direction = "maximize" if "max" in wanted else "minimize" if "min" in wanted else None
        if direction is not None:
            self._svc.define_metric(name, direction=direction)
        return None

    def alert(self, title: str, text: str = "", level: Any = None, wait_duration: Any = None) -> None:
        """An event of the run."""
        severity = {"WARN": "warning", "ERROR": "critical"}.get(str(getattr(level, "value", level)).upper(), "info")
        self._svc.event(title, message=text or None, severity=severity)

    def log_artifact(self, artifact: Any, name: str | None = None, type: str | None = None, **_others: Any) -> Any:
        if not isinstance(artifact, Artifact):
            path, artifact = artifact, Artifact(name or "", type or "")
            artifact.add_file(path)
        if "model" not in artifact.type and "checkpoint" not in artifact.type:
            _leave_out(f"an artifact of type {artifact.type!r}")
            return artifact
        for path in artifact.paths:
            self._svc.checkpoint(path, metadata=artifact.metadata)
        return artifact

    def log_model(self, path: Any, name: str | None = None, aliases: Any = None) -> None:
        self._svc.checkpoint(path)

    def use_artifact(self, *_args: Any, **_others: Any) -> Any:
        raise Error("svc keeps no artifacts: read the file where it lies")

    def watch(self, *_args: Any, **_others: Any) -> None:
        """Does nothing: svc keeps no gradients."""

    unwatch = watch

    def save(self, *_args: Any, **_others: Any) -> bool:
        """Does nothing: svc stores no files."""
        return True

    def log_code(self, *_args: Any, **_others: Any) -> None:
        """Does nothing: the run has the commit and the changes of the repository."""

    mark_preempting = log_code

    def get_url(self) -> str | None:
        return self._svc.url

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._svc.__exit__(kind, error, trace)
        _forget(self)


class _BeforeInit:
    def __init__(self, name: str) -> None:
        vars(self)["_name"] = name

    def _refuse(self, *_args: Any) -> Any:
        raise Error(f"You must call wandb.init() before wandb.{vars(self)['_name']}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse()

    __setattr__ = __getitem__ = __setitem__ = _refuse


_told: set[str] = set()
run: Run | None = None
config: Any = _BeforeInit("config")
summary: Any = _BeforeInit("summary")
util = SimpleNamespace(generate_id=lambda length=8: secrets.token_hex(length)[:length])
AlertLevel = SimpleNamespace(INFO="INFO", WARN="WARN", ERROR="ERROR")
plot = _Media()
errors = SimpleNamespace(Error=Error, UsageError=UsageError, CommError=CommError)
tensorboard = SimpleNamespace(patch=lambda *_args, **_others: report_event_files())


def init(
    entity: str | None = None,
    project: str | None = None,
    dir: Any = None,
    id: str | None = None,
    name: str | None = None,
    notes: str | None = None,
    tags: Any = None,
    config: Any = None,
    config_exclude_keys: Any = None,
    config_include_keys: Any = None,
    mode: str | None = None,
    group: str | None = None,
    job_type: str | None = None,
    reinit: Any = None,
    resume: Any = None,
    settings: Any = None,
    sync_tensorboard: Any = None,
    tensorboard: Any = None,
    **_others: Any,
) -> Run:
    """Begins a run of svc: ``group`` is its experiment, ``job_type`` one of its tags, ``notes`` an event.

    While a run is open, it is returned, unless ``reinit`` is set. The variables WANDB_PROJECT, WANDB_NAME,
    WANDB_RUN_GROUP, WANDB_TAGS, WANDB_NOTES, WANDB_JOB_TYPE, WANDB_MODE, WANDB_DISABLED and WANDB_SILENT count where
    an argument is left out. With ``sync_tensorboard`` the scalars that the training writes as event files are reported.
    """
    if run is not None and current.is_open(run._svc) and reinit in (None, False, "default", "return_previous"):
        return run
    if resume not in (None, False, "allow", "auto") or os.environ.get("WANDB_RESUME") == "must":
        _leave_out("init(resume=...): a run of its own is begun")
    about: dict[str, Any] = {
        "entity": entity,
        "project": project or _env("PROJECT"),
        "group": group or _env("RUN_GROUP"),
        "job_type": job_type or _env("JOB_TYPE"),
        "notes": notes or _env("NOTES"),
        "tags": _to_tags(tags),
    }
    begun = _init(
        project=about["project"],
        experiment=about["group"],
        name=name or _env("NAME"),
        config=_to_config(config, config_exclude_keys, config_include_keys),
        tags=[*about["tags"], *([about["job_type"]] if about["job_type"] else [])] or None,
        mode=_to_mode(mode or getattr(settings, "mode", None)),
        quiet=True if _env("SILENT") in ("true", "1") else None,
        reinit="new" if reinit == "create_new" else "end",
    )
    if sync_tensorboard or tensorboard:
        report_event_files()
    if about["notes"]:
        begun.event("notes", message=about["notes"])
    made = Run(begun, about)
    _show(made)
    return made


def log(data: Mapping[str, Any], step: int | None = None, commit: bool | None = None, sync: Any = None) -> None:
    """As ``run.log``."""
    _open("log").log(data, step, commit)


def finish(exit_code: int | None = None, quiet: bool | None = None) -> None:
    """As ``run.finish``; without a run nothing happens."""
    if run is not None:
        run.finish(exit_code)


def define_metric(name: str, *args: Any, **others: Any) -> None:
    """As ``run.define_metric``."""
    _open("define_metric").define_metric(name, *args, **others)


def alert(title: str, text: str = "", level: Any = None, wait_duration: Any = None) -> None:
    """As ``run.alert``."""
    _open("alert").alert(title, text, level)


def log_artifact(artifact: Any, *args: Any, **others: Any) -> Any:
    """As ``run.log_artifact``."""
    return _open("log_artifact").log_artifact(artifact, *args, **others)


def log_model(path: Any, *args: Any, **others: Any) -> None:
    """As ``run.log_model``."""
    _open("log_model").log_model(path, *args, **others)


def watch(*_args: Any, **_others: Any) -> None:
    """Does nothing: svc keeps no gradients."""


unwatch = save = watch


def login(*_args: Any, **_others: Any) -> bool:
    """Nothing to do: the SDK uses the server of ``svc login``."""
    return True


def setup(*_args: Any, **_others: Any) -> None:
    """Nothing to do."""


def termlog(string: str = "", newline: bool = True, repeat: bool = True, prefix: bool = True) -> None:
    """One line on stderr; with ``repeat=False`` once."""
    if repeat or string not in _told:
        _told.add(string)
        tell(string)


termwarn = termerror = termlog


def Settings(**given: Any) -> SimpleNamespace:
    """Holds what it is given; of it, ``mode`` counts."""
    return SimpleNamespace(**given)


def __getattr__(name: str) -> Any:
    if name in MEDIA:
        vars(sys.modules[__name__])[name] = media = type(name, (_Media,), {})
        return media
    raise AttributeError(
        f"svc.wandb has no {name}: svc has nothing for it, or docs/coming-from.md says what to use instead"
    )


def _show(new: Run | None) -> None:
    """The module's ``run``, ``config`` and ``summary`` are those of this run."""
    vars(sys.modules[__name__]).update(
        run=new,
        config=_BeforeInit("config") if new is None else new.config,
        summary=_BeforeInit("summary") if new is None else new.summary,
    )


def _forget(ended: Run) -> None:
    if run is ended:
        _show(None)


def _open(call: str) -> Run:
    if run is None:
        raise Error(f"You must call wandb.init() before wandb.{call}()")
    return run


def _is_media(value: Any) -> bool:
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    if not isinstance(first, _Media):
        return False
    _leave_out(f"{type(first).__name__.lstrip('_')} in log")
    return True


def _leave_out(what: str) -> None:
    warn_once(f"wandb {what}", "%s is left out: svc has nothing for it", what)


def _env(name: str) -> str | None:
    return os.environ.get(f"WANDB_{name}", "").strip() or None


def _to_tags(tags: Any) -> list[str]:
    given = tags if tags is not None else (_env("TAGS") or "").split(",")
    return [tag.strip() for tag in ([given] if isinstance(given, str) else given) if str(tag).strip()]


def _to_mode(mode: str | None) -> str | None:
    if (_env("DISABLED") or "").lower() in ("true", "1", "yes"):
        return "disabled"
    wanted = mode or _env("MODE")
    return None if wanted is None else MODES.get(wanted.lower())


def _to_config(config: Any, excluded: Any, included: Any) -> Any:
    if isinstance(config, (str, Path)):
        return _leave_out("a config from a file")
    if config is None or not (excluded or included):
        return config
    given = to_mapping(config)
    return {name: given[name] for name in given if name not in (excluded or ()) and name in (included or given)}
