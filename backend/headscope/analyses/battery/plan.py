"""How a battery is cut: first all prompts' lengths, then blocks of consecutive prompts.

1. ``lengths``: every prompt in tokens. Where one doesn't fit the context, the run ends here, or skips it.
2. ``prompts/a-b``: those prompts through the model. A block is as many as are a piece's work, their tokens
   taken from their bytes, as a plan knows no tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headscope.analyses import cutting
from headscope.analyses.costing import LAYER_OVERHEAD, pass_flop
from headscope.analyses.legacy import Piece
from headscope.core.model.info import ModelInfo

LENGTHS = "lengths"

BYTES_PER_TOKEN = 3.5
_MOST_PROMPTS = 500


@dataclass(frozen=True)
class Work:
    """A piece and which prompts it is for, counted from 0; none for the lengths of all."""

    piece: Piece
    prompts: range = range(0)


def plan(texts: Sequence[str], model: ModelInfo) -> list[Work]:
    """All pieces in the order they are computed."""
    costs = [pass_flop(model, nominal_tokens(text, model)) for text in texts]
    works = [Work(Piece(LENGTHS, "Reading the prompts", weight=0.02 * sum(costs)))]
    start, filled = 0, 0.0
    for index, cost in enumerate(costs):
        if index > start and (filled + cost > cutting.PIECE_FLOP or index - start == _MOST_PROMPTS):
            works.append(_block(start, index, filled, len(texts)))
            start, filled = index, 0.0
        filled += cost
    return [*works, _block(start, len(texts), filled, len(texts))]


def nominal_tokens(text: str, model: ModelInfo) -> float:
    """Tokens taken for a text that meets no tokenizer; at most the context's."""
    return min(float(model.n_ctx), len(text.encode()) / BYTES_PER_TOKEN + 1)


def seconds_beside(texts: Sequence[str], model: ModelInfo) -> float:
    """Seconds that passes and scores take beside the arithmetic, a prompt alone in its pass."""
    return len(texts) * model.n_layers * 3 * LAYER_OVERHEAD


def _block(start: int, stop: int, flop: float, total: int) -> Work:
    words = f"prompt {start + 1}" if stop - start == 1 else f"prompts {start + 1}–{stop}"
    return Work(Piece(f"prompts/{start}-{stop - 1}", f"{words} of {total}", weight=flop), range(start, stop))
