"""The rows that a gating run is fitted and scored on: with how many in-context examples, all or those solved.

1. ``shots=auto``: pieces try some numbers of in-context examples (``analyses.shots``).
2. ``examples=solved``: pieces ask the ungated model for every row, ``solved/train/0-127``; only the rows
   that it gets right are kept, and chance is that of guessing the most frequent answer among them.
3. Where seeds are added to an earlier run, what that one found holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final, get_args

import numpy as np
from jaxtyping import UInt8

from headscope.analyses import shots as in_context
from headscope.analyses.ablation import usable
from headscope.analyses.base import Context, Kept, Piece, Pieces, Spec
from headscope.analyses.chg.earlier import taken_over
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.costing import NOMINAL_TOKENS
from headscope.analyses.cutting import blocks, fitting, span
from headscope.core.model.cost import forward_flop
from headscope.errors import Invalid, Refused
from headscope.tasks.task import Example, Examples, Split

LEAST_SOLVED: Final = 8
"""With fewer rows that the model gets right, of either split, there is nothing to fit or to score."""

MATHEMATICS: Final = ("gsm8k",)
"""Tasks whose rows the authors' code begins without a BOS."""

Mask = UInt8[np.ndarray, " row"]
"""1 for each row that the ungated model gets right."""

_SPLITS: tuple[Split, ...] = get_args(Split)


def pieces(spec: Spec[ChgParams]) -> list[Piece]:
    """Those that decide which rows are used, in order; none where the request says it."""
    if spec.params.adds_to is not None:
        return []
    tried = in_context.pieces(spec.params, spec.task, spec.model)
    return [*tried, *(_solving(spec, split, block) for split, block in _blocks(spec))]


def needed(spec: Spec[ChgParams]) -> tuple[str, ...]:
    """Their keys: what every piece needs that draws rows."""
    return tuple(piece.key for piece in pieces(spec))


def rows(spec: Spec[ChgParams], context: Context, split: Split) -> Examples:
    """The examples of a split that are used. Raises what ``asked`` does, ``Invalid`` (no-pairs)."""
    return usable(spec.params.ablation, asked(spec, context, split))


def asked(spec: Spec[ChgParams], context: Context, split: Split) -> Examples:
    """Whether they have pairs or not. Raises ``Refused`` (none-solved), and what drawing them does."""
    drawn = _drawn(spec, context, split)
    mask = solved(spec, context.pieces).get(split)
    return drawn if mask is None else only(drawn, mask)


def shots(spec: Spec[ChgParams], found: Pieces) -> int | None:
    """How many in-context examples a run has; None: the task's own number."""
    if spec.params.shots != in_context.AUTO:
        return spec.params.shots
    earlier = taken_over(spec)
    return in_context.taken(spec.params, found) if earlier is None else earlier.shots


def solved(spec: Spec[ChgParams], found: Pieces) -> dict[Split, Mask]:
    """By split, which rows the model gets right; empty where all rows are used."""
    if spec.params.examples == "all":
        return {}
    earlier = taken_over(spec)
    if earlier is not None:
        return {split: mask for split, mask in earlier.solved.items() if mask is not None}
    masks: dict[Split, Mask] = {}
    for split in _SPLITS:
        parts = [found[_key(split, block)]["solved"] for of, block in _blocks(spec) if of == split]
        masks[split] = np.concatenate(parts).astype(np.uint8)
    return masks


def only(drawn: Examples, mask: Mask) -> Examples:
    """The examples that a mask, which may be the longer one, has; ``Refused`` (none-solved) for few."""
    kept = tuple(example for example, right in zip(drawn, mask.tolist(), strict=False) if right)
    if len(kept) < LEAST_SOLVED:
        raise Refused(
            f"The ungated model gets {len(kept)} of {len(drawn)} rows right; {LEAST_SOLVED} are needed.",
            "Use all examples, more in-context examples, more rows, or a model that can do the task.",
            code="none-solved",
        )
    return replace(drawn, items=kept)


def _drawn(spec: Spec[ChgParams], context: Context, split: Split) -> Examples:
    params = spec.params
    if spec.task is None:
        raise Invalid("Causal head gating needs a task.", "Name one: `headscope tasks list` shows them.")
    drawn = spec.task.examples(
        context.model.tokenizer,
        split,
        limit=params.n_train if split == "train" else params.n_test,
        seed=params.split_seed,
        shots=shots(spec, context.pieces),
        n_ctx=context.model.info.n_ctx,
        pool=params.pool,
    )
    if params.bos == "none" or (params.bos == "none-in-mathematics" and spec.task.name in MATHEMATICS):
        return without_bos(drawn, context.model.tokenizer.bos_id)
    return drawn


def without_bos(drawn: Examples, bos_id: int | None) -> Examples:
    """The same examples without the beginning-of-sequence token that some begin with."""
    return replace(drawn, items=tuple(_shorter(each) if each.tokens[0] == bos_id else each for each in drawn))


def _shorter(example: Example) -> Example:
    paired = None if example.paired is None else example.paired[1:]
    targets = tuple(place - 1 for place in example.targets)
    return replace(example, tokens=example.tokens[1:], targets=targets, paired=paired)


def _blocks(spec: Spec[ChgParams]) -> Iterator[tuple[Split, range]]:
    """Rows that are asked in a piece, by split; there may be fewer than the task says."""
    params, task = spec.params, spec.task
    if params.examples == "all" or task is None:
        return
    each = forward_flop(spec.model, NOMINAL_TOKENS, 1)
    limits = (params.n_train, params.n_test)
    for split, rows_there, limit in zip(_SPLITS, task.sizes(seed=params.split_seed), limits, strict=True):
        n = min(rows_there, limit or rows_there)
        for block in blocks(range(n), fitting(n, each, most=n)):
            yield split, block


def _solving(spec: Spec[ChgParams], split: Split, block: range) -> Piece:
    words = "training" if split == "train" else "held-out"
    return Piece(
        _key(split, block),
        f"Rows that the model gets right, {words} {block.start + 1}–{block.stop}",
        partial(_right, spec, split, block),
        in_context.keys(spec.params),
        weight=forward_flop(spec.model, NOMINAL_TOKENS, 1) * len(block),
    )


def _key(split: Split, block: range) -> str:
    return f"solved/{split}/{span(block)}"


def _right(spec: Spec[ChgParams], split: Split, block: range, context: Context) -> Kept:
    """Which rows of the block are answered right from end to end."""
    from headscope.core.gating.evaluation import evaluate

    asked = _drawn(spec, context, split)[block.start : block.stop]
    if not asked or spec.task is None:  # fewer rows fit than the task says
        return {"solved": np.zeros(0, np.uint8)}
    found = evaluate(context.model, asked, judged=spec.task.judged, checkpoint=context.checkpoint)
    return {"solved": (found.correct[0].numpy() > 1 - 1e-9).astype(np.uint8)}
