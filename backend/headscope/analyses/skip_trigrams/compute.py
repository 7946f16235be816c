"""Skip trigrams as an analysis: a piece a head, one for the bigrams of the direct path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Arrays, Estimate, Result, Spec
from headscope.analyses.costing import LOAD_SECONDS, PROGRAM_BYTES, cpu_throughput, tflop
from headscope.analyses.from_weights import (
    FromWeights,
    head_name,
    limits_array,
    limits_list,
    processed,
    weights_of,
)
from headscope.analyses.legacy import Context, Piece
from headscope.analyses.skip_trigrams.schema import PRESETS, SkipTrigramsParams, chosen_heads
from headscope.analyses.token_names import token_names
from headscope.core.model.cost import ELEMENT_BYTES
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.tasks.task import Task

if TYPE_CHECKING:
    from headscope.core.circuits.skip_trigrams import Crossed

CROSSED = 20
"""Pairs of pairs kept a head."""

BIGRAMS = 200


class SkipTrigrams(FromWeights):
    """Skip trigrams of heads, and the crossed pairs of their factored form [A Mathematical Framework]."""

    name: ClassVar[str] = "skip-trigrams"
    title: ClassVar[str] = "Skip trigrams"
    summary: ClassVar[str] = "Which “A … B → C” a head raises, and which it can't help raising with them."
    version: ClassVar[int] = 1
    params: type[SkipTrigramsParams] = SkipTrigramsParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def estimate(
        self,
        params: SkipTrigramsParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes."""
        heads, n = len(chosen_heads(params, model)), min(params.vocabulary, model.d_vocab)
        flop = heads * 4.0 * n * n * model.d_head + (heads + 1) * 2.0 * n * model.d_model * model.d_head
        flop += 2.0 * n * n * model.d_model
        speed = throughput or cpu_throughput(params.dtype)
        size = ELEMENT_BYTES[params.dtype]
        return Estimate(
            # a piece reads the weights anew; sorting rows costs about what multiplying them does
            seconds=LOAD_SECONDS + 2 * flop / speed + 0.5 * heads,
            peak_bytes=int(
                PROGRAM_BYTES + (model.n_params + 2 * model.d_vocab * model.d_model + 4 * 1024 * n) * size
            ),
            basis=f"{heads} heads over {n:,} tokens, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
        )

    def plan(self, params: SkipTrigramsParams, model: ModelInfo) -> Sequence[Piece]:
        """The bigrams, then each head."""
        heads = chosen_heads(params, model)
        return [
            Piece("bigrams", "Bigrams of the direct path"),
            *(Piece(head_name(head), f"Head {head_name(head)}") for head in heads),
        ]

    def compute(self, piece: Piece, params: SkipTrigramsParams, context: Context) -> Arrays:
        """One head's tables, or the bigrams."""
        weights = weights_of(context.model, params)
        if piece.key == "bigrams":
            from headscope.core.circuits.skip_trigrams import bigrams

            cells = bigrams(weights, params.vocabulary).largest(BIGRAMS, context.checkpoint)
            return {
                "rows": cells.rows.numpy(),
                "columns": cells.columns.numpy(),
                "values": cells.values.numpy().astype(np.float32),
                "limits": limits_array(weights.limits),
                "vocabulary": np.array([min(weights.n_tokens, params.vocabulary)]),
                "names": _names(context, cells.rows.numpy(), cells.columns.numpy()),
            }
        from headscope.core.circuits.skip_trigrams import head_tables, largest_crossed, trigrams

        layer, head = map(int, piece.key.split("."))
        tables = head_tables(weights, layer, head, most=params.vocabulary)
        found = trigrams(tables, params.count, params.near, context.checkpoint)
        pairs = largest_crossed(tables, found, CROSSED)
        ids = [found.sources.numpy(), found.destinations.numpy(), found.outputs.numpy()]
        return {
            "sources": ids[0],
            "scores": found.scores.numpy(),
            "destinations": ids[1],
            "q": found.q.numpy(),
            "outputs": ids[2],
            "o": found.o.numpy(),
            **_crossed(pairs),
            "names": _names(context, *ids),
        }

    def assemble(
        self, params: SkipTrigramsParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """``heads`` [head, (layer, head)]; sources, scores [head, source]; destinations, q, outputs, o
        [head, source, near]; crossed [head, pair, (A, B1, C1, B2, C2)] with scores [head, pair, 4] and
        margin; the direct path's bigrams. Ids are int32, -1 where there is none.
        """
        heads = chosen_heads(params, model)
        found = [pieces[head_name(head)] for head in heads]
        arrays: dict[str, NDArray[Any]] = {"heads": np.array(heads, np.uint16)}
        for name in ("sources", "destinations", "outputs", "crossed"):
            arrays[name] = np.stack([part[name] for part in found]).astype(np.int32)
        for name in ("scores", "q", "o", "crossed_scores", "crossed_margin"):
            arrays[name] = np.stack([part[name] for part in found]).astype(np.float32)
        direct = pieces["bigrams"]
        arrays |= {
            "bigram_rows": direct["rows"].astype(np.int32),
            "bigram_columns": direct["columns"].astype(np.int32),
            "bigram_values": direct["values"],
        }
        limits = limits_list(direct["limits"])
        tokens: dict[int, list[Any]] = {}
        for part in (direct, *found):
            tokens |= {name[0]: name for name in _read_names(part["names"])}
        notes = list(limits)
        covered = int(direct["vocabulary"][0])
        if covered < model.d_vocab:
            notes.append(f"Looked for among the first {covered:,} of {model.d_vocab:,} tokens.")
        if any(layer for layer, _ in heads):
            notes.append("Heads after the first layer read more than tokens: this is their direct part.")
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=processed(Spec(params, model)),
            task=None,
            seeds=(),
            other_arrays=arrays,
            other_values={
                "tokens": [tokens[token] for token in sorted(tokens)],
                "vocabulary": covered,
                "limits": limits,
                "notes": notes,
            },
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """How many heads were looked at, and the strongest crossed pair."""
        worst = result.arrays["crossed_scores"][..., 2:].min(-1)
        worst = np.where(np.isfinite(worst), worst, -np.inf)
        head = int(np.argmax(worst.max(-1))) if worst.size else 0
        return {
            "heads": len(result.arrays["heads"]),
            "worst_crossed_head": head_name(result.arrays["heads"][head]),
            "worst_crossed_score": float(worst.max()) if np.isfinite(worst).any() else 0.0,
        }


def _crossed(pairs: Sequence[Crossed]) -> Arrays:
    ids = np.full((CROSSED, 5), -1, np.int64)
    scores = np.full((CROSSED, 4), np.nan, np.float32)
    margin = np.full(CROSSED, np.nan, np.float32)
    for place, pair in enumerate(pairs):
        ids[place] = (pair.source, *pair.first, *pair.second)
        scores[place], margin[place] = pair.scores, pair.margin
    return {"crossed": ids, "crossed_scores": scores, "crossed_margin": margin}


def _names(context: Context, *ids: NDArray[Any]) -> NDArray[Any]:
    """What the ids stand for, as JSON in bytes: pieces keep arrays only."""
    import json

    flat = np.unique(np.concatenate([part.reshape(-1) for part in ids]))
    words = json.dumps(token_names(context.model.tokenizer, flat.tolist()))
    return np.frombuffer(words.encode(), dtype=np.uint8).copy()


def _read_names(content: NDArray[Any]) -> list[list[Any]]:
    import json

    names: list[list[Any]] = json.loads(content.tobytes().decode())
    return names
