"""A newer request of a page supersedes its older ones: a slider that is dragged never builds a queue."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from headscope.errors import Refused


@dataclass
class LatestRequests:
    """The number of each board's newest request; the boards that were silent longest are forgotten."""

    most: int = 1024
    _newest: OrderedDict[tuple[str, str], int] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self, kind: str, board: str | None, turn: int) -> Callable[[], None]:
        """Note a request; what is returned raises ``Refused`` (superseded) once a newer of its kind was."""
        if board is None:
            return lambda: None
        key = (kind, board)
        with self._lock:
            self._newest[key] = max(turn, self._newest.get(key, turn))
            self._newest.move_to_end(key)
            if len(self._newest) > self.most:
                self._newest.popitem(last=False)

        def check() -> None:
            newest = self._newest.get(key, turn)
            if newest > turn:
                raise Refused(
                    f"Request {turn} of this board was not started: request {newest} is newer.",
                    "Use the newest answer.",
                    code="superseded",
                )

        return check
