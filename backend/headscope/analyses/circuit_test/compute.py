"""A circuit test as pieces of durable work: every set of heads evaluated on the same held-out rows.

1. ``sets/a-b``: the metric of each row with the heads of the distinct sets a to b kept, all others replaced
   (``analyses.circuit_test.sets``).
2. From these: faithfulness over sizes by ranking with its areas, and the tests
   (``core.gating.faithfulness``, ``core.statistics.circuit_tests``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from headscope.analyses import ablation
from headscope.analyses import shots as in_context
from headscope.analyses.base import Context, Estimate, Kept, Piece, Pieces, Spec
from headscope.analyses.circuit_test.circuit import (
    circuit,
    drawing,
    gating,
    own_rows,
    rankings,
    rows,
    training,
)
from headscope.analyses.circuit_test.result import CircuitTestResult
from headscope.analyses.circuit_test.schema import CircuitTestParams
from headscope.analyses.circuit_test.sets import Sets, sets
from headscope.analyses.circuit_test.verdicts import verdicts
from headscope.analyses.costing import NOMINAL_TOKENS
from headscope.analyses.cutting import blocks, fitting, span
from headscope.analyses.held_out import scoring, sizes
from headscope.analyses.relatives.result import RelativesResult
from headscope.core.gating.faithfulness import cmd, cpr, faithfulness, head_counts
from headscope.core.model.cost import forward_flop
from headscope.core.model.tokens import Tokenizer
from headscope.core.statistics.circuit_tests import minimality


def seeds(params: CircuitTestParams) -> Sequence[int]:
    """A seed for each random ranking; random circuits are drawn by the first."""
    return range(params.first_seed, params.first_seed + params.orders)


def estimate(
    spec: Spec[CircuitTestParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes; raises what ``circuit`` and ``rankings`` do."""
    params, model = spec.params, spec.model
    evaluations = len(sets(spec).distinct)
    passes = (2 if params.metric == "logit_difference" else 1) * (1 + ablation.PASSES[params.ablation])
    return scoring(
        model,
        params.dtype,
        sizes(spec.task, tokenizer, drawing(spec, tokenizer), params.n_test, model),
        layers=passes * evaluations * model.n_layers,
        readings=passes * evaluations,
        throughput=throughput,
        basis=f"{evaluations} sets of heads",
    )


def plan(spec: Spec[CircuitTestParams]) -> Sequence[Piece]:
    """Blocks of sets; raises what ``circuit`` and ``rankings`` do."""
    ablation.check_pairs(spec.params.ablation, spec.task)
    found = sets(spec)
    flop = forward_flop(spec.model, NOMINAL_TOKENS, 1) * spec.params.n_test
    asked = own_rows(spec)
    chosen = in_context.keys(asked)
    before = [
        *in_context.pieces(asked, spec.task, spec.model),
        *ablation.means(spec.params.ablation, spec.model, partial(training, spec), chosen),
    ]
    return before + [
        Piece(
            _key(block),
            "Sets of heads kept",
            partial(_scored, spec, found, block),
            (*chosen, *ablation.needs(spec.params.ablation)),
            weight=flop * len(block),
        )
        for block in _blocks(spec, found)
    ]


def assemble(spec: Spec[CircuitTestParams], pieces: Pieces) -> CircuitTestResult:
    """Curves, areas and tests from the scores of all sets."""
    params, model, found = spec.params, spec.model, sets(spec)
    parts = [pieces[_key(block)] for block in _blocks(spec, found)]
    scores = np.concatenate([part["scores"] for part in parts]).astype(np.float64)
    none, whole = found.scores(scores, "ends").tolist()
    f = {name: faithfulness(found.scores(scores, name), none, whole) for name in found.where}
    heads = model.n_layers * model.n_heads
    counts = np.array(head_counts(heads))
    members, measured = np.array(circuit(spec)), rankings(spec)
    at, rest = found.where["circuit"].tolist()
    kept, without = found.scores(scores, "circuit").tolist()
    losses = kept - found.scores(scores, "member")
    inflated = found.scores(scores, "inflated") - kept
    result = CircuitTestResult(
        **CircuitTestResult.header(spec, seeds=seeds(params), task=spec.task),
        heads=members.astype(np.uint16),
        kept_heads=counts.astype(np.uint32),
        curve=f["curve"].astype(np.float32),
        random_curve=f["order"].astype(np.float32),
        cpr=cpr(counts / heads, f["curve"]).astype(np.float32),
        cmd=cmd(counts / heads, f["curve"]).astype(np.float32),
        random_cpr=cpr(counts / heads, f["order"]).astype(np.float32),
        random_cmd=cmd(counts / heads, f["order"]).astype(np.float32),
        at_size=f["at_size"].astype(np.float32),
        score=np.array(list(measured.values())).reshape(-1, *found.distinct.shape[1:]),
        random=found.scores(scores, "random").astype(np.float32),
        random_without=found.scores(scores, "without").astype(np.float32),
        subset_kept=f["kept"].astype(np.float32),
        subset_whole=f["whole"].astype(np.float32),
        subset_size=(len(members) - found.distinct[found.where["kept"]].sum(axis=(1, 2))).astype(np.uint32),
        loss=losses.astype(np.float32),
        loss_p=minimality(losses, inflated).astype(np.float32),
        inflated=inflated.astype(np.float32),
        inflated_heads=np.stack(np.divmod(found.outside, model.n_heads), axis=1).astype(np.uint16),
        example_model=scores[found.where["ends"][1]].astype(np.float32),
        example_circuit=scores[at].astype(np.float32),
        example_without=scores[rest].astype(np.float32),
        rankings=list(measured),
        n_heads=heads,
        n_test=scores.shape[1],
        score_none=none,
        score_all=whole,
        score_circuit=kept,
        score_without=without,
        score_chance=0.0 if params.metric == "logit_difference" else -math.log(model.d_vocab),
        faithfulness=float(f["circuit"][0]) if whole > none else None,
        tests=[],
        notes=[
            *in_context.notes(own_rows(spec), pieces),
            *ablation.notes(params.ablation),
            *_notes(spec, scores.shape[1], whole - none, int(parts[0]["n_left_out"][0])),
        ],
    )
    return result.judged(verdicts(result, params.permutations, params.first_seed))


def _key(block: range) -> str:
    return f"sets/{span(block)}"


def _blocks(spec: Spec[CircuitTestParams], found: Sets) -> list[range]:
    each = forward_flop(spec.model, NOMINAL_TOKENS, 1) * spec.params.n_test
    n = len(found.distinct)
    return list(blocks(range(n), fitting(n, each, n)))


def _scored(spec: Spec[CircuitTestParams], found: Sets, block: range, context: Context) -> Kept:
    """The metric [set, example] of a block of sets."""
    import torch

    from headscope.core.gating.evaluation import example_scores

    examples = rows(spec, context)
    gates = torch.from_numpy(found.distinct[block.start : block.stop]).to(torch.float32)
    scores = example_scores(
        context.model,
        examples,
        gates,
        metric=spec.params.metric,
        replacements=ablation.replacements(spec.params.ablation, partial(training, spec), context),
        checkpoint=context.checkpoint,
    )
    return {"scores": scores.numpy(), "n_left_out": np.array([examples.n_left_out])}


def _notes(spec: Spec[CircuitTestParams], n: int, gain: float, left_out: int) -> Iterator[str]:
    if not gain > 0:
        yield (
            "The ungated model does no better than with every head replaced: there is nothing to be "
            "faithful to, and no faithfulness is given."
        )
    if n < 64:
        yield f"{n} held-out examples: equivalence and independence can be told roughly only."
    if spec.inputs.get("relatives"):
        theirs = spec.needed("relatives", RelativesResult).params
        if theirs.get("split_seed") == drawing(spec)["split_seed"]:
            yield (
                "The rankings by effects were measured on held-out rows, these or some of them: that favours "
                "them over causal head gating, which saw none."
            )
    if (run := gating(spec)) is not None:
        yield from ablation.unlike(spec.params.ablation, run.params)
    elif not spec.inputs.get("relatives"):
        yield "No run was named to rank heads by: there are random rankings only."
    if left_out:
        yield f"{left_out} rows are longer than the model's context and were left out."
