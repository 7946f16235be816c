"""Models loaded from their folders, one at a time, for a process that computes one run and ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from headscope.core.model.head_model import HeadModel
from headscope.core.model.memory import weight_bytes
from headscope.jobs.admission import admit_weights
from headscope.jobs.device import free_bytes
from headscope.models.proofs import Proofs


class Folders(Protocol):
    """The part of the catalogue that is needed here."""

    def folder(self, name: str) -> Path:
        """Where a model is; raises ``NotFound`` or ``Unavailable``."""
        ...


class FromFolders:
    """Loads a model each time it is asked for, and proves what was never proved."""

    def __init__(self, folders: Folders, device: str, proofs: Proofs) -> None:
        self._folders, self._device, self._proofs = folders, device, proofs

    @contextmanager
    def model(self, name: str, *, dtype: str, attention: str) -> Iterator[HeadModel]:
        """The model, dropped at the end of the context; ``Refused`` (no-memory) where it doesn't fit."""
        from headscope.core.model.info import model_info

        folder = self._folders.folder(name)
        size = weight_bytes(model_info(folder, name=name), dtype)
        admit_weights(name, size, free_bytes(self._device))
        yield self._proofs.load(folder, name=name, dtype=dtype, device=self._device, attention=attention)
