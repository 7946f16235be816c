"""What closed heads give, for analyses that close heads: the rows it comes from, and what is said of it.

Means are computed once a run, in a piece of their own; other rows and pairs are run where they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headscope.analyses.base import Context, Kept, Piece
from headscope.analyses.costing import NOMINAL_TOKENS
from headscope.core.gating.ablation import ABLATIONS, REFERENCE_ROWS, Ablation, told
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid
from headscope.tasks.task import Example, Examples, Task
from headscope.tasks.text import TextTask

if TYPE_CHECKING:
    from headscope.core.gating.replacements import Replacements

MEANS: Final = "means"
"""The key of the piece of means."""

PASSES: Final[Mapping[Ablation, int]] = {"zero": 0, "mean": 0, "resample": 1, "counterfactual": 1}
"""Forward passes more that each use of an example takes."""

Rows = Callable[[Context], Sequence[Example]]
"""Other rows of the task: training rows, drawn as the run draws them."""


def means(ablation: Ablation, model: ModelInfo, rows: Rows, needs: tuple[str, ...] = ()) -> list[Piece]:
    """The piece that takes the means over the first training rows; none where no means are asked for."""
    if ablation != "mean":
        return []
    weight = REFERENCE_ROWS * forward_flop(model, NOMINAL_TOKENS, 0)
    return [Piece(MEANS, "Means of closed heads", partial(_means, rows), needs, weight)]


def needs(ablation: Ablation) -> tuple[str, ...]:
    """The pieces that those which close heads need."""
    return (MEANS,) if ablation == "mean" else ()


def replacements(ablation: Ablation, rows: Rows, context: Context) -> Replacements | None:
    """What gives closed heads' output within a piece; None where they give nothing."""
    if ablation != "mean":
        return replacements_of(ablation, rows, context)
    import torch

    from headscope.core.gating.replacements import Means

    return Means(torch.from_numpy(np.array(context.pieces[MEANS]["table"])))


def replacements_of(ablation: Ablation, rows: Rows, context: Context) -> Replacements | None:
    """The same where a piece stands alone: means are taken at once."""
    if ablation == "zero":
        return None
    from headscope.core.gating.replacements import Means, Paired, Resampled, mean_table

    if ablation == "counterfactual":
        return Paired()
    others = rows(context)[:REFERENCE_ROWS]
    if ablation == "resample":
        return Resampled(others)
    return Means(mean_table(context.model, others, context.checkpoint))


def usable(ablation: Ablation, examples: Examples) -> Examples:
    """The examples whose closed heads' output is known: with ``counterfactual`` those that have a pair of
    their length.

    Raises ``Invalid`` (no-pairs) where none has.
    """
    if ablation != "counterfactual":
        return examples
    kept = tuple(example for example in examples.items if example.paired is not None)
    if not kept:
        raise _without_pairs("The task")
    return replace(examples, items=kept)


def check_pairs(ablation: Ablation, task: Task | None) -> None:
    """Raise ``Invalid`` (no-pairs) where a task of rows is known to have no paired prompts."""
    if ablation != "counterfactual":
        return
    if isinstance(task, TextTask) and all(row.paired is None for row in task.rows):
        raise _without_pairs(f"Task {task.name}")


def notes(ablation: str, unpaired: int = 0) -> Iterator[str]:
    """What a page says of it; nothing of zero, which is the paper's."""
    if ablation == "zero":
        return
    yield (
        f"{told(ablation).capitalize()}: a head that is switched off gives {ABLATIONS[_known(ablation)]}, "
        "where the paper's gives nothing."
    )
    if unpaired:
        yield f"{unpaired} rows have no paired prompt of their own length and were left out."


def of_run(params: Mapping[str, Any]) -> str:
    """The ablation of a run by its parameters; runs from before there was a choice have zero."""
    return str(params.get("ablation", "zero"))


def unlike(ablation: str, gating: Mapping[str, Any]) -> Iterator[str]:
    """A caveat where the gating run that orders heads closed them in another way."""
    if of_run(gating) != ablation:
        there, here = told(of_run(gating)), told(ablation)
        yield f"The gating run was fitted with {there}, heads are closed here by {here}."


def _means(rows: Rows, context: Context) -> Kept:
    from headscope.core.gating.replacements import mean_table

    table = mean_table(context.model, rows(context)[:REFERENCE_ROWS], context.checkpoint)
    return {"table": table.cpu().numpy()}


def _known(ablation: str) -> Ablation:
    return next(name for name in ABLATIONS if name == ablation)


def _without_pairs(what: str) -> Invalid:
    return Invalid(
        f"{what} has no paired prompts of the rows' own lengths to take closed heads' output from.",
        "Choose a task whose rows have paired prompts, or the ablation zero, mean or resample.",
        code="no-pairs",
    )
