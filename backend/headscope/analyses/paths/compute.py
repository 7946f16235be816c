"""Path expansion as an analysis: one piece for the prompt's terms, one a sequence for their importance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Arrays, Context, Estimate, Input, Piece, Progress, Reference, Result
from headscope.analyses.costing import LOAD_SECONDS, PROGRAM_BYTES, cpu_throughput, pass_bytes, pass_flop
from headscope.analyses.from_weights import head_name, limits_array, limits_list, split
from headscope.analyses.paths.schema import PRESETS, PathsParams
from headscope.analyses.paths.words import SOURCE_WORDS
from headscope.analyses.token_names import token_names
from headscope.core.cost import ELEMENT_BYTES
from headscope.core.model import HeadModel, ModelInfo
from headscope.core.random_repeats import repeated_tokens
from headscope.core.tokens import Tokenizer
from headscope.errors import Invalid, Refused
from headscope.tasks.prompts import PromptSet
from headscope.tasks.task import Task

KEPT_TERMS = 4000
"""The largest terms of a model with more; what the others add up to is one number."""

VIRTUAL = 12
"""Virtual heads whose pattern and spectrum are kept."""

MOST_PATTERN_BYTES = 2 * 2**30


class Paths:
    """A logit as a sum over paths, and the importance of heads by order [A Mathematical Framework, 2021]."""

    name: ClassVar[str] = "paths"
    title: ClassVar[str] = "Paths"
    summary: ClassVar[str] = (
        "A logit as a sum over the ways through the heads, and how much each way matters."
    )
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = False
    attention: ClassVar[str] = "sdpa"
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
            tokens = len(_ids(tokenizer, params.text, model))
            _check(params, model, tokens)
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
        flop = params.rows * row + 4.0 * heads**2 * model.d_head * model.d_model + pass_flop(model, tokens)
        speed = throughput or cpu_throughput(params.dtype)
        size = ELEMENT_BYTES[params.dtype]
        peak = (2 * model.n_params + model.d_vocab * model.d_model) * size + 2 * held
        return Estimate(
            seconds=LOAD_SECONDS + flop / speed + 0.2 * params.rows,
            peak_bytes=int(PROGRAM_BYTES + peak + 2 * pass_bytes(model, max(tokens, 2 * params.length))),
            basis=f"{tokens} tokens, {flop / 1e12:.3g} TFLOP at {speed / 1e9:.0f} GFLOP/s",
        )

    def plan(
        self, params: PathsParams, model: ModelInfo, inputs: Mapping[str, Input] | None = None
    ) -> Sequence[Piece]:
        """The prompt's terms, then each sequence."""
        rows = range(_n_rows(params, inputs or {}))
        return [
            Piece("terms", "Paths of the prompt"),
            *(Piece(f"row/{row}", f"Importance, sequence {row + 1}", weight=2.0) for row in rows),
        ]

    def compute(self, piece: Piece, params: PathsParams, context: Context) -> Arrays:
        """The terms, or one sequence's importance."""
        if piece.key == "terms":
            return _terms(params, context)
        return _importance(int(piece.key.split("/")[1]), params, context)

    def assemble(
        self, params: PathsParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """Terms as ``first``, ``second`` (head numbers, -1 for none), ``source`` and ``value``; the virtual
        heads [pair, (layer, head, layer, head)] with pattern and spectrum; ``orders`` [row, order], ``heads``
        [row, layer, head] and ``virtual`` [row, layer, head, layer, head] in nats a token.
        """
        found = dict(pieces["terms"])
        limits = limits_list(found.pop("limits"))
        words = limits_list(found.pop("words"))
        numbers = found.pop("numbers")
        rows = [pieces[key] for key in sorted(_rows_of(pieces), key=lambda key: int(key.split("/")[1]))]
        arrays: dict[str, NDArray[Any]] = dict(found)
        for name in ("orders", "heads", "virtual"):
            arrays[name] = np.stack([row[name] for row in rows]).astype(np.float32)
        if not np.isfinite(arrays["virtual"]).any():
            del arrays["virtual"]
        at, token, against, total, logit, longer, mlp, others, n_terms = numbers.tolist()
        names = json.loads(words[0])
        notes = list(limits)
        if n_terms > len(arrays["value"]):
            notes.append(f"The {len(arrays['value']):,} largest of {int(n_terms):,} terms are kept.")
        if "virtual" not in arrays:
            notes.append("The model has too many virtual heads to leave each out: that wasn't measured.")
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=replace(model, weight_processing=params.weight_processing),
            task=None,
            seeds=tuple(self.seeds(params)),
            arrays=arrays,
            values={
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


def _terms(params: PathsParams, context: Context) -> Arrays:
    import torch

    from headscope.core.circuits.eigen import eigenvalues
    from headscope.core.circuits.frozen import freeze
    from headscope.core.circuits.paths import expand, virtual_pattern, virtual_spectrum_matrix

    model = context.model
    ids = _ids(model.tokenizer, params.text, model.info)
    at, token, against = _check(params, model.info, len(ids))
    weights = _weights(model, params)
    frozen = freeze(weights, ids)
    logits = frozen.final[at] * frozen.final_scale[at] @ weights.W_U + weights.b_U
    token = int(logits[: weights.n_tokens].argmax()) if token < 0 else token
    chosen = torch.tensor([token])
    found = expand(weights, frozen, at, chosen, against if against >= 0 else None, context.checkpoint)
    value = found.values[:, 0]
    kept = value.abs().argsort(descending=True, stable=True)[:KEPT_TERMS]
    pairs = _strongest_pairs(found.first, found.second, value, model.info.n_heads)
    context.report(Progress("paths", "", 1, 1, None, 0.8))
    wanted = logits[token] - (logits[against] if against >= 0 else 0)
    vocabulary = token_names(model.tokenizer, [token, *([against] if against >= 0 else []), *ids])
    prompt = [[token_id, *_text(model.tokenizer, token_id)] for token_id in ids]
    words = json.dumps({"vocabulary": vocabulary, "prompt": prompt})
    numbers = [
        at, token, against, float(found.total[0]), float(wanted), float(found.longer[0]), float(found.mlp[0]),
        float(value.sum() - value[kept].sum()), len(value),
    ]  # fmt: skip
    split_pairs = [(pair[:2], pair[2:]) for pair in pairs]
    spectra = [eigenvalues(virtual_spectrum_matrix(weights, *pair)) for pair in split_pairs]
    patterns = [virtual_pattern(frozen, *pair).cpu() for pair in split_pairs]
    length, width = len(ids), model.info.d_head
    return {
        "first": found.first[kept].numpy().astype(np.int32),
        "second": found.second[kept].numpy().astype(np.int32),
        "source": found.source[kept].numpy().astype(np.uint8),
        "value": value[kept].cpu().numpy().astype(np.float32),
        "pairs": np.array(pairs, np.uint16).reshape(-1, 4),
        "pair_pattern": np.array([p.numpy() for p in patterns], np.float32).reshape(-1, length, length),
        "pair_spectrum": np.array([split(s) for s in spectra], np.float32).reshape(-1, width, 2),
        "numbers": np.array(numbers, np.float64),
        "limits": limits_array(weights.limits),
        "words": limits_array([words]),
    }


def _importance(row: int, params: PathsParams, context: Context) -> Arrays:
    from headscope.core.circuits.frozen import freeze
    from headscope.core.circuits.importance import importance

    model = context.model
    prompts = context.inputs.get("prompts")
    if isinstance(prompts, PromptSet):
        ids = _ids(model.tokenizer, prompts.texts[row], model.info)
    else:
        length = min(params.length, (model.info.n_ctx - int(model.info.bos)) // 2)
        ids = repeated_tokens(model.tokenizer, length, 1, params.first_seed + row)[0].tolist()
    if len(ids) < 2:
        raise Invalid(
            f"Sequence {row + 1} has a single token, which nothing predicts.",
            "Use longer prompts.",
            code="too-short",
        )
    weights = _weights(model, params)
    found = importance(weights, freeze(weights, ids), context.checkpoint)
    return {
        "orders": found.orders.numpy(),
        "heads": found.heads.numpy(),
        "virtual": found.virtual.numpy(),
    }


def _weights(model: HeadModel, params: PathsParams) -> Any:
    import torch

    from headscope.core.weights import read_weights

    return read_weights(model, "folded", getattr(torch, params.dtype))


def _strongest_pairs(first: Any, second: Any, value: Any, n_heads: int) -> list[tuple[int, int, int, int]]:
    """Virtual heads by the size of what they add, sources together."""
    totals: dict[tuple[int, int], float] = {}
    numbers = zip(first.tolist(), second.tolist(), value.tolist(), strict=True)
    for one, two, amount in numbers:
        if two >= 0:
            totals[(one, two)] = totals.get((one, two), 0.0) + amount
    ranked = sorted(totals, key=lambda pair: -abs(totals[pair]))[:VIRTUAL]
    return [(*divmod(one, n_heads), *divmod(two, n_heads)) for one, two in ranked]


def _ids(tokenizer: Tokenizer, text: str, model: ModelInfo) -> list[int]:
    ids = tokenizer.encode(text)
    if not 0 < len(ids) <= model.n_ctx:
        raise Invalid(
            f"The prompt has {len(ids)} tokens; {model.name} reads 1 to {model.n_ctx}.",
            "Shorten it." if ids else "Write at least one character.",
            code="too-long" if ids else "empty-text",
        )
    return ids


def _check(params: PathsParams, model: ModelInfo, tokens: int) -> tuple[int, int, int]:
    """Position, token and the one against it; -1 where the most likely, or none, is meant."""
    at = tokens - 1 if params.at is None else params.at
    if at >= tokens:
        raise Invalid(
            f"There is no position {at}: the prompt has {tokens} tokens.",
            f"Positions run 0-{tokens - 1}.",
            code="unknown-position",
        )
    for token in (params.token, params.against):
        if token is not None and token >= model.d_vocab:
            raise Invalid(
                f"There is no token {token}.", f"Ids run 0-{model.d_vocab - 1}.", code="unknown-token"
            )
    token, against = params.token, params.against
    return at, -1 if token is None else token, -1 if against is None else against


def _text(tokenizer: Tokenizer, token: int) -> tuple[str | None, str]:
    content = tokenizer.decode_bytes(token)
    try:
        return content.decode(), content.hex()
    except UnicodeDecodeError:
        return None, content.hex()


def _n_rows(params: PathsParams, inputs: Mapping[str, Input]) -> int:
    prompts = inputs.get("prompts")
    return min(params.rows, len(prompts.texts)) if isinstance(prompts, PromptSet) else params.rows


def _rows_of(pieces: Mapping[str, Arrays]) -> list[str]:
    return [key for key in pieces if key.startswith("row/")]
