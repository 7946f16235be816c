"""Analyses that are still objects with methods, seen as the values that ``analyses.base`` describes.

Goes when the last of them is a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from headscope.analyses import base
from headscope.analyses.base import Analysis, Arrays, Figure, Input, Progress, Quantity, Result, Spec
from headscope.analyses.references import (
    GatesRef,
    PromptsRef,
    RunRef,
    TaskRef,
    TasksRef,
)
from headscope.core.model.head_model import HeadModel
from headscope.tasks.task import Task

Reference = Literal["run", "prompts", "gates", "task", "tasks"]
_KINDS: Mapping[str, base.Reference] = {
    "run": RunRef("chg"),
    "prompts": PromptsRef(),
    "gates": GatesRef(),
    "task": TaskRef(),
    "tasks": TasksRef(),
}


@dataclass(frozen=True)
class Piece:
    """A piece that is computed by its analysis."""

    key: str
    label: str
    needs: tuple[str, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True)
class Context:
    """What such a piece is computed with."""

    model: HeadModel
    task: Task | None
    pieces: Mapping[str, Arrays] = field(default_factory=dict)
    checkpoint: Callable[[], None] = lambda: None
    report: Callable[[Progress], None] = lambda _: None
    inputs: Mapping[str, Input] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Legacy(Analysis[Any, Any]):
    """An object as a value; ``of`` is the object."""

    of: Any

    @property
    def name(self) -> str:
        """The object's."""
        return str(self.of.name)

    @property
    def version(self) -> int:
        """The object's."""
        return int(self.of.version)

    @property
    def references(self) -> Mapping[str, base.Reference]:
        """The object's, as references; chg's runs where runs are named."""
        return {param: _KINDS[kind] for param, kind in self.of.references.items()}


def adapted(
    of: Any, figures: Any, *, whole: str | None = None, about_one_head: Sequence[str] = (), gates: Any = None
) -> Legacy:
    """The object and its module of figures as one value."""
    takes = {"inputs"} if of.references else set()

    def handed(spec: Spec[Any]) -> dict[str, Any]:
        return {"inputs": spec.inputs} if takes else {}

    def compute(piece: Piece, spec: Spec[Any], context: base.Context) -> Any:
        old = Context(
            context.model, spec.task, context.pieces, context.checkpoint, context.report, spec.inputs
        )
        return of.compute(piece, spec.params, old)

    def plan(spec: Spec[Any]) -> Sequence[base.Piece]:
        return [
            base.Piece(p.key, p.label, partial(compute, p, spec), p.needs, p.weight)
            for p in of.plan(spec.params, spec.model, **handed(spec))
        ]

    def estimate(spec: Spec[Any], **machine: Any) -> base.Estimate:
        found: base.Estimate = of.estimate(spec.params, spec.model, spec.task, **machine, **handed(spec))
        return found

    def assemble(spec: Spec[Any], pieces: Any) -> Result:
        found: Result = of.assemble(spec.params, spec.model, spec.task, pieces)
        return found

    def part(spec: Spec[Any], pieces: Any) -> Result | None:
        found: Result | None = of.partial(spec.params, spec.model, spec.task, pieces)
        return found

    def headline(result: Result, threshold: float = 0.5) -> dict[str, Any]:
        return dict(of.headline(result))

    return Legacy(
        of=of,
        title=of.title,
        summary=of.summary,
        params=of.params,
        result=Result,
        estimate=estimate,
        plan=plan,
        assemble=assemble,
        figures=tuple(
            Figure(name, draw, figures.TABLES[name], name in about_one_head, name == whole)
            for name, draw in figures.FIGURES.items()
        ),
        headline=headline,
        quantities=_Worded(),
        seeds=of.seeds,
        needs_task=of.needs_task,
        attention=of.attention,
        gates=gates,
        presets=of.presets,
        partial=part if hasattr(of, "partial") else None,
    )


class _Worded(dict[str, Quantity]):
    def __missing__(self, name: str) -> Quantity:
        return Quantity(name.replace("_", " ").capitalize())
