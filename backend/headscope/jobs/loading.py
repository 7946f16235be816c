"""Models loaded from their folders, one at a time, for a process that computes one run and ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from headscope.core.model import HeadModel


class Folders(Protocol):
    """The part of the catalogue that is needed here."""

    def folder(self, name: str) -> Path:
        """Where a model lies; raises ``NotFound`` or ``Unavailable``."""
        ...


class FromFolders:
    """Loads a model each time it is asked for."""

    def __init__(self, folders: Folders, device: str) -> None:
        self._folders, self._device = folders, device

    @contextmanager
    def model(self, name: str, *, dtype: str, attention: str) -> Iterator[HeadModel]:
        """The model, dropped at the end of the context."""
        from headscope.core.model import load_model

        yield load_model(
            self._folders.folder(name), name=name, dtype=dtype, device=self._device, attention=attention
        )
