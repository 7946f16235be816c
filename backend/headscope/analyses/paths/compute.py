"""Path expansion as an analysis: a piece for the prompt's terms, one a sequence for their importance, and one
for the virtual heads that turn out to matter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import (
    Arrays,
    Estimate,
    Input,
    Result,
)
from headscope.analyses.costing import (
    LOAD_SECONDS,
    PROGRAM_BYTES,
    cpu_throughput,
    pass_bytes,
    pass_flop,
    tflop,
)
from headscope.analyses.from_weights import FromWeights, head_name, limits_list
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.analyses.paths import pieces as parts
from headscope.analyses.paths.prompt import looked_at, token_ids
from headscope.analyses.paths.schema import PRESETS, PathsParams
from headscope.analyses.paths.words import SOURCE_WORDS
from headscope.core.model.cost import ELEMENT_BYTES
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Refused
from headscope.tasks.prompts import PromptSet
from headscope.tasks.task import Task

MOST_PATTERN_BYTES = 2 * 2**30


class Paths(FromWeights):
    """A logit as a sum over paths, and the importance of heads by order [A Mathematical Framework, 2021]."""

    name: ClassVar[str] = "paths"
    title: ClassVar[str] = "Paths"
    summary: ClassVar[str] = (
        "A logit as a sum over the ways through the heads, and how much each way matters."
    )
    version: ClassVar[int] = 2
    references: ClassVar[Mapping[str, Reference]] = {"prompts": "prompts"}
    params: type[PathsParams] = PathsParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: PathsParams) -> Sequence[int]:
        """The seeds of the random sequences; none where prompts are named."""
        return () if params.prompts else range(params.first_seed, params.first_seed + params.rows)

    def estimate(
        self,
        params: PathsParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes.

        Raises ``Invalid`` for a prompt, position or token that the model can't read, ``Refused`` (no-room)
        where all patterns of the prompt take more than 2 GiB.
        """
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
        # one sequence: a head left out costs its logits once
        row = 2.0 * heads * 2 * params.length * model.d_model * model.d_vocab + pass_flop(model, tokens)
        flop = (
            params.rows * row + 4.0 * heads**2 * model.d_head * model.d_model + 2 * pass_flop(model, tokens)
        )
        speed = throughput or cpu_throughput(params.dtype)
        size = ELEMENT_BYTES[params.dtype]
        peak = (2 * model.n_params + model.d_vocab * model.d_model) * size + 2 * held
        return Estimate(
            seconds=LOAD_SECONDS + flop / speed + 0.2 * params.rows,
            peak_bytes=int(PROGRAM_BYTES + peak + 2 * pass_bytes(model, max(tokens, 2 * params.length))),
            basis=f"{tokens} tokens, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
        )

    def plan(
        self, params: PathsParams, model: ModelInfo, inputs: Mapping[str, Input] | None = None
    ) -> Sequence[Piece]:
        """The prompt's terms, then each sequence, then the virtual heads, chosen by both."""
        rows = range(_n_rows(params, inputs or {}))
        before = [
            Piece("terms", "Paths of the prompt"),
            *(Piece(f"row/{row}", f"Importance, sequence {row + 1}", weight=2.0) for row in rows),
        ]
        return [*before, Piece("virtual", "Virtual heads", needs=tuple(piece.key for piece in before))]

    def compute(self, piece: Piece, params: PathsParams, context: Context) -> Arrays:
        """The terms, one sequence's importance, or the virtual heads."""
        if piece.key == "terms":
            return parts.terms(params, context)
        if piece.key == "virtual":
            return parts.virtual_heads(params, context)
        return parts.importance(int(piece.key.split("/")[1]), params, context)

    def assemble(
        self, params: PathsParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """Terms as ``first``, ``second`` (head numbers, -1 for none), ``source`` and ``value``; the virtual
        heads kept, ``pairs`` [pair, (layer, head, layer, head)], in order of ``pairs_by`` (importance
        or value), with pattern and spectrum; ``orders`` [row, order], ``heads`` [row, layer, head] and
        ``virtual`` [row, layer, head, layer, head] in nats a token.
        """
        found = {**pieces["terms"], **pieces["virtual"]}
        del found["by_value"]
        measured = bool(found.pop("measured")[0])
        limits = limits_list(found.pop("limits"))
        words = limits_list(found.pop("words"))
        numbers = found.pop("numbers")
        rows = [pieces[key] for key in sorted(_rows_of(pieces), key=lambda key: int(key.split("/")[1]))]
        arrays: dict[str, NDArray[Any]] = dict(found)
        for name in ("orders", "heads", "virtual"):
            arrays[name] = np.stack([row[name] for row in rows]).astype(np.float32)
        if not measured:
            del arrays["virtual"]
        at, token, against, total, logit, longer, mlp, others, n_terms = numbers.tolist()
        names = json.loads(words[0])
        notes = list(limits)
        if n_terms > len(arrays["value"]):
            notes.append(f"The {len(arrays['value']):,} largest of {int(n_terms):,} terms are kept.")
        if not measured:
            notes.append("The model has too many virtual heads to leave each out: that wasn't measured.")
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=replace(model, weight_processing=params.weight_processing),
            task=None,
            seeds=tuple(self.seeds(params)),
            other_arrays=arrays,
            other_values={
                "tokens": names["vocabulary"],
                "prompt": names["prompt"],
                "at": int(at),
                "token": int(token),
                "against": None if against < 0 else int(against),
                "total": total,
                "logit": logit,
                "longer": longer,
                "through_mlps": mlp,
                "other_terms": others,
                "n_terms": int(n_terms),
                "pairs_by": "importance" if measured else "value",
                "limits": limits,
                "notes": notes,
            },
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """The logit, what the terms add up to, the strongest path, the loss after each order."""
        orders = result.arrays["orders"].mean(axis=0)
        numbers = {
            "logit": float(result.values["logit"]),
            "sum_of_terms": float(result.values["total"]),
            "strongest_path": path_name(result, int(np.abs(result.arrays["value"]).argmax())),
        }
        return numbers | {f"loss_order_{order}": float(loss) for order, loss in enumerate(orders[:4])}


def path_name(result: Result, term: int) -> str:
    """A path in words: its source and the heads it goes through."""
    n_heads = result.model.n_heads
    arrays = result.arrays
    through = [
        head_name(divmod(int(arrays[name][term]), n_heads))
        for name in ("first", "second")
        if arrays[name][term] >= 0
    ]
    return " → ".join([SOURCE_WORDS[int(arrays["source"][term])], *through])


def _n_rows(params: PathsParams, inputs: Mapping[str, Input]) -> int:
    prompts = inputs.get("prompts")
    return min(params.rows, len(prompts.texts)) if isinstance(prompts, PromptSet) else params.rows


def _rows_of(pieces: Mapping[str, Arrays]) -> list[str]:
    return [key for key in pieces if key.startswith("row/")]
