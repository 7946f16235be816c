"""Sequential ablation as pieces of durable work [Causal Head Gating, arXiv 2505.13737: is the score causal?].

1. For each seed of a gating run heads are ordered by that seed's facilitation, interference and irrelevance,
   the highest first; its G+ is the base mask.
2. delta(k) = logp(target | first k gates = 0) - logp(target | first k gates = 1), all other gates as in the
   base mask, in nats, the mean over held-out examples. delta(0) is 0.
3. Beside them, random orders under the same base masks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from headscope.analyses import ablation
from headscope.analyses.base import Estimate, Piece, Pieces, Spec
from headscope.analyses.gating_run import gating_run
from headscope.analyses.held_out import drawing, scoring, sizes
from headscope.analyses.sequential_ablation.plan import Cuts, cuts
from headscope.analyses.sequential_ablation.result import SequentialAblationResult
from headscope.analyses.sequential_ablation.schema import SequentialAblationParams
from headscope.analyses.sequential_ablation.setting import Setting, setting
from headscope.analyses.sequential_ablation.summary import values
from headscope.core.gating.removal import layers_passed
from headscope.core.gating.roles import SCORE_NAMES
from headscope.core.model.tokens import Tokenizer


def estimate(
    spec: Spec[SequentialAblationParams],
    *,
    tokenizer: Tokenizer | None = None,
    throughput: float | None = None,
) -> Estimate:
    """Wall seconds and peak bytes; raises what ``setting`` does."""
    model, params, given = spec.model, spec.params, setting(spec)
    steps = len(given.inner) - 1
    layers = sum(layers_passed(orders, given.inner, model.n_layers, model.n_heads) for orders in given.orders)
    readings = sum(2 * (1 + steps * len(orders)) for orders in given.orders)
    if given.complete:
        layers, readings = layers + 2 * model.n_layers, readings + 2
    n = sum(map(len, given.orders))
    return scoring(
        model,
        params.dtype,
        sizes(spec.task, tokenizer, drawing(gating_run(spec, "gating")), params.n_test, model),
        layers=layers,
        readings=readings,
        throughput=throughput,
        basis=f"{n} orders × {steps} numbers of heads × 2, {layers / model.n_layers:.0f} whole passes",
    )


def plan(spec: Spec[SequentialAblationParams]) -> Sequence[Piece]:
    """The pieces in order; see ``analyses.sequential_ablation.plan``. Raises as ``estimate``."""
    return cuts(spec, setting(spec)).pieces


def assemble(spec: Spec[SequentialAblationParams], pieces: Pieces) -> SequentialAblationResult:
    """The curves by score and by chance, with the orders of heads up to K."""
    given = setting(spec)
    cut = cuts(spec, given)
    orders, most = pieces[cut.orders.key], given.tried[-1]
    means, n_test = _means(given, cut, pieces)
    closed, opened = np.moveaxis(means[:, : len(SCORE_NAMES)].swapaxes(0, 1), -1, 0)
    random_closed, random_opened = np.moveaxis(means[tuple(zip(*given.random, strict=True))], -1, 0)
    curves = {
        "delta": closed - opened,
        "closed": closed,
        "opened": opened,
        "random_delta": random_closed - random_opened,
        "random_closed": random_closed,
        "random_opened": random_opened,
    }
    arrays = {
        "k": np.array(given.tried, np.uint16),
        **{name: curve.astype(np.float32) for name, curve in curves.items()},
        **{name: orders[name][..., :most] for name in ("order", "score", "random_order")},
        "random_seed": orders["random_seed"],
    }
    header = SequentialAblationResult.header(spec, seeds=given.seeds, task=spec.task)
    found, kind = values(arrays, n_test, given.failed), spec.params.ablation
    gating = gating_run(spec, "gating").params
    found["notes"] = [*found["notes"], *ablation.notes(kind), *ablation.unlike(kind, gating)]
    return SequentialAblationResult.of_parts(header, arrays, found)


def _means(given: Setting, cut: Cuts, pieces: Pieces) -> tuple[Float[np.ndarray, "seed order count 2"], int]:
    """Means over examples with heads closed and opened, a seed's orders as in ``Setting``; how many."""
    shape = len(given.orders), max(map(len, given.orders))
    total, examples = np.zeros((*shape, len(given.tried), 2)), np.zeros(shape, int)
    for part, piece in cut.parts:
        found, orders = pieces[piece.key], slice(part.orders.start, part.orders.stop)
        total[part.seed, orders, : len(given.inner)] += found["sum"]
        examples[part.seed, orders] += found["n_examples"]
    means = total / np.maximum(examples, 1)[..., None, None]
    if cut.ends is not None:
        means[:, :, -1] = pieces[cut.ends.key]["mean"]
    return means, int(examples.max())
