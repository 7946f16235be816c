"""Headscope: what every attention head of a language model is for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headscope.core.gate_vector import GateVector
    from headscope.settings import Settings

__version__ = "0.1.0"


def load_gates(source: str | Path, *, model: str = "", settings: Settings | None = None) -> GateVector:
    """Gates [layer, head] to use in Python: from a file of theirs, or by the id of kept ones.

    ``model`` names the model for a file that doesn't (CSV); ``settings`` say which database and models, those
    of the environment where unset. Raises ``NotFound`` where there is neither file nor id, ``Invalid`` for a
    file that can't be read or gates that don't fit the model.
    """
    from headscope.store.gate_source import load_gates as load  # what it needs takes time to import

    return load(source, model, settings)
