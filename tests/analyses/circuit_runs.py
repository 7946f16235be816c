"""An analysis of weights run in place, piece by piece, as the engine would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headscope.analyses import ANALYSES
from headscope.analyses.base import Result, Spec
from headscope.analyses.in_place import compute
from headscope.analyses.stored import read
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
    spec = Spec(analysis.params.model_validate(params), model.info)
    return read(compute(analysis, spec, model).to_json())
