"""What the relatives find: five measures of every head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from jaxtyping import Float

from headscope.analyses.base import Quantity, Result, Unit
from headscope.analyses.result import added, by_name
from headscope.core.model.info import head_name

PerHead = Float[np.ndarray, "layer head"]


@dataclass(frozen=True)
class Measure:
    """A number per head: its name in results, its title, a sentence how to read it, its unit."""

    name: str
    title: str
    reading: str
    unit: Unit = "nats"


MEASURES: Final = (
    Measure(
        "left_out",
        "Leave-one-out",
        "How much the loss rises when this head alone is closed: blue heads help, red ones harm.",
    ),
    Measure(
        "path",
        "Integrated gradients",
        "Each head's part of what opening all heads together gains, by gradients along the way.",
    ),
    Measure(
        "slope",
        "Attribution patching",
        "The first-order estimate of what closing this head costs, by the gradient at the model as it is; "
        "where the model is sure of its answers, gradients are close to nothing whatever a head does.",
    ),
    Measure(
        "importance",
        "Head importance",
        "The size of that gradient, whatever its sign, mean over examples.",
    ),
    Measure(
        "direct",
        "Direct logit attribution",
        "What the head itself writes at the answer's logit, not by way of other heads.",
        "logits",
    ),
)
"""In the order of every page and file; positive where the head helps (importance has no sign)."""

NAMES: Final = tuple(measure.name for measure in MEASURES)


@dataclass(frozen=True, kw_only=True, eq=False)
class RelativesResult(Result):
    """Each measure of every head, mean over held-out examples, with its standard error by the same name.

    Losses in nats: of the model as it is, with all heads closed (``loss_closed``); ``path_sum`` is the sum of
    ``path`` over heads, which is their difference where enough points were integrated. ``shots`` in-context
    examples; None: the task's own number.
    """

    NAME: ClassVar[str] = "relatives"
    VERSION: ClassVar[int] = 1

    left_out: PerHead
    path: PerHead
    slope: PerHead
    importance: PerHead
    direct: PerHead
    """NaN where the architecture's parts don't sum to its logits."""
    errors: Mapping[str, PerHead] = by_name("{}_se", NAMES)
    n_examples: int
    loss: float
    loss_closed: float
    path_sum: float
    shots: int | None = added()
    notes: Sequence[str]

    def effects(self, measure: Measure) -> PerHead:
        """One measure of every head."""
        return self.arrays[measure.name]


_HEADED: Final = ("left_out", "path", "direct")
"""Measures whose highest head is told."""

QUANTITIES: Mapping[str, Quantity] = {
    "loss": Quantity("Loss", "nats"),
    **{
        f"most_by_{measure.name}": Quantity(f"Top head by {measure.title.lower()}", "head")
        for measure in MEASURES
        if measure.name in _HEADED
    },
    "largest_rise_left_out": Quantity("Largest leave-one-out effect", "nats"),
}


def headline(result: RelativesResult, threshold: float = 0.5) -> dict[str, Any]:
    """The loss as it is, and the head that matters most by each measure."""
    numbers: dict[str, Any] = {"loss": result.loss}
    for measure in MEASURES:
        values = result.effects(measure)
        if measure.name in _HEADED and np.isfinite(values).any():
            place = np.unravel_index(int(np.nanargmax(values)), values.shape)
            numbers[f"most_by_{measure.name}"] = head_name(place)
    return numbers | {"largest_rise_left_out": float(np.nanmax(result.left_out))}
