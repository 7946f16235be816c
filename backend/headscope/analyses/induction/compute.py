"""Induction as pieces of durable work.

1. ``draws/a-b``: those sequences through the model once: every head's scores, every token's loss.
2. ``ablation/a-b/c-d``: the strongest heads number c to d gated off on those sequences, twice each: with all
   patterns held as they were, and free. It needs all draws: the strongest heads are those of the whole run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from headscope.analyses.base import Context, Kept, Piece, Pieces, Progress, Spec
from headscope.analyses.cutting import span
from headscope.analyses.induction.cuts import ablated, ablation_blocks, draw_blocks, draw_flop
from headscope.analyses.induction.result import NAMES, InductionResult, strongest
from headscope.analyses.induction.schema import InductionParams, learning_pair, positions
from headscope.core.gating.gate_vector import GateVector
from headscope.core.patterns.random_repeats import repeated_tokens
from headscope.core.patterns.scores import ABOVE

if TYPE_CHECKING:
    import torch

    from headscope.analyses.induction.measure import Rows


def seeds(params: InductionParams) -> Sequence[int]:
    """A seed for each draw, in the order of the arrays' first axis."""
    return range(params.first_seed, params.first_seed + params.seeds)


def plan(spec: Spec[InductionParams]) -> Sequence[Piece]:
    """Scores of all draws, then ablations: two passes a head and draw, one more for the patterns held.

    Raises ``Invalid`` (too-long).
    """
    flop = draw_flop(spec)
    scores = [
        Piece(
            _draws_key(draws),
            f"Scores, {_words(spec.params, draws)}",
            partial(_measure, spec, draws),
            weight=flop * len(draws),
        )
        for draws in draw_blocks(spec)
    ]
    needs = tuple(piece.key for piece in scores)
    ablations = [
        Piece(
            _ablation_key(draws, ranks),
            f"Induction heads gated off, {_words(spec.params, draws)}",
            partial(_ablate, spec, draws, ranks),
            needs,
            weight=(2 * len(ranks) + 1) * flop * len(draws),
        )
        for draws, ranks in ablation_blocks(spec)
    ]
    return [*scores, *ablations]


def assemble(spec: Spec[InductionParams], pieces: Pieces) -> InductionResult:
    """All draws together, and the heads that were gated off with their rises."""
    params, model = spec.params, spec.model
    draws = [pieces[_draws_key(block)] for block in draw_blocks(spec)]
    scores = np.concatenate([block["scores"] for block in draws], axis=1)
    loss, first, second = (
        np.concatenate([block[name] for block in draws]) for name in ("loss", "first", "second")
    )
    heads = _ablated_heads(spec, pieces)
    rise = np.full((2, params.seeds, len(heads)), np.nan, np.float32)
    for block, ranks in ablation_blocks(spec):
        rise[np.ix_((0, 1), block, ranks)] = pieces[_ablation_key(block, ranks)]["rise"]
    early, late = learning_pair(loss.shape[1])
    return InductionResult(
        **InductionResult.header(spec, seeds=seeds(params)),
        **dict(zip(NAMES, scores.astype(np.float32), strict=True)),
        **_above(draws),
        loss=loss.astype(np.float32),
        loss_first=first.astype(np.float32),
        loss_second=second.astype(np.float32),
        learning=(loss[:, late] - loss[:, early]).astype(np.float32),
        ablated_heads=np.array(heads, np.uint16).reshape(-1, 2),
        rise_frozen=rise[0],
        rise_free=rise[1],
        positions=positions(params, model),
        bos=model.bos,
        copies_start=[int(model.bos) + copy * params.length for copy in range(params.copies)],
        learning_pair=[early, late],
        notes=_notes(params),
    )


def _draws_key(draws: range) -> str:
    return f"draws/{span(draws)}"


def _ablation_key(draws: range, ranks: range) -> str:
    return f"ablation/{span(draws)}/{span(ranks)}"


def _words(params: InductionParams, draws: range) -> str:
    first, last = params.first_seed + draws.start, params.first_seed + draws.stop - 1
    return f"draw {first}" if first == last else f"draws {first}–{last}"


def _measure(spec: Spec[InductionParams], draws: range, context: Context) -> Kept:
    from headscope.analyses.induction.measure import measure

    rows = _rows(spec.params, draws, context)
    found = measure(context.model, rows, _gates(spec), context.checkpoint)
    first, second = (found.loss[:, part].mean(1).numpy() for part in (rows.first(), rows.second()))
    context.report(Progress("scores", "", len(draws), len(draws), float(second.mean()), 1.0))
    return {
        "scores": found.scores.numpy(),
        "above": found.above.numpy(),
        "loss": found.loss.numpy(),
        "first": first,
        "second": second,
    }


def _ablate(spec: Spec[InductionParams], draws: range, ranks: range, context: Context) -> Kept:
    from headscope.analyses.induction.measure import ablate

    heads = _ablated_heads(spec, context.pieces)[ranks.start : ranks.stop]

    def report(fraction: float) -> None:
        done = round(fraction * len(heads))
        context.report(Progress("heads gated off", "", done, len(heads), None, fraction))

    rows = _rows(spec.params, draws, context)
    rise = ablate(context.model, rows, heads, _gates(spec), context.checkpoint, report)
    return {"rise": rise.numpy()}


def _ablated_heads(spec: Spec[InductionParams], pieces: Pieces) -> list[tuple[int, int]]:
    """The strongest induction heads of all draws."""
    draws = [pieces[_draws_key(block)] for block in draw_blocks(spec)]
    above = _above(draws).get("induction_above")
    score = np.concatenate([block["scores"][0] for block in draws]) if above is None else above
    return strongest(score, ablated(spec.params, spec.model))


def _above(draws: Sequence[Kept]) -> dict[str, Any]:
    """Scores above their columns' level, by the result's names; none where a piece is of before."""
    if not all("above" in block for block in draws):
        return {}
    joined = np.concatenate([block["above"] for block in draws], axis=1).astype(np.float32)
    return {f"{name}_above": scores for name, scores in zip(ABOVE, joined, strict=True)}


def _rows(params: InductionParams, draws: range, context: Context) -> Rows:
    import torch

    from headscope.analyses.induction.measure import Rows

    drawn = [
        repeated_tokens(context.model.tokenizer, params.length, 1, params.first_seed + draw, params.copies)
        for draw in draws
    ]
    return Rows(torch.from_numpy(np.concatenate(drawn)), params.length, params.copies)


def _gates(spec: Spec[InductionParams]) -> torch.Tensor | None:
    import torch

    vector = spec.input("gates", GateVector)
    return None if vector is None else torch.from_numpy(vector.gates)


def _notes(params: InductionParams) -> list[str]:
    notes = []
    if params.seeds < 8:
        notes.append(f"{params.seeds} draws: the spread of a head is known roughly.")
    if params.gates:
        notes.append(f"Measured under the gates {params.gates}, not on the ungated model.")
    return notes
