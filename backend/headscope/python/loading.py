"""A model's weights in memory for as long as somebody holds them: several runs load them once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from headscope.core.model.head_model import HeadModel
from headscope.models.catalogue import Catalogue


class Loaded:
    """One model in one precision and attention at a time: where what computes a run gets it from.

    ``device`` is auto, cpu, cuda or cuda:1, as in ``Settings``.
    """

    def __init__(self, catalogue: Catalogue, device: str) -> None:
        self._catalogue, self._device = catalogue, device
        self._held: dict[tuple[str, str, str, str], HeadModel] = {}

    @contextmanager
    def model(self, name: str, *, dtype: str, attention: str) -> Iterator[HeadModel]:
        """The model, kept after the context too; ``Refused`` (no-memory) where it doesn't fit."""
        from headscope.jobs.device import find_device
        from headscope.jobs.loading import FromFolders

        key = (name, dtype, attention, self._catalogue.info(name).revision)
        if key not in self._held:
            self._held.clear()  # first: there may be no room for both
            places = FromFolders(self._catalogue, find_device(self._device).name, self._catalogue.proofs)
            with _quiet(), places.model(name, dtype=dtype, attention=attention) as heads:
                self._held[key] = heads
        yield self._held[key]


@contextmanager
def _quiet() -> Iterator[None]:
    """Without tqdm's advice on widgets, which it gives in a notebook when transformers imports it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="IProgress not found")
        yield
