"""An analysis run here and now, piece by piece and without the engine: nothing is stored, nothing resumes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from headscope.analyses.base import Analysis, Context, Kept, Progress, Result, Spec
from headscope.core.model.head_model import HeadModel

R = TypeVar("R", bound=Result)


def compute(
    analysis: Analysis[Any, R],
    spec: Spec[Any],
    model: HeadModel,
    *,
    checkpoint: Callable[[], None] = lambda: None,
    report: Callable[[Progress], None] = lambda _: None,
) -> R:
    """The result of a spec. Each piece sees those that it ``needs`` and no others."""
    pieces = analysis.plan(spec)
    whole = sum(piece.weight for piece in pieces)
    done: dict[str, Kept] = {}
    finished = 0.0
    for piece in pieces:

        def told(progress: Progress, before: float = finished, weight: float = piece.weight) -> None:
            report(replace(progress, fraction=(before + weight * progress.fraction) / whole))

        needed = {key: done[key] for key in piece.needs}
        done[piece.key] = piece.compute(Context(model, needed, checkpoint, told))
        finished += piece.weight
        report(Progress(piece.label, "", 1, 1, None, finished / whole))
    return analysis.assemble(spec, done)
