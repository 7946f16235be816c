"""What closed heads give on a text of any length, which is no row of a task: from reference texts.

mean      a reference text's first token apart, the mean over all positions of all reference texts. A distance
          from the end, as rows of a task have it, says nothing of a text that is still being written.
resample  one reference text, drawn by a seed: first token with first token, then position by position, gone
          round again after its end.

A text has no pair, so that ``counterfactual`` is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from jaxtyping import Float

from headscope.core.gating.ablation import REFERENCE_ROWS, Ablation
from headscope.core.gating.replacements import measured
from headscope.core.model.head_model import HeadModel
from headscope.core.model.replacement import Replacement
from headscope.errors import Invalid

Measured = tuple[Float[torch.Tensor, "entry layer head d_head"], list[int]]
Measure = Callable[[Sequence[Sequence[int]]], Measured]
"""z at every position of rows of tokens, one row after the other, and where each begins."""

_AT_ONCE = 16


def of_text(
    model: HeadModel, ablation: Ablation, rows: Sequence[Sequence[int]], seed: int = 0
) -> Replacement | None:
    """r from reference texts as token ids; None for zero. Raises what ``measured_text`` does."""
    return measured_text(partial(measured, model), ablation, rows, seed)


@torch.no_grad()
def measured_text(
    measure: Measure, ablation: Ablation, rows: Sequence[Sequence[int]], seed: int = 0
) -> Replacement | None:
    """r from reference texts, of which the first ``REFERENCE_ROWS`` count; None for zero.

    Raises ``Invalid``: no-pairs for counterfactual; no-reference without texts, or with single tokens alone.
    """
    if ablation == "zero":
        return None
    if ablation == "counterfactual":
        raise Invalid(
            "A text of one's own has no paired prompt to take a closed head's output from.",
            "Choose the ablation zero, mean or resample.",
            code="no-pairs",
        )
    long = [row for row in rows if len(row) > 1][:REFERENCE_ROWS]
    if not long:
        raise Invalid(
            f"{ablation.capitalize()} ablation needs reference texts of at least two tokens.",
            "Give some texts, or a task whose rows are taken.",
            code="no-reference",
        )
    if ablation == "resample":
        source = torch.Generator().manual_seed(seed)
        drawn = long[int(torch.randint(len(long), (1,), generator=source))]
        return Replacement(measure([drawn])[0])
    first: list[torch.Tensor] = []
    later: list[torch.Tensor] = []
    for start in range(0, len(long), _AT_ONCE):
        z, starts = measure(long[start : start + _AT_ONCE])
        begins = torch.zeros(len(z), dtype=torch.bool, device=z.device)
        begins[starts] = True
        first.append(z[begins].double().sum(dim=0))
        later.append(z[~begins].double().sum(dim=0))
    n = len(long)
    means = [torch.stack(first).sum(dim=0) / n, torch.stack(later).sum(dim=0) / (sum(map(len, long)) - n)]
    return Replacement(torch.stack(means).float())
