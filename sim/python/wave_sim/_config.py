"""Configurations of machines."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Union

from . import _wave_sim
from ._errors import warn

Value = Union[int, bool, str]


def text_of(value: Value) -> str:
    """A value as a setting has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _value(text: str) -> Value:
    """A value as configurations write it."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"'):
        return json.loads(text)
    try:
        return int(text)
    except ValueError:
        return text


class Config:
    """A configuration of a machine. It does not change: `set` gives another one."""

    __slots__ = ("_inner",)
    _inner: _wave_sim.Config

    def __init__(self) -> None:
        raise TypeError("Config.load(name) or Config.from_text(text) makes one")

    @classmethod
    def _of(cls, made: tuple[_wave_sim.Config, list[Any]]) -> Config:
        inner, warnings = made
        warn(warnings, 4)
        config = object.__new__(cls)
        config._inner = inner
        return config

    @classmethod
    def load(cls, name: str | os.PathLike[str] = "gpu") -> Config:
        """The configuration in a file, or a preset by its name, with or without `.ron`."""
        return cls._of(_wave_sim.Config.load(os.fspath(name)))

    @classmethod
    def from_text(cls, text: str, name: str = "config.ron") -> Config:
        """The configuration in a text (RON). `name` stands for the file in messages."""
        return cls._of(_wave_sim.Config.from_text(text, name))

    @staticmethod
    def presets() -> list[str]:
        """Names of the presets, the default first."""
        return _wave_sim.Config.presets()

    def set(self, settings: Mapping[str, Value] | None = None, /, **more: Value) -> Config:
        """This configuration with parameters set: `config.set({"core.l1.bytes": "32KiB"}, cores=8)`. A key may be the end
        of a parameter's path if no other has it."""
        words = [f"{key}={text_of(value)}" for key, value in {**(settings or {}), **more}.items()]
        return Config._of(self._inner.with_settings(words))

    def get(self, key: str) -> Value:
        """The value of a parameter. A key may be the end of its path if no other has it."""
        path = self._inner.path(key)
        return _value(dict(self._inner.leaves())[path])

    def to_dict(self) -> dict[str, Any]:
        """Every parameter: dictionaries in one another, as `config.to_dict()["core"]["l1"]["bytes"]`. Items of a list
        are named as in keys: `["core"]["units[fp32]"]["lanes"]`."""
        tree: dict[str, Any] = {}
        for path, value in self._inner.leaves():
            *sections, key = path.split(".")
            place = tree
            for section in sections:
                place = place.setdefault(section, {})
            place[key] = _value(value)
        return tree

    def area(self, prices: str = "prices.ron") -> dict[str, Any]:
        """Area of the machine in mm²: `mm2`, bounds of it, and `blocks`. `prices` is a file of prices, or a technology
        node such as `7nm`."""
        return json.loads(self._inner.document(prices))["area"]

    @property
    def text(self) -> str:
        """Every parameter with its meaning, as a text that `from_text` takes."""
        return self._inner.text()

    @property
    def name(self) -> str:
        """Its name."""
        return self._inner.name

    @property
    def hash(self) -> str:
        """16 hexadecimal digits that tell machines apart. Name and description are not part of it."""
        return self._inner.hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and (self.name, self.hash) == (other.name, other.hash)

    def __hash__(self) -> int:
        return hash((self.name, self.hash))

    def __repr__(self) -> str:
        return f"<Config {' '.join([self.name, *self._inner.set])} ({self.hash})>"


def config_of(config: Config | str | os.PathLike[str] | None) -> Config:
    """A configuration, or that of a name; the default if there is none."""
    if isinstance(config, Config):
        return config
    return Config.load("gpu" if config is None else config)
