"""Gating runs on the planted model, computed piece by piece as the engine does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headscope.analyses.base import Context, Kept, Progress, Result, Spec
from headscope.analyses.chg import CHG
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.chg.schema import ChgParams
from micro.model import MicroModel
from micro.planted import PlantedTask, planted_model

TASK = PlantedTask()
PARAMS = ChgParams(seeds=3, steps=6, batch_size=5)


def spec_of(
    params: ChgParams,
    *,
    task: Any = TASK,
    model: MicroModel | None = None,
    inputs: Mapping[str, Result] | None = None,
) -> Spec[ChgParams]:
    """What a run of these parameters is asked for."""
    return Spec(params, (model or planted_model()).info, task, inputs or {})


def pieces_of(
    params: ChgParams,
    *,
    model: MicroModel | None = None,
    reports: list[Progress] | None = None,
    **more: Any,
) -> dict[str, Kept]:
    """Every piece of a run, in the order of its plan."""
    model = model or planted_model()
    done: dict[str, Kept] = {}
    for piece in CHG.plan(spec_of(params, model=model, **more)):
        needed = {key: done[key] for key in piece.needs}
        report = reports.append if reports is not None else lambda _: None
        done[piece.key] = piece.compute(Context(model, needed, report=report))
    return done


def run(params: ChgParams, *, reports: list[Progress] | None = None, **more: Any) -> ChgResult:
    """A run to its end."""
    return CHG.assemble(spec_of(params, **more), pieces_of(params, reports=reports, **more))
