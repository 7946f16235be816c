"""What the pieces of a path expansion compute: the prompt's terms, importance by sequence, virtual heads."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from headscope.analyses.base import Arrays
from headscope.analyses.from_weights import limits_array, split
from headscope.analyses.legacy import Context
from headscope.analyses.paths import kept
from headscope.analyses.paths.prompt import looked_at, token_ids, token_text
from headscope.analyses.paths.schema import PathsParams
from headscope.analyses.token_names import token_names
from headscope.core.model.head_model import HeadModel
from headscope.core.patterns.random_repeats import repeated_tokens
from headscope.errors import Invalid
from headscope.tasks.prompts import PromptSet

KEPT_TERMS = 4000
"""The largest terms of a model with more; what the others add up to is one number."""


def terms(params: PathsParams, context: Context) -> Arrays:
    """The paths of the prompt's logit, the largest first, and the virtual heads that add most to it."""
    import torch

    from headscope.core.circuits.frozen import freeze
    from headscope.core.circuits.paths import expand

    model = context.model
    ids = token_ids(model.tokenizer, params.text, model.info)
    at, token, against = looked_at(params, model.info, len(ids))
    weights = _weights(model, params)
    frozen = freeze(weights, ids)
    logits = frozen.final[at] * frozen.final_scale[at] @ weights.W_U + weights.b_U
    token = int(logits[: weights.n_tokens].argmax()) if token < 0 else token
    chosen = torch.tensor([token])
    found = expand(weights, frozen, at, chosen, against if against >= 0 else None, context.checkpoint)
    value = found.values[:, 0]
    largest = value.abs().argsort(descending=True, stable=True)[:KEPT_TERMS]
    paths = zip(found.first.tolist(), found.second.tolist(), value.tolist(), strict=True)
    wanted = logits[token] - (logits[against] if against >= 0 else 0)
    vocabulary = token_names(model.tokenizer, [token, *([against] if against >= 0 else []), *ids])
    prompt = [[token_id, *token_text(model.tokenizer, token_id)] for token_id in ids]
    words = json.dumps({"vocabulary": vocabulary, "prompt": prompt})
    numbers = [
        at, token, against, float(found.total[0]), float(wanted), float(found.longer[0]), float(found.mlp[0]),
        float(value.sum() - value[largest].sum()), len(value),
    ]  # fmt: skip
    return {
        "first": found.first[largest].numpy().astype(np.int32),
        "second": found.second[largest].numpy().astype(np.int32),
        "source": found.source[largest].numpy().astype(np.uint8),
        "value": value[largest].cpu().numpy().astype(np.float32),
        "by_value": kept.by_value(paths, model.info.n_heads),
        "numbers": np.array(numbers, np.float64),
        "limits": limits_array(weights.limits),
        "words": limits_array([words]),
    }


def importance(row: int, params: PathsParams, context: Context) -> Arrays:
    """One sequence's losses by order and marginal effects. Raises ``Invalid`` (too-short) for one token."""
    from headscope.core.circuits import importance as measure
    from headscope.core.circuits.frozen import freeze

    model = context.model
    prompts = context.inputs.get("prompts")
    if isinstance(prompts, PromptSet):
        ids = token_ids(model.tokenizer, prompts.texts[row], model.info)
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
    found = measure.importance(weights, freeze(weights, ids), context.checkpoint)
    return {
        "orders": found.orders.numpy(),
        "heads": found.heads.numpy(),
        "virtual": found.virtual.numpy(),
    }


def virtual_heads(params: PathsParams, context: Context) -> Arrays:
    """Pattern on the prompt and spectrum of the virtual heads kept: the most important by the sequences'
    mean, or by value on the prompt where none was left out. ``measured`` says whether it was the former.
    """
    from headscope.core.circuits.eigen import eigenvalues
    from headscope.core.circuits.frozen import freeze
    from headscope.core.circuits.paths import virtual_pattern, virtual_spectrum_matrix

    model = context.model
    rows = [context.pieces[key]["virtual"] for key in context.pieces if key.startswith("row/")]
    marginal = np.mean(rows, axis=0)
    measured = bool(np.isfinite(marginal).any())
    chosen = kept.by_importance(marginal) if measured else context.pieces["terms"]["by_value"]
    ids = token_ids(model.tokenizer, params.text, model.info)
    weights = _weights(model, params)
    frozen = freeze(weights, ids)
    patterns, spectra = [], []
    for layer, head, later, of in chosen.tolist():
        context.checkpoint()
        pair = ((layer, head), (later, of))
        patterns.append(virtual_pattern(frozen, *pair).cpu().numpy())
        spectra.append(split(eigenvalues(virtual_spectrum_matrix(weights, *pair))))
    length, width = len(ids), model.info.d_head
    return {
        "pairs": chosen,
        "pair_pattern": np.array(patterns, np.float32).reshape(-1, length, length),
        "pair_spectrum": np.array(spectra, np.float32).reshape(-1, width, 2),
        "measured": np.array([measured]),
    }


def _weights(model: HeadModel, params: PathsParams) -> Any:
    import torch

    from headscope.core.circuits.weights import read_weights

    return read_weights(model, "folded", getattr(torch, params.dtype))
