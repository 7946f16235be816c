"""Eigenvalues as an analysis: scores on repeated tokens, and spectra from the weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Context, Estimate, Kept, Piece, Pieces, Progress, Spec
from headscope.analyses.costing import LOAD_SECONDS, cpu_throughput, pass_flop, tflop
from headscope.analyses.eigen.result import SPECTRA, EigenResult
from headscope.analyses.eigen.schema import EigenParams
from headscope.analyses.from_weights import processed, split, weights_of
from headscope.core.model.info import ModelInfo
from headscope.core.model.memory import ELEMENT_BYTES, PROGRAM_BYTES, pass_bytes
from headscope.core.model.tokens import Tokenizer
from headscope.core.patterns.random_repeats import repeated_tokens
from headscope.core.patterns.scores import ABOVE, SCORES
from headscope.errors import Invalid

_EIG = 25.0  # FLOP of a d x d eigenvalue problem, in d^3
_EIG_SPEED = 2e9  # at which LAPACK solves small ones


def seeds(params: EigenParams) -> Sequence[int]:
    """A seed for each draw of random tokens."""
    return range(params.first_seed, params.first_seed + params.seeds)


def estimate(
    spec: Spec[EigenParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes: two Gram products, three small eigenproblems a head, the draws."""
    params, model = spec.params, spec.model
    tokens = _positions(params, model)
    heads = model.n_layers * model.n_heads
    grams = 4.0 * model.d_vocab * model.d_model**2 * 3  # each of three pieces reads the embedding
    small = 8.0 * heads * model.d_model**2 * model.d_head
    speed = throughput or cpu_throughput(params.dtype)
    flop = grams + small + params.seeds * pass_flop(model, tokens)
    eig = 4 * heads * _EIG * model.d_head**3 / _EIG_SPEED
    size = ELEMENT_BYTES[params.dtype]
    weights = (model.n_params + 2 * model.d_vocab * model.d_model) * size
    return Estimate(
        seconds=LOAD_SECONDS + flop / speed + eig,
        peak_bytes=int(PROGRAM_BYTES + weights + params.seeds * pass_bytes(model, tokens)),
        basis=f"{tflop(flop)} at {speed / 1e9:.0f} GFLOP/s, {heads:,} heads of "
        f"{model.d_head} x {model.d_head}",
    )


def plan(spec: Spec[EigenParams]) -> Sequence[Piece]:
    """Scores, spectra, and QK through the previous-token heads that the scores name."""
    params = spec.params
    _positions(params, spec.model)
    return [
        Piece("scores", "Scores on repeated tokens", partial(_scores, params)),
        Piece("spectra", "OV and QK spectra", partial(_spectra, params)),
        Piece("through", "QK through previous-token heads", partial(_through, params), ("scores",)),
    ]


def assemble(spec: Spec[EigenParams], pieces: Pieces) -> EigenResult:
    """All spectra with their positivity, and the scores."""
    found = {**pieces["spectra"], **pieces["through"]}
    spectra = {name: found[name] for name in SPECTRA if name in found}
    limits = found["limits"]
    turned = f"QK at a distance of {spec.params.offset}: {_TURNED}"
    return EigenResult(
        **EigenResult.header(spec, seeds=seeds(spec.params), model=processed(spec)),
        **pieces["scores"],
        spectra=spectra,
        positivity={name: _positivity(values) for name, values in spectra.items()},
        best_previous=found["best_previous"],
        limits=limits,
        notes=[*limits, turned] if "qk_offset" in spectra else limits,
    )


_TURNED = "rotary positions turn the query by that many tokens against its key."


def _scores(params: EigenParams, context: Context) -> Kept:
    import torch

    from headscope.analyses.induction.measure import Rows, measure

    drawn = [repeated_tokens(context.model.tokenizer, params.length, 1, seed) for seed in seeds(params)]
    rows = Rows(torch.from_numpy(np.concatenate(drawn)), params.length, 2)
    found = measure(context.model, rows, None, context.checkpoint)
    names = [score.name for score in SCORES]
    weights = {name: found.scores[names.index(name)] for name in ("induction", "previous", "current")}
    above = {f"{name}_above": found.above[ABOVE.index(name)] for name in ("induction", "previous")}
    return {name: scores.numpy().astype(np.float32) for name, scores in (weights | above).items()}


def _spectra(params: EigenParams, context: Context) -> Kept:
    from headscope.core.circuits.eigen import qk_turned, spectra
    from headscope.core.circuits.rotary import rotations

    weights = weights_of(context.model, params)
    found = spectra(weights, context.checkpoint)
    context.report(Progress("spectra", "", 1, 1, None, 0.7))
    kept: dict[str, Any] = {"ov": split(found.ov), "qk": split(found.qk), "limits": weights.limits}
    turned = rotations(weights, params.offset)
    if turned is not None:
        kept["qk_offset"] = split(qk_turned(weights, turned, context.checkpoint))
    return kept


def _through(params: EigenParams, context: Context) -> Kept:
    import torch

    from headscope.core.circuits.eigen import through_previous

    scores = context.pieces["scores"]
    drawn = torch.from_numpy(np.array(scores.get("previous_above", scores["previous"])))
    previous = drawn.mean(0).clamp(min=torch.finfo(torch.float32).tiny)  # weights: none may be below 0
    weights = weights_of(context.model, params)
    found = through_previous(weights, previous, context.checkpoint)
    return {
        "qk_best": split(found.through_best),
        "qk_all": split(found.through_all),
        "best_previous": np.array(found.best, dtype=np.int16),
    }


def _positivity(values: NDArray[Any]) -> NDArray[Any]:
    wide = values.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        score = wide[..., 0].sum(-1) / np.hypot(wide[..., 0], wide[..., 1]).sum(-1)
    return np.asarray(score, dtype=np.float32)


def _positions(params: EigenParams, model: ModelInfo) -> int:
    tokens = int(model.bos) + 2 * params.length
    if tokens > model.n_ctx:
        raise Invalid(
            f"Two copies of {params.length} tokens don't fit the context of {model.n_ctx}.",
            f"Use at most {(model.n_ctx - int(model.bos)) // 2} tokens in a copy.",
            code="too-long",
        )
    return tokens
