"""How a battery is cut: consecutive prompts that are a piece's work together, their tokens taken from their
bytes, as a plan knows no tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence

from headscope.analyses import cutting
from headscope.analyses.costing import LAYER_OVERHEAD, pass_flop
from headscope.core.model.info import ModelInfo

BYTES_PER_TOKEN = 3.5
_MOST_PROMPTS = 500


def prompt_blocks(texts: Sequence[str], model: ModelInfo) -> list[range]:
    """Consecutive prompts, counted from 0."""
    found, start, filled = [], 0, 0.0
    for index, flop in enumerate(prompt_flop(texts, model)):
        if index > start and (filled + flop > cutting.PIECE_FLOP or index - start == _MOST_PROMPTS):
            found.append(range(start, index))
            start, filled = index, 0.0
        filled += flop
    return [*found, range(start, len(texts))]


def prompt_flop(texts: Sequence[str], model: ModelInfo) -> list[float]:
    """Of a pass of each prompt."""
    return [pass_flop(model, nominal_tokens(text, model)) for text in texts]


def nominal_tokens(text: str, model: ModelInfo) -> float:
    """Tokens taken for a text that meets no tokenizer; at most the context's."""
    return min(float(model.n_ctx), len(text.encode()) / BYTES_PER_TOKEN + 1)


def seconds_beside(texts: Sequence[str], model: ModelInfo) -> float:
    """Seconds that passes and scores take beside the arithmetic, a prompt alone in its pass."""
    return len(texts) * model.n_layers * 3 * LAYER_OVERHEAD
