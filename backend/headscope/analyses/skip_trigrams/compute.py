"""Skip trigrams as an analysis: a piece for each head, and one for the bigrams of the direct path."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Context, Estimate, Kept, Piece, Pieces, Spec
from headscope.analyses.costing import LOAD_SECONDS, cpu_throughput, tflop
from headscope.analyses.from_weights import processed, weights_of
from headscope.analyses.skip_trigrams.result import SkipTrigramsResult
from headscope.analyses.skip_trigrams.schema import SkipTrigramsParams, chosen_heads
from headscope.analyses.token_names import TokenName, token_names
from headscope.core.model.info import head_name
from headscope.core.model.memory import ELEMENT_BYTES, PROGRAM_BYTES
from headscope.core.model.tokens import Tokenizer

if TYPE_CHECKING:
    from headscope.core.circuits.skip_trigrams import Crossed

CROSSED = 20
"""Pairs of pairs kept a head."""

BIGRAMS = 200


def estimate(
    spec: Spec[SkipTrigramsParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes."""
    params, model = spec.params, spec.model
    heads, n = len(chosen_heads(params, model)), min(params.vocabulary, model.d_vocab)
    flop = heads * 4.0 * n * n * model.d_head + (heads + 1) * 2.0 * n * model.d_model * model.d_head
    flop += 2.0 * n * n * model.d_model
    speed = throughput or cpu_throughput(params.dtype)
    numbers = model.n_params + 2 * model.d_vocab * model.d_model + 4 * 1024 * n
    return Estimate(
        # each piece reads the weights; sorting rows costs about what multiplying them does
        seconds=LOAD_SECONDS + 2 * flop / speed + 0.5 * heads,
        peak_bytes=int(PROGRAM_BYTES + numbers * ELEMENT_BYTES[params.dtype]),
        basis=f"{heads} heads over {n:,} tokens, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
    )


def plan(spec: Spec[SkipTrigramsParams]) -> Sequence[Piece]:
    """The bigrams, then each head."""
    return [
        Piece("bigrams", "Bigrams of the direct path", partial(_bigrams, spec.params)),
        *(
            Piece(head_name(head), f"Head {head_name(head)}", partial(_head, spec.params, head))
            for head in chosen_heads(spec.params, spec.model)
        ),
    ]


def assemble(spec: Spec[SkipTrigramsParams], pieces: Pieces) -> SkipTrigramsResult:
    """The heads' tables one above the other, and the tokens that any of them names."""
    heads = chosen_heads(spec.params, spec.model)
    found = [pieces[head_name(head)] for head in heads]
    direct = pieces["bigrams"]

    def stacked(kind: type, *names: str) -> dict[str, Any]:
        return {name: np.stack([part[name] for part in found]).astype(kind) for name in names}

    tokens = {name[0]: name for part in (direct, *found) for name in part["names"]}
    covered = int(direct["vocabulary"][0])
    notes = list(direct["limits"])
    if covered < spec.model.d_vocab:
        notes.append(f"Looked for among the first {covered:,} of {spec.model.d_vocab:,} tokens.")
    if any(layer for layer, _ in heads):
        notes.append("Heads after the first layer read more than tokens: this is their direct part.")
    return SkipTrigramsResult(
        **SkipTrigramsResult.header(spec, model=processed(spec)),
        heads=np.array(heads, np.uint16),
        **stacked(np.int32, "sources", "destinations", "outputs", "crossed"),
        **stacked(np.float32, "scores", "q", "o", "crossed_scores", "crossed_margin"),
        bigram_rows=direct["rows"].astype(np.int32),
        bigram_columns=direct["columns"].astype(np.int32),
        bigram_values=direct["values"],
        tokens=[tokens[token] for token in sorted(tokens)],
        vocabulary=covered,
        limits=direct["limits"],
        notes=notes,
    )


def _bigrams(params: SkipTrigramsParams, context: Context) -> Kept:
    from headscope.core.circuits.skip_trigrams import bigrams

    weights = weights_of(context.model, params)
    cells = bigrams(weights, params.vocabulary).largest(BIGRAMS, context.checkpoint)
    rows, columns = cells.rows.numpy(), cells.columns.numpy()
    return {
        "rows": rows,
        "columns": columns,
        "values": cells.values.numpy().astype(np.float32),
        "limits": weights.limits,
        "vocabulary": np.array([min(weights.n_tokens, params.vocabulary)]),
        "names": _names(context, rows, columns),
    }


def _head(params: SkipTrigramsParams, head: tuple[int, int], context: Context) -> Kept:
    from headscope.core.circuits.skip_trigrams import head_tables, largest_crossed, trigrams

    tables = head_tables(weights_of(context.model, params), *head, most=params.vocabulary)
    found = trigrams(tables, params.count, params.near, context.checkpoint)
    sources, destinations, outputs = (
        ids.numpy() for ids in (found.sources, found.destinations, found.outputs)
    )
    return {
        "sources": sources,
        "scores": found.scores.numpy(),
        "destinations": destinations,
        "q": found.q.numpy(),
        "outputs": outputs,
        "o": found.o.numpy(),
        **_crossed(largest_crossed(tables, found, CROSSED)),
        "names": _names(context, sources, destinations, outputs),
    }


def _crossed(pairs: Sequence[Crossed]) -> Kept:
    ids = np.full((CROSSED, 5), -1, np.int64)
    scores = np.full((CROSSED, 4), np.nan, np.float32)
    margin = np.full(CROSSED, np.nan, np.float32)
    for place, pair in enumerate(pairs):
        ids[place] = (pair.source, *pair.first, *pair.second)
        scores[place], margin[place] = pair.scores, pair.margin
    return {"crossed": ids, "crossed_scores": scores, "crossed_margin": margin}


def _names(context: Context, *ids: NDArray[Any]) -> list[TokenName]:
    """What the ids stand for."""
    return token_names(context.model.tokenizer, np.concatenate([part.reshape(-1) for part in ids]).tolist())
