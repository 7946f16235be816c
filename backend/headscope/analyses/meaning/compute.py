"""Meaning as one piece of work: evidence gathered from finished runs, names, and role against name.

1. Each run that is named gives tests (``readings``); a head has the name of every test that it surely passes
   (``names``).
2. With a gating run, each of its roles is set against each name, and permuted
   (``core.statistics.enrichment``).

Nothing is measured anew; the model isn't run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np
from jaxtyping import Float

from headscope.analyses.base import Context, Estimate, Kept, Piece, Pieces, Spec
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.costing import LOAD_SECONDS
from headscope.analyses.gating_run import gating_run
from headscope.analyses.induction.result import InductionResult
from headscope.analyses.meaning.evidence import Evidence, Tested
from headscope.analyses.meaning.names import conflicts, first_names
from headscope.analyses.meaning.notes import notes
from headscope.analyses.meaning.readings import evidence
from headscope.analyses.meaning.result import MeaningResult
from headscope.analyses.meaning.roles import ROLES, role_sets
from headscope.analyses.meaning.schema import MeaningParams
from headscope.core.model.memory import run_bytes
from headscope.core.model.tokens import Tokenizer
from headscope.core.statistics.enough import few_fits
from headscope.core.statistics.enrichment import crossed

_DRAWS_A_SECOND = 2e6  # numbers of heads permuted and counted


def seeds(params: MeaningParams) -> Sequence[int]:
    """The one seed of the permutations."""
    return (params.seed,)


def estimate(
    spec: Spec[MeaningParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes; raises what ``evidence`` and ``gating_run`` do."""
    model, tests = spec.model, len(evidence(spec).tested)
    heads = model.n_layers * model.n_heads
    draws = 0 if _gating(spec) is None else spec.params.draws
    return Estimate(
        seconds=LOAD_SECONDS + draws * heads * (1 + tests) / _DRAWS_A_SECOND,
        peak_bytes=run_bytes(model),
        basis=f"{tests} tests of {heads} heads, {draws:,} permutations",
    )


def plan(spec: Spec[MeaningParams]) -> Sequence[Piece]:
    """One piece. Raises what ``evidence`` does."""
    evidence(spec)
    return [Piece("names", "Names and roles", partial(_names, spec))]


def assemble(spec: Spec[MeaningParams], pieces: Pieces) -> MeaningResult:
    """Names, what contradicts them, and with a gating run roles against names."""
    kept = dict(pieces["names"])
    told, task, fits = kept.pop("told"), kept.pop("gated_task", ""), kept.pop("gated_fits", 0)
    found = Evidence.of(
        told["tests"], told["sources"], kept["scores"], kept["errors"], kept["passed"], kept["q"]
    )
    sets = {key: kept["roles"][i].astype(bool) for i, (key, *_) in enumerate(ROLES) if "roles" in kept}
    n_names = kept["passed"].sum(axis=0).astype(np.uint8)
    return MeaningResult(
        **MeaningResult.header(spec, seeds=seeds(spec.params)),
        **kept,
        **told,
        first_name=first_names(found),
        n_names=n_names,
        complete=found.complete,
        gated_task=task or None,
        conflicts=conflicts(found, sets, task),
        notes=[
            *_left_out(kept.get("gated_steering")),
            *([few] if (few := few_fits(fits)) else []),
            *notes(spec, found, n_names, sets.get("always_needed"), kept),
        ],
    )


def _gating(spec: Spec[MeaningParams]) -> ChgResult | None:
    return gating_run(spec, "gating") if "gating" in spec.inputs else None


def _names(spec: Spec[MeaningParams], context: Context) -> Kept:
    """Evidence, and where a gating run is named its roles against the names."""
    found, run = evidence(spec), _gating(spec)
    kept = {
        "scores": np.stack([each.score for each in found.tested]).astype(np.float32),
        "errors": np.stack([each.error for each in found.tested]).astype(np.float32),
        "passed": np.stack([each.passed for each in found.tested]).astype(np.uint8),
        "q": np.stack([_known(each) for each in found.tested]).astype(np.float32),
        "resting": _resting(spec),
        "told": {"tests": [asdict(each.test) for each in found.tested], "sources": dict(found.sources)},
    }
    if run is None:
        return kept
    if run.vocabulary.kind == "steering":
        return {**kept, "gated_steering": run.ability.words}
    return {**kept, **_cross(found, run, spec.params)}


def _known(each: Tested) -> Float[np.ndarray, "layer head"]:
    return np.full(each.score.shape, np.nan) if each.q is None else each.q


def _resting(spec: Spec[MeaningParams]) -> Float[np.ndarray, "layer head"]:
    """Mean attention to the first token; NaN without a run that looked."""
    run = spec.input("induction", InductionResult)
    if run is None:
        return np.full((spec.model.n_layers, spec.model.n_heads), np.nan, np.float32)
    return np.asarray(run.sink.astype(np.float64).mean(axis=0), np.float32)


def _cross(found: Evidence, run: ChgResult, params: MeaningParams) -> Kept:
    sets = role_sets(run, params.threshold)
    roles = np.stack([sets[key] for key, *_ in ROLES])
    names = np.stack([each.passed for each in found.tested])
    table = crossed(roles, names, params.draws, params.seed, params.within_layers)
    return {
        "roles": roles.astype(np.uint8),
        "cross_count": table.count.astype(np.uint32),
        "cross_expected": table.expected.astype(np.float32),
        "cross_p": table.p.astype(np.float32),
        "cross_corrected": table.corrected.astype(np.float32),
        "cross_least": table.least.astype(np.float32),
        "gated_fits": int(run.ran.sum()),
        "gated_task": str((run.task or {}).get("name", "")),
    }


def _left_out(steering: str | None) -> Iterator[str]:
    """What is said where the gating run has no roles: ``steering`` are its ability's words."""
    if steering is not None:
        yield (
            f"The gating run is a steering map (the model {steering} as it is): its heads have no roles to "
            "set against names, and it is left out."
        )
