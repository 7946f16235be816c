"""What a battery of prompts finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int32, UInt8, UInt32

from headscope.analyses.base import Quantity, Result
from headscope.core.model.info import head_name
from headscope.core.patterns.scores import ABOVE, tells

PER_PROMPT = ("loss", "loss_first", "loss_repeat")
"""Mean losses of each prompt: of all tokens, of those seen for the first time, of repeats after a repeat."""

PerScore = Float[np.ndarray, "score layer head"]
PerNamed = Float[np.ndarray, "named layer head"]


@dataclass(frozen=True, kw_only=True, eq=False)
class BatteryResult(Result):
    """Scores over prompts, in the order of ``scores``, and what is known of each prompt; losses in nats.

    ``count`` prompts gave a value; ``top`` are the rows of those where it is highest, with ``top_value``, -1
    and NaN where there are fewer. A prompt that was ``skipped`` is longer than the context.

    Those called above are the same of ``core.patterns.scores.ABOVE`` less what the targets' columns get
    anyway, by which heads are named, and ``queries`` how many each prompt has of each. Results of before
    columns were told from stripes have none.
    """

    NAME: ClassVar[str] = "battery"
    VERSION: ClassVar[int] = 1

    mean: PerScore
    sd: PerScore
    count: UInt32[np.ndarray, "score layer head"]
    top: Int32[np.ndarray, "score layer head rank"]
    top_value: Float[np.ndarray, "score layer head rank"]
    above_mean: PerNamed | None = None
    above_sd: PerNamed | None = None
    above_count: UInt32[np.ndarray, "named layer head"] | None = None
    above_top: Int32[np.ndarray, "named layer head rank"] | None = None
    above_top_value: Float[np.ndarray, "named layer head rank"] | None = None
    queries: UInt32[np.ndarray, "prompt named"] | None = None
    n_tokens: UInt32[np.ndarray, " prompt"]
    n_repeats: UInt32[np.ndarray, " prompt"]
    skipped: UInt8[np.ndarray, " prompt"]
    loss: Float[np.ndarray, " prompt"]
    loss_first: Float[np.ndarray, " prompt"]
    loss_repeat: Float[np.ndarray, " prompt"]
    scores: Sequence[str]
    n_prompts: int
    n_skipped: int
    notes: Sequence[str]

    def over_prompts(self, name: str) -> OverPrompts:
        """Of one of ``SCORES`` what heads are named by: above the columns' level, where that is known and the
        score has one; else its weight as it is.
        """
        if name in ABOVE and self.queries is not None:
            place = ABOVE.index(name)
            parts = {part: self.arrays[f"above_{part}"][place] for part in PARTS}
            found = OverPrompts(**parts)
            return replace(found, queries=int(self.queries[:, place].sum()))
        return self.weights(name)

    def weights(self, name: str) -> OverPrompts:
        """Of one of ``SCORES`` the weight as it is."""
        place = self.scores.index(name)
        return OverPrompts(*(self.arrays[part][place] for part in PARTS))


PARTS = ("mean", "sd", "count", "top", "top_value")


@dataclass(frozen=True, eq=False)
class OverPrompts:
    """One score of every head over the prompts, as ``BatteryResult`` has it; ``queries`` of all prompts
    together, None for a weight as it is.
    """

    mean: Float[np.ndarray, "layer head"]
    sd: Float[np.ndarray, "layer head"]
    count: UInt32[np.ndarray, "layer head"]
    top: Int32[np.ndarray, "layer head rank"]
    top_value: Float[np.ndarray, "layer head rank"]
    queries: int | None = None

    @property
    def tells(self) -> bool:
        """Whether heads may be named by it: by a weight of an earlier run as before."""
        return self.queries is None or tells(self.queries)


QUANTITIES: Mapping[str, Quantity] = {
    "prompts": Quantity("Prompts", "count"),
    "induction_head": Quantity("Induction head", "head"),
    "induction_score": Quantity("Induction score"),
    "loss": Quantity("Loss", "nats"),
    "loss_first": Quantity("Loss of tokens seen for the first time", "nats"),
    "loss_repeat": Quantity("Loss of repeats", "nats"),
}


def headline(result: BatteryResult, threshold: float = 0.5) -> dict[str, Any]:
    """How many prompts, the strongest induction head where enough repeats, what repeats cost and the rest."""
    numbers: dict[str, Any] = {"prompts": int((result.skipped == 0).sum())}
    found = result.over_prompts("induction")
    induction = found.mean
    if found.tells and np.isfinite(induction).any():
        place = divmod(int(np.nanargmax(induction)), induction.shape[1])
        numbers |= {"induction_head": head_name(place), "induction_score": float(induction[place])}
    for name, losses in zip(PER_PROMPT, (result.loss, result.loss_first, result.loss_repeat), strict=True):
        known = losses[np.isfinite(losses)]
        numbers[name] = float(known.mean()) if len(known) else None
    return numbers
