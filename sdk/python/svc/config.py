"""The config of a run: the hyperparameters, readable as a dict."""

from __future__ import annotations

from typing import Any, Callable

from .values import to_mapping


class Config(dict[str, Any]):
    """A dict whose changes are sent. The values stay as they were given; ``config.lr`` is ``config["lr"]``."""

    def __init__(self, values: Any, send: Callable[[Config], None]) -> None:
        super().__init__({} if values is None else to_mapping(values))
        vars(self)["_send"] = send

    def update(self, values: Any = None, **more: Any) -> None:  # type: ignore[override]
        """Set some values: a mapping, a dataclass or an argparse namespace, and keyword arguments."""
        super().update({} if values is None else to_mapping(values), **more)
        self._send(self)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the config has no value {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"config.{name} cannot be set: use config.update({name}=...)")

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, pickled or not, is a plain dict: its changes are not sent."""
        return dict, (dict(self),)


def _sending(name: str) -> Any:
    change = getattr(dict, name)

    def change_and_send(self: Config, *args: Any, **kwargs: Any) -> Any:
        result = change(self, *args, **kwargs)
        self._send(self)
        return result

    return change_and_send


for _name in ("__setitem__", "__delitem__", "setdefault", "pop", "popitem", "clear"):
    setattr(Config, _name, _sending(_name))
