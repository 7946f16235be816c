"""Headscope: what every attention head of a language model is for."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn

    from headscope.core.gating.gate_vector import GateVector
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


def gated(model: nn.Module, gates: GateVector | Any) -> AbstractContextManager[None]:
    """Gate the heads of a plain Hugging Face model while the context is open.

    ``gates`` [layer, head] in [0, 1]: a vector as ``load_gates`` gives it, an array, a tensor or nested
    lists. Each head's output is multiplied by its gate before W_O, at every position, in generation too.
    Raises ``Invalid`` for gates of another shape or, where the model was loaded from a folder, of other
    weights; for an architecture whose heads aren't known; and where a layer's hook isn't reached.
    """
    from headscope.core.gating.plain_model import gated_model

    return gated_model(model, gates)
