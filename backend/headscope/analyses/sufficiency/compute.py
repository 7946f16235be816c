"""The sufficiency curve as pieces of durable work [heads opened from all closed, on held-out examples].

1. Heads are ordered by facilitation, the mean of G- over the seeds of a causal head gating run, highest
   first; equal ones in the order of layer and head.
2. For k open heads, all others closed, logp(k) is the mean log-probability of the held-out targets. logp(0)
   has all heads closed, logp(all) is the model as it is.
3. kept(k) = (logp(k) - logp(0)) / (logp(all) - logp(0)). The fewest heads that keep enough are looked for
   between the first point of the curve that does and the one before it, by bisection.
4. Beside it, the same with heads in random orders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from headscope.analyses.base import (
    Arrays,
    Estimate,
    Input,
    Progress,
    Result,
)
from headscope.analyses.held_out import NOMINAL_TOKENS, held_out, of_task, scoring, sizes
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.analyses.orders import facilitation, gating_run
from headscope.analyses.sufficiency.curve import Curve, bisect
from headscope.analyses.sufficiency.plan import Work, plan
from headscope.analyses.sufficiency.schema import PRESETS, SufficiencyParams
from headscope.core.gating.removal import best_first, counts, random_order
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.tasks.task import Task

_SCORES = ("log_probability", "accuracy")


class Sufficiency:
    """The fewest heads that keep most of a task."""

    name: ClassVar[str] = "sufficiency"
    title: ClassVar[str] = "Sufficient heads"
    summary: ClassVar[str] = "The fewest heads that keep the task, all others closed."
    version: ClassVar[int] = 2
    needs_task: ClassVar[bool] = True
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {"run": "run"}
    params: type[SufficiencyParams] = SufficiencyParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: SufficiencyParams) -> Sequence[int]:
        """A seed for each random order; the order by facilitation needs none."""
        return range(params.first_seed, params.first_seed + params.orders)

    def estimate(
        self,
        params: SufficiencyParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes; raises what ``gating_run`` does."""
        run = _run(inputs, task)
        nominal = forward_flop(model, NOMINAL_TOKENS, 1) * params.n_test
        evaluations = sum(work.piece.weight for work in plan(params, model)) / nominal
        return scoring(
            model,
            params.dtype,
            sizes(task, tokenizer, run.params, params.n_test, model),
            layers=evaluations * model.n_layers,
            readings=evaluations,
            throughput=throughput,
            basis=f"{evaluations:.0f} evaluations",
        )

    def plan(
        self, params: SufficiencyParams, model: ModelInfo, inputs: Mapping[str, Input] | None = None
    ) -> Sequence[Piece]:
        """The pieces in order; see ``analyses.sufficiency.plan``. Raises what ``gating_run`` does."""
        _run(inputs, None)
        return [work.piece for work in plan(params, model)]

    def compute(self, piece: Piece, params: SufficiencyParams, context: Context) -> Arrays:
        """Scores at some points of a curve, or at the points that bisection asks for."""
        work = next(work for work in plan(params, context.model.info) if work.piece.key == piece.key)
        run = _run(context.inputs, context.task)
        score = facilitation(run)
        if work.kind == "narrow":
            return {**_narrow(work, params, context, run, score), "facilitation": score}
        order = best_first(score)
        if work.kind == "random":
            order = random_order(params.first_seed + work.order, score.size)
        tried = np.array(counts(params.points, score.size))[list(work.points)]
        return _scores(tried, order, run, context, params)

    def assemble(
        self,
        params: SufficiencyParams,
        model: ModelInfo,
        task: Task | None,
        pieces: Mapping[str, Arrays],
    ) -> Result:
        """The curve [point] with the points of the bisection in it, random curves [order, grid point], the
        order by facilitation [rank, (layer, head)] and the ``subset`` [layer, head] of ones and zeros.
        """
        works = plan(params, model)
        narrow = pieces["narrow"]
        chosen = [pieces[work.piece.key] for work in works if work.kind == "chosen"]
        tried = np.array(counts(params.points, model.n_layers * model.n_heads))
        curve = Curve.of(chosen, narrow)
        score = narrow["facilitation"]
        order = best_first(score)
        fewest = int(narrow["fewest"][0])
        subset = np.zeros(score.size, np.float32)
        subset[order[: max(fewest, 0)]] = 1
        arrays: dict[str, Any] = {
            "open_heads": curve.k.astype(np.uint32),
            "log_probability": curve.log_probability.astype(np.float32),
            "accuracy": curve.accuracy.astype(np.float32),
            "kept": curve.kept().astype(np.float32),
            "random_open_heads": tried.astype(np.uint32),
            **_random(works, pieces, params, tried, curve),
            "order": np.stack(np.divmod(order, model.n_heads), axis=1).astype(np.uint16),
            "facilitation": score.astype(np.float32),
            "subset": subset.reshape(score.shape),
        }
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task=None
            if task is None
            else {
                "name": task.name,
                "title": task.title,
                "content_hash": task.content_hash,
                "judged": task.judged,
            },
            seeds=tuple(self.seeds(params)),
            other_arrays=arrays,
            other_values=_values(params, curve, fewest, score.size, int(narrow["n_examples"][0])),
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """How many heads suffice, of how many, and what they keep."""
        values = result.values
        return {
            "sufficient_heads": values["fewest"],
            "of_heads": values["n_heads"],
            "kept": values["kept"],
            "log_probability_all_open": values["log_probability_open"],
            "log_probability_all_closed": values["log_probability_closed"],
        }


def _scores(
    tried: np.ndarray, order: np.ndarray, run: Result, context: Context, params: SufficiencyParams
) -> dict[str, np.ndarray]:
    """Log-probability and accuracy with the first k heads of an order open, for each k."""
    import torch

    from headscope.core.gating.evaluation import evaluate

    info = context.model.info
    gates = torch.zeros(len(tried), info.n_layers * info.n_heads)
    for row, k in enumerate(tried.tolist()):
        gates[row, torch.from_numpy(order[:k].copy())] = 1
    examples = held_out(run, params.n_test, context)
    score = evaluate(
        context.model,
        examples,
        gates.view(-1, info.n_layers, info.n_heads),
        judged=of_task(context.task).judged,
        checkpoint=context.checkpoint,
    )
    return {
        "k": tried,
        "log_probability": score.log_probability.numpy(),
        "accuracy": score.accuracy.numpy(),
        "n_examples": np.array([len(examples)]),
    }


def _narrow(
    work: Work, params: SufficiencyParams, context: Context, run: Result, score: np.ndarray
) -> dict[str, np.ndarray]:
    """The points that bisection tried, and the fewest heads that keep enough (-1: nothing to keep)."""
    order = best_first(score)
    curve = Curve.of([context.pieces[key] for key in work.piece.needs])
    tried: list[dict[str, np.ndarray]] = []

    def ask(k: int) -> float:
        found = _scores(np.array([k]), order, run, context, params)
        tried.append(found)
        context.report(Progress("narrowing down", "", len(tried), len(tried), None))
        return float(curve.share(found["log_probability"])[0])

    fewest = bisect(curve.k, curve.kept(), params.keep, ask) if curve.gains() else -1
    joined = {
        name: np.concatenate([found[name] for found in tried]) if tried else np.zeros(0)
        for name in ("k", *_SCORES)
    }
    return {
        **joined,
        "fewest": np.array([fewest]),
        "n_examples": np.array([len(held_out(run, params.n_test, context))]),
    }


def _run(inputs: Mapping[str, Input] | None, task: Task | None) -> Result:
    return gating_run(inputs, "run", task, "A sufficiency curve")


def _random(
    works: Sequence[Work],
    pieces: Mapping[str, Arrays],
    params: SufficiencyParams,
    tried: np.ndarray,
    curve: Curve,
) -> dict[str, np.ndarray]:
    """Random curves on the whole grid; their ends are the chosen curve's own."""
    found = {name: np.full((params.orders, len(tried)), np.nan) for name in _SCORES}
    for name, values in found.items():
        values[:, 0], values[:, -1] = getattr(curve, name)[[0, -1]]
        for work in works:
            if work.kind == "random":
                values[work.order, list(work.points)] = pieces[work.piece.key][name]
    kept = curve.share(found["log_probability"])
    return {f"random_{name}": values.astype(np.float32) for name, values in {**found, "kept": kept}.items()}


def _values(params: SufficiencyParams, curve: Curve, fewest: int, heads: int, n_test: int) -> dict[str, Any]:
    notes = []
    if fewest < 0:
        notes.append(
            "The model as it is does no better than with all heads closed: there is nothing to keep, and no "
            "number of heads is named."
        )
    if params.n_test < 64:
        notes.append(f"{n_test} held-out examples: the number of heads is known roughly.")
    at = float(curve.kept()[curve.k == fewest][0]) if fewest >= 0 else None
    return {
        "fewest": fewest if fewest >= 0 else None,
        "n_heads": heads,
        "kept": at,
        "log_probability_closed": float(curve.log_probability[0]),
        "log_probability_open": float(curve.log_probability[-1]),
        "n_test": n_test,
        "notes": notes,
    }
