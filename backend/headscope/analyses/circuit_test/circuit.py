"""What a circuit test is of: the heads of the circuit, the rankings beside it, the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from jaxtyping import Float

from headscope.analyses import ablation, held_out
from headscope.analyses import shots as in_context
from headscope.analyses.base import Context, Spec
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.circuit_test.schema import CircuitTestParams
from headscope.analyses.gating_run import check_roles, gating_run
from headscope.analyses.relatives.result import MEASURES, RelativesResult
from headscope.core.gating.ablation import REFERENCE_ROWS
from headscope.core.model.head_list import Head, check_heads, read_heads
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.task import Examples, Split

RANKINGS: Final[Mapping[str, str]] = {
    "gating": "Causal head gating",
    **{measure.name: measure.title for measure in MEASURES if measure.name != "importance"},
}
"""Titles by name. Head importance has no sign and so no order from helping to harming."""


def gating(spec: Spec[CircuitTestParams]) -> ChgResult | None:
    """The gating run, where one is named; raises what ``gating_run`` does."""
    return gating_run(spec, "gating") if spec.inputs.get("gating") else None


def circuit(spec: Spec[CircuitTestParams]) -> tuple[Head, ...]:
    """The heads named, or those that the gating run calls needed, in the order of layer and head.

    ``Invalid``: heads-missing where neither is given, unknown-head for what the model lacks, no-heads where
    none is needed, whole-model where no head is left out. ``Refused`` (steering-map) for a gating run whose
    heads have no role.
    """
    heads = _heads(spec)
    check_heads(heads, spec.model)
    if not heads:
        raise Invalid(
            "The gating run calls no head needed.",
            "Lower the threshold or the share of fits, or name heads.",
            code="no-heads",
        )
    if len(heads) == spec.model.n_layers * spec.model.n_heads:
        raise Invalid(
            "The circuit is the whole model: nothing is left to compare it with.",
            "Name fewer heads.",
            code="whole-model",
        )
    return heads


def rankings(spec: Spec[CircuitTestParams]) -> dict[str, Float[np.ndarray, "layer head"]]:
    """A score of each head by the name of its ranking, the highest first; those measured only."""
    found: dict[str, Any] = {}
    if (run := gating(spec)) is not None:
        found["gating"] = run.facilitation
    if spec.inputs.get("relatives"):
        run_of_effects = spec.needed("relatives", RelativesResult)
        measured = [measure for measure in MEASURES if measure.name in RANKINGS]
        found |= {each.name: run_of_effects.known(each).astype(np.float64) for each in measured}
    return {name: score for name, score in found.items() if not np.isnan(score).all()}


def drawing(spec: Spec[CircuitTestParams], tokenizer: Tokenizer | None = None) -> Mapping[str, Any]:
    """How rows are drawn: as the gating run drew them, where there is one; at most as many in-context
    examples.
    """
    run, params = gating(spec), spec.params
    if run is not None:
        return held_out.drawing(run)
    return {
        "split_seed": params.split_seed,
        "shots": in_context.largest(params, spec.task, spec.model, tokenizer),
    }


def own_rows(spec: Spec[CircuitTestParams]) -> CircuitTestParams:
    """What says how many in-context examples there are: nothing to choose where a gating run did."""
    return spec.params if gating(spec) is None else spec.params.model_copy(update={"shots": None})


def rows(spec: Spec[CircuitTestParams], context: Context) -> Examples:
    """Held-out rows, those that the ablation can be used on; ``Invalid`` (task-missing) without a task."""
    run, limit = gating(spec), spec.params.n_test
    if run is None:
        drawn = _drawn(spec, context, "test", limit)
    else:
        drawn = held_out.held_out(spec.task, run, limit, context.model)
    return ablation.usable(spec.params.ablation, drawn)


def training(spec: Spec[CircuitTestParams], context: Context) -> Examples:
    """Other rows of the task, for heads that are switched off."""
    run = gating(spec)
    if run is None:
        return _drawn(spec, context, "train", REFERENCE_ROWS)
    return held_out.other_rows(spec.task, run, context.model)


def _drawn(spec: Spec[CircuitTestParams], context: Context, split: Split, limit: int) -> Examples:
    return held_out.of_task(spec.task).examples(
        context.model.tokenizer,
        split,
        limit=limit,
        seed=spec.params.split_seed,
        shots=in_context.taken(spec.params, context.pieces),
        n_ctx=context.model.info.n_ctx,
    )


def _heads(spec: Spec[CircuitTestParams]) -> tuple[Head, ...]:
    if spec.params.heads is not None:
        return read_heads(spec.params.heads)
    run = gating(spec)
    if run is None:
        raise Invalid(
            "No circuit is named.",
            'Name its heads, as "0.3, 1.5", or a gating run whose needed heads are the circuit.',
            code="heads-missing",
        )
    check_roles(run)
    share = (run.g_minus[run.ran] >= spec.params.threshold).mean(axis=0)
    needed = np.argwhere(share >= spec.params.fits - 1e-9).tolist()
    return tuple((layer, head) for layer, head in needed)
