"""What the residual-stream analysis finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from headscope.analyses.base import Quantity, Result
from headscope.core.model.info import head_name


@dataclass(frozen=True, kw_only=True, eq=False)
class ResidualResult(Result):
    """Who reads whom, who clears what it reads, and norms on the run's prompt.

    ``shares`` in [0, 1] of what a writer writes are read by a reader, NaN where the reader comes first;
    ``written`` is the norm of a writer's matrix. ``cosine`` is of a neuron's weights in and out, ``erasing``
    minus the positivity of W_V W_O, ``current`` attention to the present token. ``stream`` is its norm before
    each layer and behind the last, ``attention`` and ``mlp`` are norms of what they add, NaN for none.
    """

    NAME: ClassVar[str] = "residual"
    VERSION: ClassVar[int] = 1

    shares: Float[np.ndarray, "writer reader"]
    written: Float[np.ndarray, " writer"]
    cosine: Float[np.ndarray, "layer neuron"]
    erasing: Float[np.ndarray, "layer head"]
    current: Float[np.ndarray, "layer head"]
    stream: Float[np.ndarray, "place pos"]
    attention: Float[np.ndarray, "layer pos"]
    mlp: Float[np.ndarray, "layer pos"]
    limits: Sequence[str]
    notes: Sequence[str]
    readers: Sequence[str]
    writers: Sequence[str]


QUANTITIES: Mapping[str, Quantity] = {
    "most_erasing_head": Quantity("Head that clears most", "head"),
    "most_erasing_score": Quantity("Highest clearing score"),
    "clearing_neurons": Quantity("Clearing neurons", "count"),
    "stream_grows_by": Quantity("Growth of the stream, as a factor"),
}


def headline(result: ResidualResult, threshold: float = 0.5) -> dict[str, Any]:
    """The head that clears most, the neurons that do, and how much the stream grows."""
    erasing, stream = result.erasing, result.stream.mean(axis=1)
    place = np.unravel_index(int(np.nan_to_num(erasing, nan=-2).argmax()), erasing.shape)
    return {
        "most_erasing_head": head_name(place),
        "most_erasing_score": float(erasing[place]),
        "clearing_neurons": int((result.cosine < -0.5).sum()),
        "stream_grows_by": float(stream[-1] / max(float(stream[0]), 1e-30)),
    }
