"""The cheap relatives as pieces of durable work; core/attribution/relatives.py and
core/attribution/direct.py measure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from headscope.analyses.base import (
    Arrays,
    Estimate,
    Progress,
    Result,
)
from headscope.analyses.columns import quietly
from headscope.analyses.held_out import of_task, scoring, sizes
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.analyses.relatives.plan import Work, passed, plan, slope_passes
from headscope.analyses.relatives.schema import MEASURES, PRESETS, RelativesParams
from headscope.analyses.result import identity
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Refused
from headscope.tasks.task import Examples, Task


class Relatives:
    """What every head is worth to a task, by leaving it out, by slopes, and by what it writes itself."""

    name: ClassVar[str] = "relatives"
    title: ClassVar[str] = "Effects of each head"
    summary: ClassVar[str] = (
        "What every head is worth to a task by cheaper measures: left out, by slopes of the loss, by what it "
        "writes at the answer itself."
    )
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = True
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {}
    params: type[RelativesParams] = RelativesParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: RelativesParams) -> Sequence[int]:
        """One: nothing is drawn but the split."""
        return (params.split_seed,)

    def estimate(
        self,
        params: RelativesParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes."""
        drawing = {"split_seed": params.split_seed, "shots": params.shots}
        rows = sizes(task, tokenizer, drawing, params.n_examples, model)
        slopes = slope_passes(params)
        left = model.n_heads * sum(passed(model, layer) for layer in range(model.n_layers))
        return scoring(
            model,
            params.dtype,
            rows,
            layers=model.n_layers * (slopes + left),
            readings=slopes + model.n_layers * model.n_heads,
            throughput=throughput,
            basis=f"{model.n_layers * model.n_heads} heads left out, {1 + params.points} slopes",
        )

    def plan(self, params: RelativesParams, model: ModelInfo) -> Sequence[Piece]:
        """The pieces in order; see ``analyses.relatives.plan``."""
        return [work.piece for work in plan(params, model)]

    def compute(self, piece: Piece, params: RelativesParams, context: Context) -> Arrays:
        """What one piece measures of each of its examples."""
        work = next(work for work in plan(params, context.model.info) if work.piece.key == piece.key)
        drawn = _examples(params, context)
        mine = drawn[work.examples.start : work.examples.stop]
        found = _left_out(work, mine, context) if work.layers else _slopes(params, mine, context)
        context.report(Progress(piece.label, "", len(mine), len(mine), None, 1.0))
        return {**found, "n_left_out": np.array([drawn.n_left_out])}

    def assemble(
        self, params: RelativesParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """Each measure [layer, head], mean over examples, and its standard error ``{measure}_se``."""
        works = plan(params, model)
        parts = [pieces[work.piece.key] for work in works if not work.layers]
        per_example = {
            name: np.concatenate([part[name] for part in parts])
            for name in ("loss", "loss_closed", "slope", "path", "direct")
        }
        per_example["importance"] = np.abs(per_example["slope"])
        per_example["left_out"] = _joined(works, pieces, per_example["loss"], model)
        arrays: dict[str, Any] = {}
        for measure in MEASURES:
            values = per_example[measure.name]
            arrays[measure.name] = values.mean(axis=0).astype(np.float32)
            error = quietly(np.std, values, axis=0, ddof=1) / np.sqrt(len(values))
            arrays[f"{measure.name}_se"] = error.astype(np.float32)
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task=identity(task),
            seeds=tuple(self.seeds(params)),
            other_arrays=arrays,
            other_values=_values(params, per_example, int(parts[0]["n_left_out"][0])),
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """The loss as it is, and the head that matters most by each measure."""
        numbers: dict[str, Any] = {"loss": result.values["loss"]}
        for name in ("left_out", "path", "direct"):
            values = result.arrays[name].astype(np.float64)
            if np.isfinite(values).any():
                layer, head = np.unravel_index(int(np.nanargmax(values)), values.shape)
                numbers[f"most_by_{name}"] = f"{layer}.{head}"
        return numbers | {"largest_rise_left_out": float(np.nanmax(result.arrays["left_out"]))}


def _slopes(params: RelativesParams, examples: Sequence[Any], context: Context) -> dict[str, np.ndarray]:
    from headscope.core.attribution import relatives

    model, checkpoint = context.model, context.checkpoint
    shape = (len(examples), model.info.n_layers, model.info.n_heads)
    if not examples:
        return {"loss": np.zeros(0), "loss_closed": np.zeros(0)} | {
            name: np.zeros(shape) for name in ("slope", "path", "direct")
        }
    loss, slope = relatives.slopes(model, examples, 1.0, checkpoint)
    closed, _ = relatives.slopes(model, examples, 0.0, checkpoint)
    return {
        "loss": loss.numpy(),
        "loss_closed": closed.numpy(),
        "slope": slope.numpy(),
        "path": relatives.along_path(model, examples, params.points, checkpoint).numpy(),
        "direct": _direct(examples, context),
    }


def _direct(examples: Sequence[Any], context: Context) -> np.ndarray:
    """NaN where an architecture's parts don't sum to its logits."""
    from headscope.core.attribution.direct import direct_shares

    info = context.model.info
    try:
        return direct_shares(context.model, examples, context.checkpoint).numpy()
    except Refused:
        return np.full((len(examples), info.n_layers, info.n_heads), np.nan)


def _left_out(work: Work, examples: Sequence[Any], context: Context) -> dict[str, np.ndarray]:
    from headscope.core.attribution import relatives

    if not examples:
        return {"rise": np.zeros((0, len(work.layers), context.model.info.n_heads))}
    rise = relatives.left_out(context.model, examples, list(work.layers), context.checkpoint)
    return {"rise": rise.numpy()}


def _joined(
    works: Sequence[Work], pieces: Mapping[str, Arrays], loss: np.ndarray, model: ModelInfo
) -> np.ndarray:
    rise = np.full((len(loss), model.n_layers, model.n_heads), np.nan)
    for work in works:
        if work.layers:
            part = pieces[work.piece.key]["rise"]
            rows = slice(work.examples.start, work.examples.start + len(part))
            rise[rows, work.layers.start : work.layers.stop] = part
    return rise


def _examples(params: RelativesParams, context: Context) -> Examples:
    return of_task(context.task).examples(
        context.model.tokenizer,
        "test",
        limit=params.n_examples,
        seed=params.split_seed,
        shots=params.shots,
        n_ctx=context.model.info.n_ctx,
    )


def _values(params: RelativesParams, found: Mapping[str, np.ndarray], left_out: int) -> dict[str, Any]:
    loss, closed = float(found["loss"].mean()), float(found["loss_closed"].mean())
    path, gain = float(found["path"].mean(axis=0).sum()), closed - loss
    n = len(found["loss"])
    notes = []
    if n < 32:
        notes.append(f"{n} held-out examples: small effects are known roughly.")
    if abs(path - gain) > 0.1 * max(abs(gain), 0.1):
        notes.append(
            f"The path's {params.points} points sum to {path:.3g} nats of the {gain:.3g} that opening all "
            "heads gains: ask for more points to trust its small parts."
        )
    if np.isnan(found["direct"]).all():
        notes.append("No direct logit attribution: this architecture's parts don't sum to its logits.")
    if left_out:
        notes.append(f"{left_out} rows are longer than the model's context and were left out.")
    return {
        "n_examples": n,
        "loss": loss,
        "loss_closed": closed,
        "path_sum": path,
        "notes": notes,
    }
