"""The agreement panel as pieces of durable work.

1. ``compare``: what each method says of every head, statistics of agreement, the list of heads in dispute.
2. ``explain/i``: the head in place i of that list, looked into with the model itself.
3. ``refit/i/n``: gates fitted once more with that head closed, in a seed that needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from headscope.analyses.agreement import methods
from headscope.analyses.agreement.disagreement import Head, disputed
from headscope.analyses.agreement.plan import COMPARE, explained, plan, refit_passes, ways
from headscope.analyses.agreement.schema import PRESETS, AgreementParams
from headscope.analyses.agreement.statistics import correlations, statistics
from headscope.analyses.agreement.telling import measured_of, notes, told
from headscope.analyses.base import (
    Arrays,
    Estimate,
    Input,
    Progress,
    Result,
)
from headscope.analyses.held_out import held_out, scoring, sizes
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.analyses.orders import fitted, gating_run
from headscope.analyses.result import identity
from headscope.core.gating.roles import scores
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.tasks.task import Task


class Agreement:
    """Where methods differ on which heads matter, what would explain it, and how far they agree."""

    name: ClassVar[str] = "agreement"
    title: ClassVar[str] = "Agreement"
    summary: ClassVar[str] = (
        "Where gating and other measures disagree on which heads matter, and what explains it."
    )
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = True
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {
        "gating": "run",
        "relatives": "run",
        "mediation": "run",
        "rules": "run",
        "probe": "run",
    }
    params: type[AgreementParams] = AgreementParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: AgreementParams) -> Sequence[int]:
        """One: nothing is drawn."""
        return (0,)

    def estimate(
        self,
        params: AgreementParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes; raises what ``methods.compared`` does."""
        methods.compared(inputs, params, task)
        gating = gating_run(inputs, "gating", task, self.title)
        rows = sizes(task, tokenizer, gating.params, params.n_examples, model)
        heads = explained(params, model)
        each = ways(params, model) + params.refits * (3 + refit_passes(gating.params) / rows.examples)
        return scoring(
            model,
            params.dtype,
            rows,
            layers=model.n_layers * heads * each,
            readings=heads * each,
            throughput=throughput,
            basis=f"{heads} heads explained by {each:.0f} passes each, at most",
        )

    def plan(
        self, params: AgreementParams, model: ModelInfo, inputs: Mapping[str, Input] | None = None
    ) -> Sequence[Piece]:
        """The pieces in order. Raises what ``methods.compared`` does."""
        methods.compared(inputs, params, None)
        return plan(params, model, gating_run(inputs, "gating", None, self.title).params)

    def compute(self, piece: Piece, params: AgreementParams, context: Context) -> Arrays:
        """The comparison, or what is measured of one head; nothing beyond the end of the list."""
        if piece.key == COMPARE:
            return _compare(params, context)
        kind, *numbers = piece.key.split("/")
        place, heads = int(numbers[0]), context.pieces[COMPARE]["heads"]
        if place >= len(heads):
            return {"head": np.full(2, -1)}
        head = (int(heads[place, 0]), int(heads[place, 1]))
        found = _refit if kind == "refit" else _explain
        return {"head": np.array(head), **found(piece, head, params, context)}

    def assemble(
        self, params: AgreementParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """What every method says, ``{method}`` and ``{method}_found`` [layer, head]; statistics [method,
        number]; correlations; the heads in dispute [place, (layer, head)]. In ``values``: the explanations.
        """
        compared = dict(pieces[COMPARE])
        seen = methods.of_arrays(compared)
        measured = [measured_of(place, params, pieces) for place in range(explained(params, model))]
        measured = [part for part in measured if len(part) > 1]
        arrays = {name: np.asarray(array) for name, array in compared.items()}
        arrays["heads"] = arrays["heads"].astype(np.uint16).reshape(-1, 2)
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task=identity(task),
            seeds=tuple(self.seeds(params)),
            other_arrays=arrays,
            other_values={
                "methods": list(seen),
                "disagreements": told(seen, measured, arrays, params),
                "n_disputed": int(arrays["heads"].shape[0]),
                "n_seeds": int(arrays["n_seeds"][0]),
                "notes": notes(seen, len(arrays["heads"]), len(measured), params),
            },
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """How many heads are in dispute, the first of them, what explains it, and how well methods agree."""
        told = result.values["disagreements"]
        numbers: dict[str, Any] = {"heads_in_dispute": result.values["n_disputed"]}
        if told:
            numbers |= {"most_disputed_head": told[0]["head"]}
            numbers |= {"explained_by": ", ".join(each["kind"].replace("-", " ") for each in told[0]["why"])}
        names = result.values["methods"][1:]
        for name in ("left_out", "mediation", "direct"):
            if name in names:
                numbers[f"rank_correlation_{name}"] = float(result.arrays["statistics"][names.index(name), 1])
        return numbers


def _compare(params: AgreementParams, context: Context) -> dict[str, np.ndarray]:
    gating = gating_run(context.inputs, "gating", context.task, "Agreement")
    ran = fitted(gating)
    by_score = scores(*(gating.arrays[name][ran].astype(np.float64) for name in ("g_plus", "g_minus")))
    seen = methods.compared(context.inputs, params, context.task)
    found = disputed(seen)
    kept = {
        f"{score}_{word}": reduce(by_score[score], axis=0).astype(np.float32)
        for score in ("facilitation", "interference")
        for word, reduce in (("mean", np.mean), ("low", np.min), ("high", np.max))
    }
    columns = {name: each.effect for name, each in seen.items()}
    columns = {
        "gating": columns.pop("gating"),
        "interference": by_score["interference"].mean(axis=0),
        **columns,
    }
    return {
        **methods.arrays_of(seen),
        **kept,
        "seeds_needing": (by_score["facilitation"] >= params.threshold).mean(axis=0).astype(np.float32),
        "n_seeds": np.array([int(ran.sum())]),
        "statistics": statistics(seen, by_score["facilitation"], by_score["interference"]),
        "correlations": correlations(columns),
        "heads": np.array([head for head, _ in found], np.int64).reshape(-1, 2),
        "strength": np.array([strength for _, strength in found], np.float32),
    }


def _explain(piece: Piece, head: Head, params: AgreementParams, context: Context) -> Arrays:
    from headscope.analyses.agreement.evidence import evidence

    gating = gating_run(context.inputs, "gating", context.task, Agreement.title)
    examples = held_out(context.task, gating, params.n_examples, context.model)
    found = evidence(head, gating, examples, context, params.partners, params.threshold)
    context.report(Progress(piece.label, f"{head[0]}.{head[1]}", 1, 1, None, 1.0))
    return found


def _refit(piece: Piece, head: Head, params: AgreementParams, context: Context) -> Arrays:
    """Nothing where fewer seeds need the head."""
    from headscope.analyses.agreement.refit import needing, refit

    gating = gating_run(context.inputs, "gating", context.task, Agreement.title)
    seeds, number = needing(gating, head, params.threshold), int(piece.key.split("/")[2])
    if number >= len(seeds):
        return {}
    steps = int(gating.params["steps"])

    def report(step: int, loss: float) -> None:
        context.report(Progress(piece.label, f"{head[0]}.{head[1]}", step, steps, loss, step / steps))

    examples = held_out(context.task, gating, params.n_examples, context.model)
    return refit(head, seeds[number], gating, examples, context, report)
