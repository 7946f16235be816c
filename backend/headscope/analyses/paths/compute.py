"""Path expansion as an analysis: a piece for the prompt's terms, one for each sequence's importance, and one
for the virtual heads that turn out to matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from headscope.analyses.base import Estimate, Piece, Pieces, Spec
from headscope.analyses.costing import LOAD_SECONDS, cpu_throughput, pass_flop, tflop
from headscope.analyses.from_weights import processed
from headscope.analyses.paths.pieces import NUMBERS, importance, terms, virtual_heads
from headscope.analyses.paths.prompt import looked_at, token_ids
from headscope.analyses.paths.result import PathsResult
from headscope.analyses.paths.schema import PathsParams
from headscope.core.model.memory import ELEMENT_BYTES, PROGRAM_BYTES, pass_bytes
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Refused
from headscope.tasks.prompts import PromptSet

MOST_PATTERN_BYTES = 2 * 2**30


def seeds(params: PathsParams) -> Sequence[int]:
    """The seeds of the random sequences; none where prompts are named."""
    return () if params.prompts else range(params.first_seed, params.first_seed + params.rows)


def estimate(
    spec: Spec[PathsParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes.

    Raises ``Invalid`` for a prompt, position or token that the model can't read, ``Refused`` (no-room)
    where all patterns of the prompt take more than 2 GiB.
    """
    params, model = spec.params, spec.model
    tokens = len(params.text) // 3 + 1
    if tokenizer is not None:
        tokens = len(token_ids(tokenizer, params.text, model))
        looked_at(params, model, tokens)
    heads = model.n_layers * model.n_heads
    held = heads * tokens**2 * 4
    if held > MOST_PATTERN_BYTES:
        raise Refused(
            f"The patterns of {tokens:,} tokens take {held / 2**30:.1f} GiB, where 2 are allowed.",
            "Shorten the prompt.",
            code="no-room",
        )
    # one sequence: to remove a head's paths costs its logits once
    row = 2.0 * heads * 2 * params.length * model.d_model * model.d_vocab + pass_flop(model, tokens)
    flop = params.rows * row + 4.0 * heads**2 * model.d_head * model.d_model + 2 * pass_flop(model, tokens)
    speed = throughput or cpu_throughput(params.dtype)
    size = ELEMENT_BYTES[params.dtype]
    peak = (2 * model.n_params + model.d_vocab * model.d_model) * size + 2 * held
    return Estimate(
        seconds=LOAD_SECONDS + flop / speed + 0.2 * params.rows,
        peak_bytes=int(PROGRAM_BYTES + peak + 2 * pass_bytes(model, max(tokens, 2 * params.length))),
        basis=f"{tokens} tokens, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
    )


def plan(spec: Spec[PathsParams]) -> Sequence[Piece]:
    """The prompt's terms, then each sequence, then the virtual heads, chosen by both."""
    rows = _rows(spec)
    return [
        Piece("terms", "Paths of the prompt", partial(terms, spec.params)),
        *(
            Piece(key, f"Importance, sequence {row + 1}", partial(importance, spec, row), weight=2.0)
            for row, key in enumerate(rows)
        ),
        Piece("virtual", "Virtual heads", partial(virtual_heads, spec.params, rows), ("terms", *rows)),
    ]


def assemble(spec: Spec[PathsParams], pieces: Pieces) -> PathsResult:
    """The terms, the virtual heads kept, and the sequences' importance one above the other."""
    found, kept = pieces["terms"], pieces["virtual"]
    orders, heads, virtual = (
        np.stack([pieces[key][name] for key in _rows(spec)]).astype(np.float32)
        for name in ("orders", "heads", "virtual")
    )
    measured = bool(kept["measured"][0])
    number = dict(zip(NUMBERS, found["numbers"].tolist(), strict=True))
    n_terms, n_kept = int(number["n_terms"]), len(found["value"])
    notes = list(found["limits"])
    if n_terms > n_kept:
        notes.append(f"The {n_kept:,} largest of {n_terms:,} terms are kept.")
    if not measured:
        notes.append("The model has too many virtual heads to remove each in turn: that wasn't measured.")
    return PathsResult(
        **PathsResult.header(spec, seeds=seeds(spec.params), model=processed(spec)),
        **{name: found[name] for name in ("first", "second", "source", "value", "limits")},
        **{name: kept[name] for name in ("pairs", "pair_pattern", "pair_spectrum")},
        orders=orders,
        heads=heads,
        virtual=virtual if measured else None,
        tokens=found["words"]["vocabulary"],
        prompt=found["words"]["prompt"],
        at=int(number["at"]),
        token=int(number["token"]),
        against=None if number["against"] < 0 else int(number["against"]),
        total=number["total"],
        logit=number["logit"],
        longer=number["longer"],
        through_mlps=number["through_mlps"],
        scored="all" if spec.params.prompts else "second copy",
        other_terms=number["other_terms"],
        n_terms=n_terms,
        pairs_by="importance" if measured else "value",
        notes=notes,
    )


def _rows(spec: Spec[PathsParams]) -> tuple[str, ...]:
    """The keys of the sequences' pieces."""
    prompts, rows = spec.input("prompts", PromptSet), spec.params.rows
    return tuple(f"row/{row}" for row in range(min(rows, len(prompts.texts)) if prompts else rows))
