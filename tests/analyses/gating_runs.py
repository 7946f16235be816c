"""Gating runs on the planted model, computed piece by piece as the engine does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headscope.analyses.base import Arrays, Context, Progress, Result
from headscope.analyses.chg.compute import CausalHeadGating
from headscope.analyses.chg.schema import ChgParams
from micro.model import MicroModel
from micro.planted import PlantedTask, planted_model

CHG = CausalHeadGating()
TASK = PlantedTask()
PARAMS = ChgParams(seeds=3, steps=6, batch_size=5)


def pieces_of(
    params: ChgParams,
    *,
    task: Any = TASK,
    model: MicroModel | None = None,
    inputs: Mapping[str, Result] | None = None,
    reports: list[Progress] | None = None,
) -> dict[str, Arrays]:
    """Every piece of a run, in the order of its plan."""
    model, given = model or planted_model(), inputs or {}
    done: dict[str, Arrays] = {}
    for piece in CHG.plan(params, model.info, inputs=given):
        needed = {key: done[key] for key in piece.needs}
        report = reports.append if reports is not None else lambda _: None
        context = Context(model, task, needed, report=report, inputs=given)
        done[piece.key] = CHG.compute(piece, params, context)
    return done


def run(params: ChgParams, *, task: Any = TASK, model: MicroModel | None = None, **more: Any) -> Result:
    """A run to its end."""
    model = model or planted_model()
    done = pieces_of(params, task=task, model=model, **more)
    return CHG.assemble(params, model.info, task, done)
