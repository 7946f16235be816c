"""What contrastive gating finds: gates, curves and held-out scores of every fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NotRequired, TypedDict

import numpy as np
from jaxtyping import Float

from headscope.analyses.base import Quantity, Result
from headscope.analyses.cchg.schema import PUSHES, WAYS, Fit, Push, Way
from headscope.analyses.result import by_name
from headscope.core.gating.verdict import Verdict

FITS = tuple(Fit(way, push).key for push in PUSHES for way in WAYS)

Curve = Float[np.ndarray, "seed update"]
Scores = Float[np.ndarray, "seed task"]


class TaskAbout(TypedDict):
    """A task as the model does it without gates."""

    name: str
    title: str
    content_hash: str
    form_of: str
    judged: str
    n: int
    n_left_out: int
    chance: float
    verdict: Verdict


class TaskScored(TaskAbout):
    """A task of the run: in which set, whether it was held out from fitting, and whether it stands in surface
    forms that were.
    """

    set: Literal["retain", "forget"]
    held_out: bool
    other_forms: NotRequired[bool]


class Outcome(TypedDict):
    """A fit, and what is ``kept`` and ``left`` of the accuracies of what it retains and forgets: mean over
    the seeds that finished, None where there is none.
    """

    key: str
    way: Way
    push: Push
    regularisation: float
    retain: Sequence[str]
    forget: Sequence[str]
    kept: float | None
    left: float | None
    seeds_apart: int
    of_seeds: int
    elsewhere: NotRequired[Elsewhere]
    """Where the fitted tasks have held-out surface forms."""


class Elsewhere(TypedDict):
    """What is ``kept`` and ``left`` in surface forms that no fit saw, with 95 % intervals over fits (None
    with fewer than two), and what the fit therefore sets apart.
    """

    kept: float | None
    left: float | None
    kept_interval: tuple[float, float] | None
    left_interval: tuple[float, float] | None
    holds_for: Literal["the skill", "the format", "can't tell"]


@dataclass(frozen=True, kw_only=True, eq=False)
class CchgResult(Result):
    """By the fit's key: gates in [0, 1], NaN where a seed's fit failed; log-probabilities of both sets while
    they were fitted, nats; held-out accuracy in [0, 1] and log-probability in nats. ``plain`` are mean gates
    of a causal head gating run, by the push, where one was named.
    """

    NAME: ClassVar[str] = "cchg"
    VERSION: ClassVar[int] = 1

    accuracy_ungated: Float[np.ndarray, " task"]
    log_probability_ungated: Float[np.ndarray, " task"]
    g: Mapping[str, Float[np.ndarray, "seed layer head"]] = by_name("g_{}", FITS)
    retained: Mapping[str, Curve] = by_name("retained_{}", FITS)
    forgotten: Mapping[str, Curve] = by_name("forgotten_{}", FITS)
    accuracy: Mapping[str, Scores] = by_name("accuracy_{}", FITS)
    log_probability: Mapping[str, Scores] = by_name("log_probability_{}", FITS)
    plain: Mapping[Push, Float[np.ndarray, "layer head"]] = by_name("plain_{}", PUSHES)
    tasks: Sequence[TaskScored]
    fits: Sequence[Outcome]
    failed_seeds: Mapping[str, Sequence[int]]
    keep: float
    lose: float
    gating: str | None
    notes: Sequence[str]

    @property
    def curves(self) -> dict[str, Mapping[str, Curve]]:
        """By the set."""
        return {"retained": self.retained, "forgotten": self.forgotten}


ONE_FORM = "one surface form"
"""What a run that has no other says of what it sets apart."""

QUANTITIES: Mapping[str, Quantity] = {
    "holds_for": Quantity("Holds for"),
    "retained_keeps_elsewhere": Quantity("Retained keep, other surface forms", "share"),
    "forgotten_keeps_elsewhere": Quantity("Forgotten keep, other surface forms", "share"),
    "retained_keeps": Quantity("Retained tasks keep", "share"),
    "forgotten_keeps": Quantity("Forgotten tasks keep", "share"),
    "seeds_that_set_apart": Quantity("Seeds that set them apart", "count"),
    "exchanged_retained_keeps": Quantity("Retained tasks keep, exchanged", "share"),
    "exchanged_forgotten_keeps": Quantity("Forgotten tasks keep, exchanged", "share"),
}


def headline(result: CchgResult, threshold: float = 0.5) -> dict[str, Any]:
    """Whether it is the skill or the format that comes apart, then how far, as named and exchanged."""
    named, exchanged = result.fits[:2]
    elsewhere = named.get("elsewhere")
    return {
        "holds_for": elsewhere["holds_for"] if elsewhere else ONE_FORM,
        "retained_keeps_elsewhere": elsewhere["kept"] if elsewhere else None,
        "forgotten_keeps_elsewhere": elsewhere["left"] if elsewhere else None,
        "retained_keeps": named["kept"],
        "forgotten_keeps": named["left"],
        "seeds_that_set_apart": named["seeds_apart"],
        "exchanged_retained_keeps": exchanged["kept"],
        "exchanged_forgotten_keeps": exchanged["left"],
    }
