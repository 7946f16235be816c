"""What was used last stays in memory, up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class LruCache(Generic[V]):
    """Drops what was unused longest once its entries' sizes pass ``limit`` bytes; thread-safe."""

    def __init__(self, limit: int, size: Callable[[V], int]) -> None:
        self._limit = limit
        self._size = size
        self._entries: OrderedDict[Hashable, V] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value for a key, made if it isn't there. Two readers at once may both make it; one is kept."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key]
        value = make()
        with self._lock:
            if key not in self._entries:
                self._entries[key] = value
                self._bytes += self._size(value)
            while self._bytes > self._limit and len(self._entries) > 1:
                self._bytes -= self._size(self._entries.popitem(last=False)[1])
        return value

    def __len__(self) -> int:
        return len(self._entries)
