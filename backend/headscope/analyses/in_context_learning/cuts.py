"""How a run is cut: by documents, and the heads that are closed on them."""

from __future__ import annotations

from collections.abc import Sequence

from headscope.analyses.base import Spec
from headscope.analyses.cutting import blocks, fitting
from headscope.analyses.in_context_learning.schema import (
    TOKENS,
    InContextLearningParams,
    check_context,
    closed_heads,
)
from headscope.analyses.in_context_learning.texts import shipped
from headscope.core.model.cost import forward_flop
from headscope.tasks.prompts import PromptSet

_MOST_DOCUMENTS = 64


def texts_of(spec: Spec[InContextLearningParams]) -> Sequence[str]:
    """What is read: the prompts named, or the passages that come with Headscope."""
    prompts = spec.input("prompts", PromptSet)
    return shipped() if prompts is None else prompts.texts


def most_documents(spec: Spec[InContextLearningParams]) -> int:
    """How many documents there can be, before any is found too short."""
    return min(spec.params.documents, len(texts_of(spec)))


def document_flop(spec: Spec[InContextLearningParams]) -> float:
    """Of a pass of one document. Raises ``Invalid`` (context-too-short)."""
    check_context(spec.model)
    return forward_flop(spec.model, TOKENS, TOKENS)


def document_blocks(spec: Spec[InContextLearningParams]) -> list[range]:
    """Documents by their place among those that are read."""
    count = most_documents(spec)
    return list(blocks(range(count), fitting(count, document_flop(spec), _MOST_DOCUMENTS)))


def closed_blocks(spec: Spec[InContextLearningParams]) -> list[tuple[range, range]]:
    """Documents, and the heads that are closed on them by their place in the list; none without heads."""
    heads, count = len(closed_heads(spec)), most_documents(spec)
    if not heads:
        return []
    flop = document_flop(spec)
    documents = fitting(count, flop, _MOST_DOCUMENTS)
    at_once = fitting(heads, documents * flop, heads)
    return [
        (block, closed)
        for closed in blocks(range(heads), at_once)
        for block in blocks(range(count), documents)
    ]
