"""What analyses of a model's weights have in common: how weights are processed, and that it is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from headscope.analyses.base import Params, Result, Spec
from headscope.core.model.head_model import HeadModel
from headscope.core.model.info import ModelInfo

if TYPE_CHECKING:
    import torch

    from headscope.core.circuits.weights import Weights

PROCESSING = {
    "folded": "Norm weights are folded into what reads the stream.",
    "raw": "Weights are as the model stores them: norm weights are left out.",
}


class WeightParams(Params):
    """Which weights are read, and how precisely."""

    weight_processing: Literal["folded", "raw"] = Field(
        default="folded",
        title="Weight processing",
        description="Folded: norm weights are folded into what reads the stream. Raw: as the model stores "
        "them. Numbers of the two are never compared.",
    )
    dtype: Literal["float32", "float64"] = Field(
        default="float32", title="Precision", description="Of the weights and of all that is computed."
    )


@runtime_checkable
class ReadsWeights(Protocol):
    """Parameters that say which weights are read."""

    @property
    def weight_processing(self) -> Literal["folded", "raw"]:
        """How norm weights are treated."""
        ...

    @property
    def dtype(self) -> str:
        """The name of a torch dtype."""
        ...


def weights_of(model: HeadModel, params: ReadsWeights) -> Weights:
    """The weights that the parameters ask for."""
    import torch

    from headscope.core.circuits.weights import read_weights

    return read_weights(model, params.weight_processing, getattr(torch, params.dtype))


def processed(spec: Spec[Any]) -> ModelInfo:
    """The model as results name it: with its weight processing, so that none are mixed."""
    return replace(spec.model, weight_processing=spec.params.weight_processing)


def how(result: Result) -> str:
    """A sentence for every figure: how the weights were processed."""
    return PROCESSING[result.params["weight_processing"]]


def split(values: torch.Tensor) -> NDArray[Any]:
    """Complex [...] as float32 [..., 2], as arrays travel."""
    import torch

    return torch.view_as_real(values).numpy().astype(np.float32)


def joined(values: NDArray[Any]) -> NDArray[Any]:
    """The inverse."""
    return values[..., 0] + 1j * values[..., 1]
