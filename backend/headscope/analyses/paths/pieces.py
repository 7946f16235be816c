"""What the pieces of a path expansion compute: the prompt's terms, importance by sequence, virtual heads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headscope.analyses.base import Context, Kept, Spec
from headscope.analyses.from_weights import split, weights_of
from headscope.analyses.paths import kept
from headscope.analyses.paths.prompt import looked_at, token_ids
from headscope.analyses.paths.schema import PathsParams
from headscope.analyses.token_names import token_name, token_names
from headscope.core.patterns.random_repeats import repeated_tokens
from headscope.errors import Invalid
from headscope.tasks.prompts import PromptSet

KEPT_TERMS = 4000
"""The largest terms of a model with more; what the others add up to is one number."""

NUMBERS = (
    "at", "token", "against", "total", "logit", "longer", "through_mlps", "other_terms", "n_terms",
)  # fmt: skip
"""What ``terms`` answers as one array of ``numbers``."""


def terms(params: PathsParams, context: Context) -> Kept:
    """The paths of the prompt's logit, the largest first, and the virtual heads that add most to it."""
    import torch

    from headscope.core.circuits.frozen import freeze
    from headscope.core.circuits.paths import expand

    model = context.model
    ids = token_ids(model.tokenizer, params.text, model.info)
    at, token, against = looked_at(params, model.info, len(ids))
    weights = weights_of(model, params)
    frozen = freeze(weights, ids)
    logits = frozen.final[at] * frozen.final_scale[at] @ weights.W_U + weights.b_U
    token = int(logits[: weights.n_tokens].argmax()) if token < 0 else token
    chosen = torch.tensor([token])
    found = expand(weights, frozen, at, chosen, against if against >= 0 else None, context.checkpoint)
    value = found.values[:, 0]
    largest = value.abs().argsort(descending=True, stable=True)[:KEPT_TERMS]
    paths = zip(found.first.tolist(), found.second.tolist(), value.tolist(), strict=True)
    wanted = logits[token] - (logits[against] if against >= 0 else 0)
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
        "limits": weights.limits,
        "words": {
            "vocabulary": token_names(model.tokenizer, [token, against, *ids]),
            "prompt": [token_name(model.tokenizer, token_id) for token_id in ids],
        },
    }


def importance(spec: Spec[PathsParams], row: int, context: Context) -> Kept:
    """One sequence's losses by order and marginal effects: of a prompt over all its tokens, of random tokens
    that repeat over those of the second copy that the first one tells. Raises ``Invalid`` (too-short) for a
    prompt of one token.
    """
    from headscope.core.circuits import importance as measure
    from headscope.core.circuits.frozen import freeze

    model, params = context.model, spec.params
    prompts, scored = spec.input("prompts", PromptSet), None
    if prompts is not None:
        ids = token_ids(model.tokenizer, prompts.texts[row], model.info)
    else:
        length = min(params.length, (model.info.n_ctx - int(model.info.bos)) // 2)
        ids = repeated_tokens(model.tokenizer, length, 1, params.first_seed + row)[0].tolist()
        scored = range(len(ids) - length + 1, len(ids))
    if len(ids) < 2:
        raise Invalid(
            f"Sequence {row + 1} has a single token, which nothing predicts.",
            "Use longer prompts.",
            code="too-short",
        )
    weights = weights_of(model, params)
    found = measure.importance(weights, freeze(weights, ids), context.checkpoint, scored=scored)
    return {
        "orders": found.orders.numpy(),
        "heads": found.heads.numpy(),
        "virtual": found.virtual.numpy(),
    }


def virtual_heads(params: PathsParams, rows: Sequence[str], context: Context) -> Kept:
    """Pattern on the prompt and spectrum of the virtual heads kept: the most important by the sequences'
    mean, or by value on the prompt where none was removed. ``measured`` says whether it was the former.
    """
    from headscope.core.circuits.eigen import eigenvalues
    from headscope.core.circuits.frozen import freeze
    from headscope.core.circuits.paths import virtual_pattern, virtual_spectrum_matrix

    model = context.model
    marginal = np.mean([context.pieces[key]["virtual"] for key in rows], axis=0)
    measured = bool(np.isfinite(marginal).any())
    chosen = kept.by_importance(marginal) if measured else context.pieces["terms"]["by_value"]
    ids = token_ids(model.tokenizer, params.text, model.info)
    weights = weights_of(model, params)
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
