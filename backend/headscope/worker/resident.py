"""Models that stay loaded, bounded by bytes: the one unused for longest goes first.

A model in use is never dropped. Jobs and prompts share a copy of the same precision and attention: they take
turns (``jobs.turn``), and a job lets others pass only while it has no hooks on the model.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from headscope.core.model import HeadModel, ModelInfo
from headscope.errors import Refused, Unavailable

BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}


class Key(NamedTuple):
    """What makes two loaded copies of a model different."""

    name: str
    dtype: str
    attention: str


@dataclass
class _Loaded:
    model: HeadModel
    size: int
    users: int = 0


@dataclass
class Resident:
    """Loads models on demand and keeps them. ``load`` makes one, ``size`` says its bytes before it is loaded.

    ``budget`` is what idle models may hold together, ``limit`` what a single one may: the device's memory.
    """

    load: Callable[[Key], HeadModel]
    size: Callable[[Key], int]
    budget: int
    limit: int
    _loaded: OrderedDict[Key, _Loaded] = field(default_factory=OrderedDict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @contextmanager
    def model(self, name: str, *, dtype: str, attention: str) -> Iterator[HeadModel]:
        """The model, loaded if it isn't, and kept at least while the context is open.

        Raises ``Refused`` (model-too-big) or ``Unavailable`` (models-busy) where there is no room for it.
        """
        key = Key(name, dtype, attention)
        with self._lock:
            entry = self._loaded.get(key) or self._add(key)
            self._loaded.move_to_end(key)
            entry.users += 1
        try:
            yield entry.model
        finally:
            with self._lock:
                entry.users -= 1

    def names(self) -> list[str]:
        """The names of the models that are loaded."""
        return sorted({key.name for key in list(self._loaded)})

    def held(self) -> int:
        """Bytes of weights that are loaded."""
        return sum(entry.size for entry in list(self._loaded.values()))

    def _add(self, key: Key) -> _Loaded:
        size = self.size(key)
        if size > self.limit:
            raise Refused(
                f"{key.name} in {key.dtype} takes {size / 2**30:.1f} GiB of the device's "
                f"{self.limit / 2**30:.1f} GiB.",
                "Use bfloat16, a smaller model or a larger device.",
                code="model-too-big",
            )
        self._make_room(size)
        entry = self._loaded[key] = _Loaded(self.load(key), size)
        return entry

    def _make_room(self, size: int) -> None:
        for key in [key for key, entry in self._loaded.items() if not entry.users]:
            if self.held() + size <= self.budget:
                return
            del self._loaded[key]
        if self.held() + size > self.limit:
            raise Unavailable(
                "The device's memory is taken by models in use.",
                "Wait until the present job is done, or raise HEADSCOPE_MODEL_MEMORY_BYTES.",
                code="models-busy",
            )


def weight_bytes(info: ModelInfo) -> int:
    """Bytes of a model's weights in its precision."""
    return info.n_params * BYTES.get(info.dtype, 4)
