"""An analysis of weights run in place, piece by piece, as the engine would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headscope.analyses import ANALYSES
from headscope.analyses.base import Arrays, Context, Result
from headscope.core.model.head_model import HeadModel
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings


def two_layer() -> HeadModel:
    """The bundled model."""
    from headscope.core.model.load import load_model

    folder = Catalogue(Settings(data_dir=Path("unused"))).folder("headscope-2l")
    return load_model(folder, name="headscope-2l", device="cpu")


def run(name: str, model: HeadModel, **params: Any) -> Result:
    """The result, after a trip through JSON, as it is stored."""
    analysis = ANALYSES[name]
    parsed = analysis.params.model_validate(params)
    done: dict[str, Arrays] = {}
    for piece in analysis.plan(parsed, model.info):
        context = Context(model, None, {key: done[key] for key in piece.needs})
        done[piece.key] = analysis.compute(piece, parsed, context)
    return Result.from_json(analysis.assemble(parsed, model.info, None, done).to_json())
