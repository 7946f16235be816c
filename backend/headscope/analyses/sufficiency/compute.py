"""The sufficiency curve as pieces of durable work [heads opened from all closed, on held-out examples].

1. Heads are ordered by facilitation, the mean of G- over the seeds of a causal head gating run, highest
   first; equal ones in the order of layer and head.
2. For k open heads, all others closed, logp(k) is the mean log-probability of the held-out targets. logp(0)
   has all heads closed, logp(all) is the ungated model.
3. kept(k) = (logp(k) - logp(0)) / (logp(all) - logp(0)). The fewest heads that keep enough are looked for
   between the first point of the curve that does and the one before it, by bisection.
4. Beside it, the same with heads in random orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from headscope.analyses import ablation
from headscope.analyses.base import Estimate, Piece, Pieces, Spec
from headscope.analyses.gating_run import gating_run
from headscope.analyses.held_out import drawing, scoring, sizes
from headscope.analyses.sufficiency.curve import Curve
from headscope.analyses.sufficiency.plan import ask_flop, cuts, grid
from headscope.analyses.sufficiency.result import SufficiencyResult
from headscope.analyses.sufficiency.schema import SufficiencyParams
from headscope.core.gating.removal import best_first
from headscope.core.model.tokens import Tokenizer


def seeds(params: SufficiencyParams) -> Sequence[int]:
    """A seed for each random order; the order by facilitation needs none."""
    return range(params.first_seed, params.first_seed + params.orders)


def estimate(
    spec: Spec[SufficiencyParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes; raises what ``gating_run`` does."""
    model, params, run = spec.model, spec.params, gating_run(spec, "run")
    evaluations = sum(piece.weight for piece in cuts(spec).pieces) / ask_flop(spec)
    evaluations *= 1 + ablation.PASSES[params.ablation]
    return scoring(
        model,
        params.dtype,
        sizes(spec.task, tokenizer, drawing(run), params.n_test, model),
        layers=evaluations * model.n_layers,
        readings=evaluations,
        throughput=throughput,
        basis=f"{evaluations:.0f} evaluations",
    )


def plan(spec: Spec[SufficiencyParams]) -> Sequence[Piece]:
    """The pieces in order; see ``analyses.sufficiency.plan``. Raises what ``gating_run`` does."""
    gating_run(spec, "run")
    return cuts(spec).pieces


def assemble(spec: Spec[SufficiencyParams], pieces: Pieces) -> SufficiencyResult:
    """The curve with the points of the bisection in it, random curves, the order and the subset."""
    params, model, cut = spec.params, spec.model, cuts(spec)
    narrow = pieces[cut.narrow.key]
    curve = Curve.of([pieces[piece.key] for piece in cut.chosen], narrow)
    score, fewest, n_test = narrow["facilitation"], int(narrow["fewest"][0]), int(narrow["n_examples"][0])
    order = best_first(score)
    subset = np.zeros(score.size, np.float32)
    subset[order[: max(fewest, 0)]] = 1
    tried = np.array(grid(spec))
    by_score = {"log_probability": curve.log_probability, "accuracy": curve.accuracy, "kept": curve.kept()}
    result = SufficiencyResult(
        **SufficiencyResult.header(spec, seeds=seeds(params), task=spec.task),
        open_heads=curve.k.astype(np.uint32),
        curve={name: values.astype(np.float32) for name, values in by_score.items()},
        random_open_heads=tried.astype(np.uint32),
        random=_random(cut.random, pieces, tried, curve),
        order=np.stack(np.divmod(order, model.n_heads), axis=1).astype(np.uint16),
        facilitation=score.astype(np.float32),
        subset=subset.reshape(score.shape),
        fewest=fewest if fewest >= 0 else None,
        n_heads=score.size,
        kept=float(curve.kept()[curve.k == fewest][0]) if fewest >= 0 else None,
        log_probability_closed=float(curve.log_probability[0]),
        log_probability_open=float(curve.log_probability[-1]),
        n_test=n_test,
        notes=[
            *_notes(params, fewest, n_test),
            *ablation.notes(params.ablation),
            *ablation.unlike(params.ablation, gating_run(spec, "run").params),
        ],
    )
    return replace(result, notes=[*result.notes, *([result.floor] if fewest >= 0 else [])])


def _random(
    orders: Sequence[Sequence[Piece]], pieces: Pieces, tried: Int[np.ndarray, " grid"], curve: Curve
) -> dict[str, Float[np.ndarray, "order grid"]]:
    """Random curves on the whole grid; their ends are the chosen curve's own."""
    found = {name: np.full((len(orders), len(tried)), np.nan) for name in ("log_probability", "accuracy")}
    for name, values in found.items():
        values[:, 0], values[:, -1] = getattr(curve, name)[[0, -1]]
        for row, order in zip(values, orders, strict=True):
            for part in (pieces[piece.key] for piece in order):
                row[np.isin(tried, part["k"])] = part[name]
    kept = curve.share(found["log_probability"])
    return {name: values.astype(np.float32) for name, values in {**found, "kept": kept}.items()}


def _notes(params: SufficiencyParams, fewest: int, n_test: int) -> Iterator[str]:
    if fewest < 0:
        yield (
            "The ungated model does no better than with all heads closed: there is nothing to keep, and no "
            "number of heads is named."
        )
    if params.n_test < 64:
        yield f"{n_test} held-out examples: the number of heads is known roughly."
