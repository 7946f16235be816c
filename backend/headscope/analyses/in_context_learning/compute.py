"""The in-context-learning score as pieces of durable work.

1. ``texts``: the beginnings of the documents that are long enough, in tokens.
2. ``documents/a-b``: those documents through the model: every token's loss.
3. ``closed/a-b/c-d``: the same with heads number c to d closed, one at a time: the losses that are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from headscope.analyses.base import Context, Kept, Piece, Pieces, Progress, Spec
from headscope.analyses.cutting import span
from headscope.analyses.in_context_learning.cuts import (
    closed_blocks,
    document_blocks,
    document_flop,
    most_documents,
    texts_of,
)
from headscope.analyses.in_context_learning.result import InContextLearningResult
from headscope.analyses.in_context_learning.schema import ENOUGH, InContextLearningParams, closed_heads
from headscope.analyses.in_context_learning.texts import SOURCE, beginnings
from headscope.analyses.induction.result import InductionResult

if TYPE_CHECKING:
    import torch

_TEXTS = "texts"


def plan(spec: Spec[InContextLearningParams]) -> Sequence[Piece]:
    """Reading, then passes as the model is, then passes with heads closed.

    Raises ``Invalid`` (context-too-short, unknown-head).
    """
    flop = document_flop(spec)
    return [
        Piece(_TEXTS, "Reading the documents", partial(_read, spec), weight=0.01 * flop),
        *(
            Piece(
                _documents_key(block),
                f"Losses, {_words(block)} of {most_documents(spec)}",
                partial(_losses, block),
                (_TEXTS,),
                weight=flop * len(block),
            )
            for block in document_blocks(spec)
        ),
        *(
            Piece(
                _closed_key(block, heads),
                f"Heads closed, {_words(block)}",
                partial(_closed, spec, block, heads),
                (_TEXTS,),
                weight=flop * len(block) * len(heads),
            )
            for block, heads in closed_blocks(spec)
        ),
    ]


def assemble(spec: Spec[InContextLearningParams], pieces: Pieces) -> InContextLearningResult:
    """All documents together."""
    read, heads = pieces[_TEXTS], closed_heads(spec)
    numbers, short = read["numbers"], int(read["short"][0])
    shape = (len(heads), most_documents(spec), 2)
    closed = {name: np.full(shape, np.nan, np.float32) for name in ("at", "around")}
    for block, ranks in closed_blocks(spec):
        for name, whole in closed.items():
            part = pieces[_closed_key(block, ranks)][name]
            whole[ranks.start : ranks.stop, block.start : block.start + part.shape[1]] = part
    loss = np.concatenate([pieces[_documents_key(block)]["loss"] for block in document_blocks(spec)])
    return InContextLearningResult(
        **InContextLearningResult.header(spec),
        loss=loss.astype(np.float32),
        documents=numbers.astype(np.uint32),
        closed_heads=np.array(heads, np.uint16).reshape(-1, 2),
        closed_at=closed["at"][:, : len(numbers)],
        closed_around=closed["around"][:, : len(numbers)],
        n_short=short,
        source=f"{len(numbers)} of the prompts named" if spec.params.prompts else SOURCE,
        notes=_notes(spec, len(numbers), short),
    )


def _documents_key(block: range) -> str:
    return f"documents/{span(block)}"


def _closed_key(block: range, heads: range) -> str:
    return f"closed/{span(block)}/{span(heads)}"


def _words(block: range) -> str:
    return f"document {block.stop}" if len(block) == 1 else f"documents {block.start + 1}–{block.stop}"


def _read(spec: Spec[InContextLearningParams], context: Context) -> Kept:
    read = beginnings(
        context.model.tokenizer, texts_of(spec), spec.params.documents, checkpoint=context.checkpoint
    )
    return {"tokens": read.tokens, "numbers": read.numbers, "short": np.array([read.short], np.uint32)}


def _losses(block: range, context: Context) -> Kept:
    from headscope.analyses.in_context_learning.measure import losses

    return {"loss": losses(context.model, _tokens(block, context), context.checkpoint).numpy()}


def _closed(spec: Spec[InContextLearningParams], block: range, ranks: range, context: Context) -> Kept:
    from headscope.analyses.in_context_learning.measure import closed

    heads = closed_heads(spec)[ranks.start : ranks.stop]

    def report(done: int) -> None:
        context.report(Progress("heads closed", "", done, len(heads), None, done / len(heads)))

    at, around = closed(
        context.model, _tokens(block, context), heads, spec.params.window, context.checkpoint, report
    )
    return {"at": at.numpy(), "around": around.numpy()}


def _tokens(block: range, context: Context) -> torch.Tensor:
    """Those documents of the block that there are: too short ones leave fewer than planned."""
    import torch

    tokens = context.pieces[_TEXTS]["tokens"][block.start : block.stop]
    return torch.from_numpy(tokens.astype(np.int64))


def _notes(spec: Spec[InContextLearningParams], documents: int, short: int) -> list[str]:
    notes = []
    if short:
        notes.append(f"{short} documents are shorter than 512 tokens and were left out.")
    if documents < ENOUGH:
        notes.append(f"{documents} documents: the score wants {ENOUGH} or more.")
    run = spec.input("induction", InductionResult)
    if run is not None and spec.params.heads is None and run.params.get("gates"):
        notes.append(
            "The induction run was measured under gates: its strongest heads may not be the model's."
        )
    if not spec.params.prompts:
        notes.append(
            "The documents are Shakespeare's plays: the score is of a text that models may know by heart."
        )
    return notes
