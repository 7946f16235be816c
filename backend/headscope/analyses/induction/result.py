"""What the induction analysis finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, UInt16

from headscope.analyses.base import Quantity, Result
from headscope.core.model.info import head_name
from headscope.core.patterns.scores import SCORES

NAMES = tuple(score.name for score in SCORES)

PerDraw = Float[np.ndarray, "seed layer head"]


@dataclass(frozen=True, kw_only=True, eq=False)
class InductionResult(Result):
    """Scores of every head (``core.patterns.scores.SCORES``), and losses in nats, of every draw.

    Those called above are less what the targets' columns get anyway (``core.patterns.above``): heads are
    named by them. Results of before columns were told from stripes have none.

    ``loss`` is NaN for the first token, which nothing predicts; ``loss_first`` and ``loss_second`` are means
    over a copy, ``learning`` is the loss at the later of ``learning_pair`` less that at the earlier.
    ``ablated_heads`` are the strongest induction heads as (layer, head), ``rise_free`` and ``rise_frozen``
    how much the second copy's loss rises without each, all heads' patterns free to respond or held.
    """

    NAME: ClassVar[str] = "induction"
    VERSION: ClassVar[int] = 1

    induction: PerDraw
    prefix: PerDraw
    duplicate: PerDraw
    previous: PerDraw
    current: PerDraw
    sink: PerDraw
    entropy: PerDraw
    induction_above: PerDraw | None = None
    duplicate_above: PerDraw | None = None
    previous_above: PerDraw | None = None
    loss: Float[np.ndarray, "seed position"]
    loss_first: Float[np.ndarray, " seed"]
    loss_second: Float[np.ndarray, " seed"]
    learning: Float[np.ndarray, " seed"]
    ablated_heads: UInt16[np.ndarray, "ablated 2"]
    rise_frozen: Float[np.ndarray, "seed ablated"]
    rise_free: Float[np.ndarray, "seed ablated"]
    positions: int
    """Tokens of a sequence, BOS included."""
    bos: bool
    copies_start: Sequence[int]
    learning_pair: Sequence[int]
    notes: Sequence[str]

    def score(self, name: str) -> PerDraw:
        """One of ``NAMES``: a weight as it is."""
        return self.arrays[name]

    @property
    def above(self) -> bool:
        """Whether it knows what is above the columns' level."""
        return self.induction_above is not None

    def named_by(self, name: str) -> PerDraw:
        """What heads are named by: above the columns' level, where that is known and the score has one."""
        return self.arrays.get(f"{name}_above", self.arrays[name])


QUANTITIES: Mapping[str, Quantity] = {
    "induction_head": Quantity("Induction head", "head"),
    "induction_score": Quantity("Induction score"),
    "previous_token_head": Quantity("Previous-token head", "head"),
    "previous_token_score": Quantity("Previous-token score"),
    "loss_first_copy": Quantity("Loss of the first copy", "nats"),
    "loss_second_copy": Quantity("Loss of the second copy", "nats"),
    "in_context_learning": Quantity("In-context learning", "nats"),
}


def headline(result: InductionResult, threshold: float = 0.5) -> dict[str, Any]:
    """The strongest induction and previous-token head with their scores, and what the repeat costs."""
    numbers: dict[str, Any] = {}
    for name, words in (("induction", "induction"), ("previous", "previous_token")):
        score = result.named_by(name)
        (head,) = strongest(score, 1)
        numbers |= {f"{words}_head": head_name(head), f"{words}_score": float(score.mean(axis=0)[head])}
    return numbers | {
        "loss_first_copy": float(result.loss_first.mean()),
        "loss_second_copy": float(result.loss_second.mean()),
        "in_context_learning": float(result.learning.mean()),
    }


def strongest(score: PerDraw, count: int) -> list[tuple[int, int]]:
    """The heads with the highest mean over draws, the highest first."""
    mean = score.astype(np.float64).mean(axis=0)
    order = np.argsort(-mean.reshape(-1), kind="stable")[:count]
    return [divmod(index, mean.shape[1]) for index in order.tolist()]
