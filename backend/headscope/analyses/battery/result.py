"""What a battery of prompts finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int32, UInt8, UInt32

from headscope.analyses.base import Quantity, Result
from headscope.core.model.info import head_name

PER_PROMPT = ("loss", "loss_first", "loss_repeat")
"""Mean losses of each prompt: of all tokens, of those seen for the first time, of repeats after a repeat."""

PerScore = Float[np.ndarray, "score layer head"]


@dataclass(frozen=True, kw_only=True, eq=False)
class BatteryResult(Result):
    """Scores over prompts, in the order of ``scores``, and what is known of each prompt; losses in nats.

    ``count`` prompts gave a value; ``top`` are the rows of those where it is highest, with ``top_value``, -1
    and NaN where there are fewer. A prompt that was ``skipped`` is longer than the context.
    """

    NAME: ClassVar[str] = "battery"
    VERSION: ClassVar[int] = 1

    mean: PerScore
    sd: PerScore
    count: UInt32[np.ndarray, "score layer head"]
    top: Int32[np.ndarray, "score layer head rank"]
    top_value: Float[np.ndarray, "score layer head rank"]
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


QUANTITIES: Mapping[str, Quantity] = {
    "prompts": Quantity("Prompts", "count"),
    "induction_head": Quantity("Induction head", "head"),
    "induction_score": Quantity("Induction score"),
    "loss": Quantity("Loss", "nats"),
    "loss_first": Quantity("Loss of tokens seen for the first time", "nats"),
    "loss_repeat": Quantity("Loss of repeats", "nats"),
}


def headline(result: BatteryResult, threshold: float = 0.5) -> dict[str, Any]:
    """How many prompts, the strongest induction head over them, what repeats cost and what the rest."""
    numbers: dict[str, Any] = {"prompts": int((result.skipped == 0).sum())}
    induction = result.mean[0]
    if np.isfinite(induction).any():
        place = divmod(int(np.nanargmax(induction)), induction.shape[1])
        numbers |= {"induction_head": head_name(place), "induction_score": float(induction[place])}
    for name, losses in zip(PER_PROMPT, (result.loss, result.loss_first, result.loss_repeat), strict=True):
        known = losses[np.isfinite(losses)]
        numbers[name] = float(known.mean()) if len(known) else None
    return numbers
