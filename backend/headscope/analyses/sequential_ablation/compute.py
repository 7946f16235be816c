"""Sequential ablation as pieces of durable work [Causal Head Gating, arXiv 2505.13737: is the score causal?].

1. For each seed of a gating run heads are ordered by that seed's facilitation, interference and irrelevance,
   the highest first; its G+ is the base mask.
2. delta(k) = logp(target | first k gates = 0) - logp(target | first k gates = 1), all other gates as in the
   base mask, in nats, the mean over held-out examples. delta(0) is 0.
3. Beside them, random orders under the same base masks.
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
from headscope.analyses.held_out import held_out, scoring, sizes
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.analyses.orders import gating_run
from headscope.analyses.sequential_ablation.plan import Setting, Work, plan, setting
from headscope.analyses.sequential_ablation.schema import PRESETS, SequentialAblationParams, tried
from headscope.analyses.sequential_ablation.summary import ranked, values
from headscope.core.gating.removal import layers_passed
from headscope.core.gating.roles import SCORE_NAMES
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.tasks.task import Task

_FORMS = ("closed", "opened")


class SequentialAblation:
    """What the task's log-probability does as heads are removed in the order of their scores."""

    name: ClassVar[str] = "sequential-ablation"
    title: ClassVar[str] = "Sequential ablation"
    summary: ClassVar[str] = "Are the scores causal? Heads closed one after another, the highest score first."
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = True
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {"gating": "run"}
    params: type[SequentialAblationParams] = SequentialAblationParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: SequentialAblationParams) -> Sequence[int]:
        """None that the parameters tell: they are the gating run's, and the result says which."""
        return ()

    def estimate(
        self,
        params: SequentialAblationParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes; raises what ``gating_run`` and ``setting`` do."""
        run = _run(inputs, task)
        given = setting(params, model, run)
        rows = sizes(task, tokenizer, run.params, params.n_test, model)
        steps = len(given.inner) - 1
        layers = sum(
            layers_passed(orders, given.inner, model.n_layers, model.n_heads) for orders in given.orders
        )
        readings = sum(2 * (1 + steps * len(orders)) for orders in given.orders)
        if given.complete:
            layers, readings = layers + 2 * model.n_layers, readings + 2
        n = sum(map(len, given.orders))
        basis = f"{n} orders × {steps} numbers of heads × 2, {layers / model.n_layers:.0f} whole passes"
        return scoring(
            model,
            params.dtype,
            rows,
            layers=layers,
            readings=readings,
            throughput=throughput,
            basis=basis,
        )

    def plan(
        self,
        params: SequentialAblationParams,
        model: ModelInfo,
        inputs: Mapping[str, Input] | None = None,
    ) -> Sequence[Piece]:
        """The pieces in order; see ``analyses.sequential_ablation.plan``. Raises as ``estimate``."""
        return [work.piece for work in plan(params, model, setting(params, model, _run(inputs, None)))]

    def compute(self, piece: Piece, params: SequentialAblationParams, context: Context) -> Arrays:
        """The orders; or sums of log-probability over some examples, ``closed`` and ``opened``."""
        run, info = _run(context.inputs, context.task), context.model.info
        given = setting(params, info, run)
        work = next(work for work in plan(params, info, given) if work.piece.key == piece.key)
        if work.kind == "orders":
            return _orders(given)
        examples = held_out(context.task, run, params.n_test, context.model)
        return _ends(examples, context) if work.kind == "ends" else _removed(work, given, examples, context)

    def assemble(
        self,
        params: SequentialAblationParams,
        model: ModelInfo,
        task: Task | None,
        pieces: Mapping[str, Arrays],
    ) -> Result:
        """``delta``, ``closed`` and ``opened`` [score, seed, count] and random ones [order, count], in nats;
        ``order`` [score, seed, rank] and ``random_order`` [order, rank] of flat head numbers, up to K;
        ``score`` [score, seed, rank] in that order; ``random_seed`` [order], whose base mask it was.
        """
        orders = pieces["orders"]
        ks = np.array(tried(params, model))
        arrays: dict[str, Any] = {"k": ks.astype(np.uint16), "random_seed": orders["random_seed"]}
        by_score, by_chance, n = _curves(orders, pieces, len(ks))
        for index, form in enumerate(_FORMS):
            arrays[form] = by_score[..., index].astype(np.float32)
            arrays[f"random_{form}"] = by_chance[..., index].astype(np.float32)
        arrays["delta"] = (by_score[..., 0] - by_score[..., 1]).astype(np.float32)
        arrays["random_delta"] = (by_chance[..., 0] - by_chance[..., 1]).astype(np.float32)
        most = int(ks[-1])
        arrays |= {name: orders[name][..., :most] for name in ("order", "random_order", "score")}
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
            seeds=tuple(orders["seeds"].tolist()),
            other_arrays=arrays,
            other_values=values(arrays, n, orders["failed"].tolist()),
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """How the orders rank among random ones while their roles last, mean changes, the change at K."""
        known = result.values
        return {
            "needed_closed_first": ranked(known, "facilitation"),
            "harmful_closed_first": ranked(known, "interference"),
            "irrelevant_closed_first": ranked(known, "irrelevance"),
            **{f"{name}_area": value for name, value in known["area"].items()},
            "delta_at_K": known["end"]["facilitation"],
        }


def _run(inputs: Mapping[str, Input] | None, task: Task | None) -> Result:
    return gating_run(inputs, "gating", task, "Sequential ablation")


def _orders(given: Setting) -> dict[str, np.ndarray]:
    """What ``assemble``, which sees no gating run, needs of it."""
    n = len(SCORE_NAMES)
    order = np.stack([orders[:n] for orders in given.orders], axis=1)
    score = np.take_along_axis(given.score.reshape(*order.shape), order, axis=2)
    return {
        "seeds": np.array(given.seeds, int),
        "failed": np.array(given.failed, int),
        "order": order.astype(np.uint16),
        "score": score.astype(np.float32),
        "random_order": np.stack([given.orders[seed][place] for seed, place in given.random]).astype(
            np.uint16
        ),
        "random_seed": np.array([seed for seed, _ in given.random], np.uint16),
        "random_place": np.array([place - n for _, place in given.random], np.uint16),
    }


def _removed(work: Work, given: Setting, examples: Sequence[Any], context: Context) -> dict[str, np.ndarray]:
    """Sums over the piece's examples [order, count, form], how many they are, of which seed and orders."""
    from headscope.core.gating.sequential import removed

    mine = examples[work.share :: work.shares]
    orders = given.orders[work.seed][work.orders.start : work.orders.stop]
    place = np.array([work.seed, work.orders.start, work.orders.stop])
    if not mine:  # fewer rows than the request allows
        nothing = np.zeros((len(orders), len(given.inner), 2))
        return {"sum": nothing, "n_examples": np.array([0]), "place": place}

    def report(done: int, of: int) -> None:
        context.report(
            Progress(work.piece.label, f"seed {given.seeds[work.seed]}", done, of, None, done / of)
        )

    found = removed(
        context.model,
        mine,
        given.base[work.seed],
        orders,
        given.inner,
        checkpoint=context.checkpoint,
        report=report,
    )
    return {"sum": found.sum(axis=3), "n_examples": np.array([len(mine)]), "place": place}


def _ends(examples: Sequence[Any], context: Context) -> dict[str, np.ndarray]:
    """Mean log-probability [form] with every head closed, and with every head open."""
    import torch

    from headscope.core.gating.evaluation import evaluate

    info = context.model.info
    gates = torch.stack([torch.zeros(info.n_layers, info.n_heads), torch.ones(info.n_layers, info.n_heads)])
    score = evaluate(context.model, examples, gates, checkpoint=context.checkpoint)
    return {"mean": score.log_probability.numpy()}


def _curves(orders: Arrays, pieces: Mapping[str, Arrays], points: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Means by score [score, seed, count, form], by chance [order, count, form], and how many examples."""
    n_scores, n_seeds = orders["order"].shape[:2]
    rows = n_scores + int(orders["random_place"].max()) + 1
    total = np.zeros((n_seeds, rows, points, 2))
    examples = np.zeros((n_seeds, rows), int)
    for key in pieces:
        if key.startswith("seed/"):
            piece = pieces[key]
            seed, first, stop = piece["place"].tolist()
            total[seed, first:stop, : piece["sum"].shape[1]] += piece["sum"]
            examples[seed, first:stop] += piece["n_examples"]
    means = total / np.maximum(examples, 1)[..., None, None]
    if "ends" in pieces:
        means[:, :, -1] = pieces["ends"]["mean"]
    by_chance = means[orders["random_seed"].astype(int), n_scores + orders["random_place"].astype(int)]
    return means[:, :n_scores].swapaxes(0, 1), by_chance, int(examples.max())
