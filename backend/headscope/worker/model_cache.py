"""Models that stay loaded, bounded by bytes: the one unused for longest goes first.

A model in use is never dropped. Jobs and prompts share a copy of the same precision and attention: they
take turns (``jobs.device_queue``), and a job lets others pass only while it has no hooks on the model.

A model loads in a thread of its own: whoever asks for another one that is loaded needn't wait, and whoever
asks for this one may give up waiting without stopping it.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from headscope.core.model.head_model import HeadModel
from headscope.errors import Refused, Unavailable


class Key(NamedTuple):
    """What makes two loaded copies of a model different."""

    name: str
    dtype: str
    attention: str
    revision: str = ""
    """A folder whose files have changed holds another model under the same name."""


@dataclass
class _Entry:
    """A model that is loaded, or being loaded where ``model`` and ``error`` are both None."""

    size: int
    users: int = 0
    model: HeadModel | None = None
    error: Exception | None = None

    @property
    def settled(self) -> bool:
        return self.model is not None or self.error is not None


@dataclass
class ModelCache:
    """Loads models on demand and keeps them. ``load`` makes one, ``size`` says its bytes before it is loaded.

    ``budget`` is what idle models may hold together, ``limit`` what a single one may: the device's memory.
    ``free`` says how many bytes may be had now, whoever holds the others, ``revision`` what a name means now.
    """

    load: Callable[[Key], HeadModel]
    size: Callable[[Key], int]
    budget: int
    limit: int
    free: Callable[[], int] = lambda: sys.maxsize
    revision: Callable[[str], str] = lambda _: ""
    _entries: OrderedDict[Key, _Entry] = field(default_factory=OrderedDict)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _one_load: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def model(
        self, name: str, *, dtype: str, attention: str, wait: float | None = None
    ) -> Iterator[HeadModel]:
        """The model, loaded if it isn't, and kept at least while the context is open.

        ``wait``: seconds to wait for one that is being loaded; as long as it takes where None.
        Raises ``Refused`` (model-too-big) or ``Unavailable`` (models-busy) where there is no room for it,
        ``Unavailable`` (model-loading) after ``wait``, and what loading raises.
        """
        key = Key(name, dtype, attention, self.revision(name))
        size = None if key in self._entries else self.size(key)  # may read files: not under the lock
        with self._changed:
            entry = self._entries.get(key) or self._add(key, self.size(key) if size is None else size)
            self._entries.move_to_end(key)
            entry.users += 1
        try:
            yield self._settled(key, entry, wait)
        finally:
            with self._changed:
                entry.users -= 1

    @contextmanager
    def loading_alone(self) -> Iterator[None]:
        """No model is loaded meanwhile: what is made within may change torch's default dtype."""
        with self._one_load:
            yield

    def names(self) -> list[str]:
        """The names of the models that are loaded."""
        with self._changed:
            return sorted({key.name for key, entry in self._entries.items() if entry.model is not None})

    def held(self) -> int:
        """Bytes of weights that are loaded or being loaded."""
        with self._changed:
            return sum(entry.size for entry in self._entries.values())

    def _settled(self, key: Key, entry: _Entry, wait: float | None) -> HeadModel:
        with self._changed:
            self._changed.wait_for(lambda: entry.settled, wait)
        if entry.error is not None:
            raise entry.error
        if entry.model is None:
            raise Unavailable(
                f"{key.name} is still being loaded.",
                "Loading continues: try again in a few seconds.",
                code="model-loading",
                retry_after=2,
            )
        return entry.model

    def _add(self, key: Key, size: int) -> _Entry:
        if size > self.limit:
            raise Refused(
                f"{key.name} in {key.dtype} takes {size / 2**30:.1f} GiB of the device's "
                f"{self.limit / 2**30:.1f} GiB.",
                "Use bfloat16, a smaller model or a larger device.",
                code="model-too-big",
            )
        self._forget_earlier(key)
        self._make_room(size)
        entry = self._entries[key] = _Entry(size)
        threading.Thread(
            target=self._load, args=(key, entry), name=f"loading {key.name}", daemon=True
        ).start()
        return entry

    def _load(self, key: Key, entry: _Entry) -> None:
        try:
            with self._one_load:  # transformers sets torch's default dtype while it loads: for all threads
                model = self.load(key)
        except Exception as error:
            with self._changed:
                entry.error = error
                del self._entries[key]  # whoever asks next tries again
                self._changed.notify_all()
        else:
            with self._changed:
                entry.model = model
                self._changed.notify_all()

    def _forget_earlier(self, key: Key) -> None:
        """Drop what the name meant before its files changed, unless it is in use."""
        for other, entry in list(self._entries.items()):
            if other[:3] == key[:3] and not entry.users and entry.settled:
                del self._entries[other]
                gc.collect()

    def _make_room(self, size: int) -> None:
        for key in [key for key, entry in self._entries.items() if not entry.users and entry.settled]:
            if self.held() + size <= self.budget and size <= self.free():
                return
            del self._entries[key]
            gc.collect()  # modules refer to each other
        if self.held() + size > self.limit:
            raise Unavailable(
                "The device's memory is taken by models in use.",
                "Wait until the present job is done, or raise HEADSCOPE_MODEL_MEMORY_BYTES.",
                code="models-busy",
            )
        if size > (free := self.free()):
            raise Unavailable(
                f"The model takes {size / 2**30:.1f} GiB; {free / 2**30:.1f} GiB of memory are free.",
                "Wait until other programs or the present job are done, or use a smaller model.",
                code="models-busy",
            )
