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
        "The first-order estimate of what closing this head costs, by the gradient at the ungated model; "
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

TOLERANCE: Final = 0.02
"""The share of L(0) - L(1) by which integrated gradients may miss it."""

MOST_NODES: Final = 128
"""Gradients taken of one example at most, where the integral is refined."""

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

    @property
    def gain(self) -> float:
        """What opening all heads gains, nats: what integrated gradients should sum to."""
        return self.loss_closed - self.loss

    @property
    def path_converged(self) -> bool:
        """Whether integrated gradients sum to the gain within ``TOLERANCE``; else they say nothing."""
        return abs(self.path_sum - self.gain) <= TOLERANCE * abs(self.gain)

    def effects(self, measure: Measure) -> PerHead:
        """One measure of every head, as it is stored."""
        return self.arrays[measure.name]

    def known(self, measure: Measure) -> PerHead:
        """One measure of every head, NaN where its integral didn't converge."""
        values = self.effects(measure)
        return np.full_like(values, np.nan) if self.unconverged(measure) else values

    def unconverged(self, measure: Measure) -> bool:
        """Whether it is an integral that didn't converge."""
        return measure.name == "path" and not self.path_converged

    @property
    def why_unconverged(self) -> str:
        """What the integral missed, and what to do: a sentence."""
        return (
            f"Integrated gradients did not converge: they sum to {self.path_sum:.3g} nats of the "
            f"{self.gain:.3g} that opening all heads gains, further off than {100 * TOLERANCE:.0f} %. "
            "Nothing is drawn of them: run again with the integral refined, or with more points."
        )


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
        values = result.known(measure)
        if measure.name in _HEADED and np.isfinite(values).any():
            place = np.unravel_index(int(np.nanargmax(values)), values.shape)
            numbers[f"most_by_{measure.name}"] = head_name(place)
    return numbers | {"largest_rise_left_out": float(np.nanmax(result.left_out))}
