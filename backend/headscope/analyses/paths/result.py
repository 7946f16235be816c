"""What the path expansion finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float, Int32, UInt8, UInt16

from headscope.analyses.base import Quantity, Result
from headscope.analyses.token_names import TokenName
from headscope.core.model.info import head_name

SOURCE_WORDS = ("token", "position", "bias")
"""Where a path starts, in the order of ``core.circuits.frozen.SOURCES``."""


Scored = Literal["all", "second copy"]

SCORED_WORDS: Mapping[Scored, str] = {
    "all": "over all tokens of the sequences",
    "second copy": "over the tokens of the second copy that the first one tells",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class PathsResult(Result):
    """A logit's terms, the largest first; the virtual heads kept; importance on each sequence (row).

    A term is a path: ``source`` (an index of ``SOURCE_WORDS``), ``first`` and ``second`` head as layer *
    heads + head (-1 for none), ``value`` in logits. ``pairs`` are virtual heads (layer, head, layer, head) in
    order of ``pairs_by``. Losses are means over the tokens ``scored``. ``orders`` is the loss if only paths
    of at most so many heads count; ``heads`` and ``virtual`` are its rise without a head's or a pair's paths,
    in nats a token, NaN where there is no pair.
    """

    NAME: ClassVar[str] = "paths"
    VERSION: ClassVar[int] = 3

    first: Int32[np.ndarray, " term"]
    second: Int32[np.ndarray, " term"]
    source: UInt8[np.ndarray, " term"]
    value: Float[np.ndarray, " term"]
    pairs: UInt16[np.ndarray, "pair 4"]
    pair_pattern: Float[np.ndarray, "pair pos pos"]
    pair_spectrum: Float[np.ndarray, "pair d_head 2"]
    orders: Float[np.ndarray, "row order"]
    heads: Float[np.ndarray, "row layer head"]
    virtual: Float[np.ndarray, "row layer head layer head"] | None = None
    """None where the model has too many pairs to remove each in turn."""
    against: int | None
    at: int
    limits: Sequence[str]
    logit: float
    longer: float
    """What paths of three heads and more add."""
    n_terms: int
    notes: Sequence[str]
    other_terms: float
    """What the terms that aren't kept add."""
    pairs_by: Literal["importance", "value"] = "value"
    prompt: Sequence[TokenName]
    scored: Scored = "all"
    """The tokens whose prediction counts. Before version 3 it was all, also of random tokens."""
    through_mlps: float
    token: int
    tokens: Sequence[TokenName]
    total: float

    def path_name(self, term: int) -> str:
        """A path in words: its source and the heads it goes through."""
        numbers = [int(half[term]) for half in (self.first, self.second)]
        through = [head_name(divmod(number, self.model.n_heads)) for number in numbers if number >= 0]
        return " → ".join([SOURCE_WORDS[int(self.source[term])], *through])

    @property
    def scored_words(self) -> str:
        """Over what losses are means, in words; of random tokens' first copy it says what that is worth."""
        words = SCORED_WORDS[self.scored]
        if self.scored == "all" and not self.params.get("prompts"):
            return f"{words}, the first copy too, which nobody can predict (a run today leaves it out)"
        return words

    def pair_name(self, place: int) -> str:
        """A virtual head of those kept, in words."""
        return pair_name(self.pairs[place].tolist())


def pair_name(pair: Sequence[int]) -> str:
    """A virtual head (layer, head, layer, head) as it is written: 0.3 → 1.5."""
    return f"{head_name(pair[:2])} → {head_name(pair[2:])}"


QUANTITIES: Mapping[str, Quantity] = {
    "logit": Quantity("Logit", "logits"),
    "sum_of_terms": Quantity("Sum of all terms", "logits"),
    "strongest_path": Quantity("Strongest path", "path"),
    "loss_order_0": Quantity("Loss, direct path alone", "nats"),
    "loss_order_1": Quantity("Loss, paths of up to 1 head", "nats"),
    "loss_order_2": Quantity("Loss, paths of up to 2 heads", "nats"),
    "loss_order_3": Quantity("Loss, paths of up to 3 heads", "nats"),
}


def headline(result: PathsResult, threshold: float = 0.5) -> dict[str, Any]:
    """The logit, what the terms add up to, the strongest path, the loss after each order."""
    orders = result.orders.mean(axis=0)
    return {
        "logit": float(result.logit),
        "sum_of_terms": float(result.total),
        "strongest_path": result.path_name(int(np.abs(result.value).argmax())),
        **{f"loss_order_{order}": float(loss) for order, loss in enumerate(orders[:4])},
    }
