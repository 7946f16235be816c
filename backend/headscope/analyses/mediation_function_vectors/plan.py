"""How a run is cut: for each task its clean prompts, then blocks of shuffled ones.

``clean/t/a-b`` sums z over clean prompts, ``effects/t/a-b`` patches every head in shuffled ones; task 0 is
the run's own. What a task lacks in prompts leaves the last blocks short or empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from headscope.analyses.base import Piece, Spec
from headscope.analyses.cutting import blocks, fitting
from headscope.analyses.mediation_function_vectors.compute import clean_block, patched_block, repeated_block
from headscope.analyses.mediation_function_vectors.schema import FunctionVectorParams
from headscope.analyses.patch_effects import patched_flop
from headscope.core.model.cost import forward_flop
from headscope.errors import Invalid
from headscope.tasks.task import Task

_SHOT_TOKENS = 9.0
"""Tokens taken for a question with its answer, whose true length isn't known before it meets a tokenizer."""


@dataclass(frozen=True)
class Share:
    """One task's part of a run: ranges of its clean and its shuffled prompts, by the keys of their pieces.

    ``repeated``: it is the run's own task, named again among the others.
    """

    task: Task
    repeated: bool
    clean: Mapping[str, range]
    shuffled: Mapping[str, range]


def nominal_tokens(params: FunctionVectorParams) -> float:
    """What a prompt is taken to have."""
    return (params.shots + 1) * _SHOT_TOKENS


def other_tasks(spec: Spec[FunctionVectorParams]) -> list[Task]:
    """The tasks that ``tasks`` names, each once."""
    return list({task.name: task for task in spec.input("tasks", tuple) or ()}.values())


def shares(spec: Spec[FunctionVectorParams]) -> list[Share]:
    """Every task's part, the run's own first."""
    own = _own_task(spec)
    return [
        Share(
            task,
            repeated=number > 0 and task.name == own.name,
            clean=_blocks(f"clean/{number}", spec.params.clean, _clean_flop(spec)),
            shuffled=_blocks(f"effects/{number}", spec.params.prompts, _patched_flop(spec)),
        )
        for number, task in enumerate((own, *other_tasks(spec)))
    ]


def plan(spec: Spec[FunctionVectorParams]) -> Sequence[Piece]:
    """All pieces in the order they are computed."""
    every = shares(spec)
    return [
        piece
        for number, share in enumerate(every, 1)
        for piece in _pieces(spec, share, f", task {number} of {len(every)}" if len(every) > 1 else "")
    ]


def _pieces(spec: Spec[FunctionVectorParams], share: Share, which: str) -> Iterator[Piece]:
    for key, block in share.clean.items():
        compute = partial(clean_block, spec.params, share.task, block)
        yield Piece(
            key,
            f"Clean prompts{which}",
            repeated_block if share.repeated else compute,
            weight=_clean_flop(spec) * len(block),
        )
    clean = tuple(share.clean)
    for key, block in share.shuffled.items():
        compute = partial(patched_block, spec.params, share.task, clean, block)
        yield Piece(
            key,
            f"Heads patched into shuffled prompts{which}",
            repeated_block if share.repeated else compute,
            clean,
            _patched_flop(spec) * len(block),
        )


def _blocks(prefix: str, count: int, flop: float) -> dict[str, range]:
    cut = blocks(range(count), fitting(count, flop, count))
    return {f"{prefix}/{block.start}-{block.stop - 1}": block for block in cut}


def _clean_flop(spec: Spec[FunctionVectorParams]) -> float:
    return forward_flop(spec.model, nominal_tokens(spec.params), 1)


def _patched_flop(spec: Spec[FunctionVectorParams]) -> float:
    return patched_flop(spec.model, nominal_tokens(spec.params), 1)


def _own_task(spec: Spec[FunctionVectorParams]) -> Task:
    if spec.task is None:
        raise Invalid(
            "Function vectors are of a task.",
            "Name one: `headscope tasks list` shows them.",
            code="task-missing",
        )
    return spec.task
