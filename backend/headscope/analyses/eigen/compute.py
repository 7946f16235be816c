"""Eigenvalues as an analysis: scores on repeated tokens, spectra from the weights, and their result.

Pieces: ``scores`` (previous-token and induction scores of every head), ``spectra`` (OV and QK, from the
weights alone), ``through`` (QK with keys written by previous-token heads).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import (
    Arrays,
    Estimate,
    Progress,
    Result,
    Spec,
)
from headscope.analyses.costing import (
    LOAD_SECONDS,
    PROGRAM_BYTES,
    cpu_throughput,
    pass_bytes,
    pass_flop,
    tflop,
)
from headscope.analyses.eigen.schema import PRESETS, EigenParams
from headscope.analyses.from_weights import (
    FromWeights,
    head_name,
    limits_array,
    limits_list,
    processed,
    split,
    weights_of,
)
from headscope.analyses.legacy import Context, Piece
from headscope.core.model.cost import ELEMENT_BYTES
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.core.patterns.random_repeats import repeated_tokens
from headscope.core.patterns.scores import SCORES
from headscope.errors import Invalid
from headscope.tasks.task import Task

SPECTRA = ("ov", "qk", "qk_best", "qk_all", "qk_offset")
"""Each [layer, head, d_head, 2]: real and imaginary parts, the largest modulus first."""

_EIG = 25.0  # FLOP of a d x d eigenvalue problem, in d^3
_EIG_SPEED = 2e9  # at which LAPACK solves small ones


class Eigen(FromWeights):
    """OV and QK spectra of every head [A Mathematical Framework, 2021], and who feeds its keys."""

    name: ClassVar[str] = "eigen"
    title: ClassVar[str] = "Eigenvalues"
    summary: ClassVar[str] = "What every head copies and what it matches, read from the weights."
    version: ClassVar[int] = 1
    params: type[EigenParams] = EigenParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: EigenParams) -> Sequence[int]:
        """A seed a draw of random tokens."""
        return range(params.first_seed, params.first_seed + params.seeds)

    def estimate(
        self,
        params: EigenParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes: two Gram products, three small eigenproblems a head, the draws."""
        tokens = _positions(params, model)
        heads = model.n_layers * model.n_heads
        grams = 4.0 * model.d_vocab * model.d_model**2 * 3  # each of three pieces reads the embedding anew
        small = 8.0 * heads * model.d_model**2 * model.d_head
        speed = throughput or cpu_throughput(params.dtype)
        flop = grams + small + params.seeds * pass_flop(model, tokens)
        eig = 4 * heads * _EIG * model.d_head**3 / _EIG_SPEED
        size = ELEMENT_BYTES[params.dtype]
        return Estimate(
            seconds=LOAD_SECONDS + flop / speed + eig,
            peak_bytes=int(
                PROGRAM_BYTES
                + model.n_params * size
                + 2 * model.d_vocab * model.d_model * size
                + params.seeds * pass_bytes(model, tokens)
            ),
            basis=f"{tflop(flop)} at {speed / 1e9:.0f} GFLOP/s, {heads:,} heads of "
            f"{model.d_head} x {model.d_head}",
        )

    def plan(self, params: EigenParams, model: ModelInfo) -> Sequence[Piece]:
        """Scores, spectra, and QK through the previous-token heads that the scores name."""
        _positions(params, model)
        return [
            Piece("scores", "Scores on repeated tokens"),
            Piece("spectra", "OV and QK spectra"),
            Piece("through", "QK through previous-token heads", ("scores",)),
        ]

    def compute(self, piece: Piece, params: EigenParams, context: Context) -> Arrays:
        """One piece's arrays."""
        if piece.key == "scores":
            return _scores(params, context)
        return (_spectra if piece.key == "spectra" else _through)(params, context)

    def assemble(
        self, params: EigenParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """``SPECTRA``, a positivity of each [layer, head], scores [draw, layer, head], and the best
        previous-token head before each layer [layer, (layer, head)].
        """
        spectra = dict(pieces["spectra"]) | dict(pieces["through"])
        limits = limits_list(spectra.pop("limits"))
        arrays: dict[str, NDArray[Any]] = {}
        for name in SPECTRA:
            if name in spectra:
                arrays[name] = spectra[name].astype(np.float32)
                arrays[f"{name}_positivity"] = _positivity(spectra[name])
        arrays["best_previous"] = spectra["best_previous"]
        arrays |= pieces["scores"]
        notes = list(limits)
        if "qk_offset" in arrays:
            notes.append(f"QK at a distance of {params.offset}: {_TURNED}")
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=processed(Spec(params, model)),
            task=None,
            seeds=tuple(self.seeds(params)),
            other_arrays=arrays,
            other_values={"limits": limits, "notes": notes},
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """The head that copies most, the best previous-token head, and the heads that look like induction."""
        ov = result.arrays["ov_positivity"]
        most = np.unravel_index(np.nanargmax(ov), ov.shape)
        previous = result.arrays["previous"].mean(axis=0)
        best = np.unravel_index(previous.argmax(), previous.shape)
        corner = (ov > 0.5) & (result.arrays["qk_best_positivity"] > 0.5)
        return {
            "most_copying_head": head_name(most),
            "most_copying_score": float(ov[most]),
            "copying_heads": int((ov > 0.5).sum()),
            "previous_token_head": head_name(best),
            "heads_that_copy_and_match": int(corner.sum()),
        }


_TURNED = "rotary positions turn the query by that many tokens against its key."


def _scores(params: EigenParams, context: Context) -> Arrays:
    import torch

    from headscope.analyses.induction.measure import Rows, measure

    tokenizer, seeds = context.model.tokenizer, params.seeds
    drawn = [repeated_tokens(tokenizer, params.length, 1, params.first_seed + draw) for draw in range(seeds)]
    rows = Rows(torch.from_numpy(np.concatenate(drawn)), params.length, 2)
    scores, _ = measure(context.model, rows, None, context.checkpoint)
    names = [score.name for score in SCORES]
    return {
        name: scores[names.index(name)].numpy().astype(np.float32)
        for name in ("induction", "previous", "current")
    }


def _spectra(params: EigenParams, context: Context) -> Arrays:
    from headscope.core.circuits.eigen import qk_turned, spectra
    from headscope.core.circuits.rotary import rotation

    weights = weights_of(context.model, params)
    found = spectra(weights, context.checkpoint)
    context.report(Progress("spectra", "", 1, 1, None, 0.7))
    arrays = {"ov": split(found.ov), "qk": split(found.qk), "limits": limits_array(weights.limits)}
    turned = rotation(weights, params.offset)
    if turned is not None:
        arrays["qk_offset"] = split(qk_turned(weights, turned, context.checkpoint))
    return arrays


def _through(params: EigenParams, context: Context) -> Arrays:
    import torch

    from headscope.core.circuits.eigen import through_previous

    previous = torch.from_numpy(np.array(context.pieces["scores"]["previous"])).mean(0)
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
