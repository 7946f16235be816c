"""How a run is cut: for each task its clean prompts, then blocks of shuffled ones.

``clean/t/a-b`` sums z over clean prompts, ``effects/t/a-b`` patches every head in shuffled ones; task 0 is
the run's own. What a task lacks in prompts leaves the last blocks short or empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from headscope.analyses.base import Input
from headscope.analyses.cutting import blocks, fitting
from headscope.analyses.legacy import Piece
from headscope.analyses.mediating import patched_flop
from headscope.analyses.mediation_function_vectors.schema import FunctionVectorParams
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo
from headscope.tasks.task import Task

_SHOT_TOKENS = 9.0
"""Tokens taken for a question with its answer, whose true length isn't known before it meets a tokenizer."""


@dataclass(frozen=True)
class Work:
    """A piece and what it is for: which task, and the range of its clean or shuffled prompts."""

    piece: Piece
    kind: Literal["clean", "effects"]
    task: int
    block: range


def nominal_tokens(params: FunctionVectorParams) -> float:
    """What a prompt is taken to have."""
    return (params.shots + 1) * _SHOT_TOKENS


def other_tasks(inputs: Mapping[str, Input] | None) -> tuple[Task, ...]:
    """The tasks that ``tasks`` names, each once."""
    named = (inputs or {}).get("tasks", ())
    found = {task.name: task for task in named} if isinstance(named, tuple) else {}
    return tuple(found.values())


def plan(params: FunctionVectorParams, model: ModelInfo) -> list[Work]:
    """All pieces in the order they are computed."""
    count = 1 + len(dict.fromkeys(params.tasks))
    return [work for task in range(count) for work in _of_task(params, model, task, count)]


def _of_task(params: FunctionVectorParams, model: ModelInfo, task: int, count: int) -> Iterator[Work]:
    tokens = nominal_tokens(params)
    which = f", task {task + 1} of {count}" if count > 1 else ""
    needs: tuple[str, ...] = ()
    flop = forward_flop(model, tokens, 1)
    for block in blocks(range(params.clean), fitting(params.clean, flop, params.clean)):
        piece = Piece(f"clean/{task}/{_span(block)}", f"Clean prompts{which}", weight=flop * len(block))
        needs = (*needs, piece.key)
        yield Work(piece, "clean", task, block)
    flop = patched_flop(model, tokens, 1)
    for block in blocks(range(params.prompts), fitting(params.prompts, flop, params.prompts)):
        label = f"Heads patched into shuffled prompts{which}"
        piece = Piece(f"effects/{task}/{_span(block)}", label, needs, flop * len(block))
        yield Work(piece, "effects", task, block)


def _span(block: range) -> str:
    return f"{block.start}-{block.stop - 1}"
