"""Direct logit attribution and the logit lens, each from one pass at one position.

The stream x that the final norm reads is a sum: the embedding, what each head and each MLP wrote, and biases.
With the norm's scale held at this pass's, norm and unembedding are linear, so the logit is a sum over the
same parts [A Mathematical Framework for Transformer Circuits, 2021]:

    logit = sum over parts v of s(x) (C v * w) . u  +  b . u + b_U

u is the token's unembedding (or the difference of two), s, C, w, b as in core/model/norms.py. A head's v is
its z times its rows of W_O, after any gate, and where a norm follows attention (Gemma-2) through that norm,
its scale held too. The sum is compared with the model's logit, and refused where they differ: an architecture
that does something else on the way would be drawn wrongly otherwise.

The lens gives the streams before each layer, at one position, to the model's own norm, and puts what comes
out in the place of the unembedding's input: the last row is the model's own answer, caps included.
[nostalgebraist 2020]

TransformerLens' own decomposition (ActivationCache.get_full_resid_decomposition and logit_attrs) gives the
same numbers for GPT-2, Llama and attention-only models, which the tests hold this to. It isn't used because
on Gemma-2 it doesn't sum to the logit (the norm after attention is left out), and because it caches all
activations of all positions in a step-by-step pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Float64
from torch import nn

from headscope.core.model.head_model import HeadModel
from headscope.core.model.hooks import reading_input, reading_output
from headscope.core.model.norms import Fold, measure_norm, norm_scale
from headscope.errors import Invalid, Refused

_TOLERANCE = {torch.float64: 1e-3, torch.float32: 1e-3}
_TOLERANCE_HALF = 0.1
"""Of the largest part: norms compute in float32 whatever the dtype, half precision rounds the stream."""


@dataclass(frozen=True, eq=False)
class Attribution:
    """A logit (or a difference of two) as a sum over ``heads`` [layer, head] and ``parts`` by name.

    Parts are ``embedding``, ``mlp.{layer}`` and ``biases``. ``total`` is their sum, ``logit`` what the model
    says: before its soft cap where it has one, as ``note`` tells.
    """

    token: int
    against: int | None
    heads: Float64[torch.Tensor, "layer head"]
    parts: dict[str, float]
    total: float
    logit: float
    note: str


@dataclass(frozen=True, eq=False)
class Lens:
    """``log_probabilities`` [L + 1, vocab], nats, float32: what the stream says before each layer and after
    all.
    """

    log_probabilities: Float[torch.Tensor, "depth vocab"]


@torch.no_grad()
def attribute(
    model: HeadModel,
    ids: Sequence[int],
    at: int | None = None,
    token: int | None = None,
    against: int | None = None,
) -> Attribution:
    """What each part adds to a token's logit at a position, or to its difference to another token's.

    ``at`` None is the last position, ``token`` None the most likely one there. Gates act where a ``gated``
    context is open. Raises Invalid for positions and tokens that aren't there, Refused where an
    architecture's parts don't sum to its logit.
    """
    at = _position(ids, at)
    for given in (token, against):
        if given is not None and not 0 <= given < model.info.d_vocab:
            raise Invalid(
                f"There is no token {given}.", f"Ids run 0-{model.info.d_vocab - 1}.", code="unknown-token"
            )
    seen = _Pass(model, at)
    logits = seen.run(ids)
    if model.tail.kind == "other":
        raise Refused(
            f"{model.info.architecture} does more to its logits than to cap or scale them.",
            "Use the logit lens, which reads them through the model itself.",
            code="not-linear",
        )
    token = int(logits.argmax()) if token is None else token
    return _summed(model, seen, _Direction(model, seen, token, against), token, against)


@torch.no_grad()
def lens(model: HeadModel, ids: Sequence[int], at: int | None = None) -> Lens:
    """What the stream says after 0, 1, ... L layers at a position, read as the last layer's is.

    Gates act where a ``gated`` context is open. Raises Invalid for positions that aren't there, Refused for
    an architecture without a final norm.
    """
    at = _position(ids, at)
    norm, streams = _final_norm(model), list[torch.Tensor]()

    def put(_: nn.Module, args: tuple[Any, ...]) -> tuple[torch.Tensor]:
        read = norm.forward(torch.stack(streams)[None])
        if not torch.allclose(read[0, -1], args[0][0, at], rtol=1e-2, atol=1e-2):
            raise Refused(
                f"{model.info.architecture} has more than a norm between its last layer and its unembedding.",
                "Choose another architecture for the lens.",
                code="not-linear",
            )
        return (read,)

    with ExitStack() as hooks:
        for module in (*model.parts.blocks, norm):
            hooks.enter_context(reading_input(module, lambda stream: streams.append(stream[0, at])))
        hooks.callback(model.parts.unembedding.register_forward_pre_hook(put).remove)
        depth = torch.arange(model.info.n_layers + 1)  # what ``put`` leaves stands at the first positions
        where = torch.stack([torch.zeros_like(depth), depth], 1)
        logits = model.logits_at(torch.tensor([list(ids)], device=model.device), where)
    return Lens(_wide(logits).log_softmax(-1).float())


class _Pass:
    """What is written into the stream at one position of a pass, and how it is read at the end."""

    def __init__(self, model: HeadModel, at: int) -> None:
        self.model, self.at = model, at
        self.z: list[torch.Tensor] = []  # [head * d_head] a layer, after any gate
        self.attention_norms: list[torch.Tensor] = []  # what each norm after attention reads
        self.mlps: list[torch.Tensor] = []
        self.embedding = self.last = self.raw = torch.empty(0)

    def run(self, ids: Sequence[int]) -> Float[torch.Tensor, " vocab"]:
        """One pass; the logits at the position."""
        parts, at = self.model.parts, self.at
        with ExitStack() as hooks:

            def before(module: nn.Module, keep: Callable[[torch.Tensor], None]) -> None:
                hooks.enter_context(reading_input(module, lambda stream: keep(self._one(stream)[0, at])))

            before(parts.blocks[0], lambda stream: setattr(self, "embedding", stream))
            before(_final_norm(self.model), lambda stream: setattr(self, "last", stream))
            for projection in parts.projections:
                before(projection, self.z.append)
            for norm in parts.attention_norms:
                if norm is not None:
                    before(norm, self.attention_norms.append)
            for mlp, norm in zip(parts.mlps, parts.mlp_norms, strict=True):
                writer = norm or mlp
                if writer is not None:
                    hooks.enter_context(reading_output(writer, lambda out: self.mlps.append(_place(out, at))))
            hooks.enter_context(
                reading_output(parts.unembedding, lambda out: setattr(self, "raw", out[0, 0]))
            )
            where = torch.tensor([[0, at]], device=self.model.device)
            return self.model.logits_at(torch.tensor([list(ids)], device=self.model.device), where)[0]

    def _one(self, stream: torch.Tensor) -> torch.Tensor:
        """The stream [batch, pos, d_model]; Refused where an architecture keeps several (Gemma 3n)."""
        if stream.ndim != 3:
            raise Refused(
                f"{self.model.info.architecture} keeps several residual streams, of which a logit is no sum.",
                "Choose another architecture for attribution.",
                code="not-linear",
            )
        return stream


class _Direction:
    """What reads a logit off the stream: ``of`` a part written there is its share."""

    def __init__(self, model: HeadModel, seen: _Pass, token: int, against: int | None) -> None:
        unembedding = model.parts.unembedding
        u = _row(unembedding, token)
        bias = _bias(unembedding, token)
        if against is not None:
            u, bias = u - _row(unembedding, against), bias - _bias(unembedding, against)
        norm = _final_norm(model)
        fold = _double(measure_norm(norm, len(u)))
        self.factor = model.tail.value if model.tail.kind == "factor" else 1.0
        self.reader = (
            fold.reader(u[:, None])[:, 0] * float(norm_scale(norm, seen.last.double())) * self.factor
        )
        self.bias = (float(fold.shift @ u) + bias) * self.factor
        logit = seen.raw[token] if against is None else seen.raw[token].double() - seen.raw[against].double()
        self.logit = float(logit) * self.factor

    def of(self, written: Float64[torch.Tensor, "*axes d_model"]) -> Float64[torch.Tensor, "*axes"]:
        """Its share of the logit."""
        return written @ self.reader


def _summed(
    model: HeadModel, seen: _Pass, direction: _Direction, token: int, against: int | None
) -> Attribution:
    heads, biases = [], direction.bias
    norms = iter(seen.attention_norms)
    for layer, projection in enumerate(model.parts.projections):
        written, bias = _written(projection, seen.z[layer], model.info.n_heads)
        norm = model.parts.attention_norms[layer]
        if norm is not None:
            fold = _double(measure_norm(norm, model.info.d_model))
            scale = float(norm_scale(norm, next(norms).double()))
            written, bias = fold.rows(written) * scale, fold.rows(bias) * scale + fold.shift
        written, bias = written * model.parts.factor, bias * model.parts.factor
        heads.append(direction.of(written))
        biases += float(direction.of(bias))
    parts = {"embedding": float(direction.of(seen.embedding.double()))}
    with_mlp = [layer for layer, mlp in enumerate(model.parts.mlps) if mlp is not None]
    parts |= {
        f"mlp.{layer}": float(direction.of(out.double())) * model.parts.factor
        for layer, out in zip(with_mlp, seen.mlps, strict=True)
    }
    parts["biases"] = biases
    shares = torch.stack(heads).cpu()
    total = float(shares.sum()) + sum(parts.values())
    _check(model, total, direction.logit, max(float(shares.abs().max()), *map(abs, parts.values())))
    return Attribution(token, against, shares, parts, total, direction.logit, _note(model))


def _place(out: torch.Tensor, at: int) -> torch.Tensor:
    """A position of one row. Some lay rows and positions in one axis; Falcon changes what it gave later."""
    return out.flatten(0, -2)[at].clone()


def _written(
    projection: nn.Module, z: Float[torch.Tensor, " width"], n_heads: int
) -> tuple[Float64[torch.Tensor, "head d_model"], Float64[torch.Tensor, " d_model"]]:
    """What each head writes, and the projection's bias; by the module, however it keeps weights."""
    d_head = len(z) // n_heads
    alone = torch.zeros(n_heads + 1, len(z), dtype=z.dtype, device=z.device)
    for head in range(n_heads):
        alone[head, head * d_head : (head + 1) * d_head] = z[head * d_head : (head + 1) * d_head]
    out = projection.forward(alone[None])[0].double()  # not by a call: gates hang there and have acted on z
    return out[:-1] - out[-1], out[-1]


def _check(model: HeadModel, total: float, logit: float, largest: float) -> None:
    tolerance = _TOLERANCE.get(model.dtype, _TOLERANCE_HALF) * max(1.0, abs(logit), largest)
    if abs(total - logit) > tolerance:
        raise Refused(
            f"The parts of {model.info.architecture} sum to {total:.4g}, its logit is {logit:.4g}: the "
            "architecture does something on the way that attribution doesn't know.",
            "Use the logit lens, which reads the stream through the model itself.",
            code="not-linear",
        )


def _note(model: HeadModel) -> str:
    note = "The final norm's scale is held at this prompt's."
    if any(norm is not None for norm in model.parts.attention_norms):
        note += " So is that of the norms after attention: a head's share depends on its layer's other heads."
    if model.tail.kind == "cap":
        note += f" Before the soft cap: the model bends logits so that none passes ±{model.tail.value:g}."
    return note


def _position(ids: Sequence[int], at: int | None) -> int:
    if not ids:
        raise Invalid("The text has no tokens.", "Write at least one character.", code="empty-text")
    at = len(ids) - 1 if at is None else at
    if not 0 <= at < len(ids):
        raise Invalid(
            f"There is no position {at} among {len(ids)} tokens.",
            f"Positions run 0-{len(ids) - 1}.",
            code="no-position",
        )
    return at


def _final_norm(model: HeadModel) -> nn.Module:
    norm = model.parts.final_norm
    if norm is None:
        raise Refused(
            f"{model.info.architecture} has no norm before its unembedding.",
            "Choose another architecture for attribution and lens.",
            code="not-linear",
        )
    return norm


def _row(unembedding: nn.Module, token: int) -> Float64[torch.Tensor, " d_model"]:
    weight: Any = unembedding.weight  # [vocab, d_model] in every architecture of transformers
    return weight[token].double()  # type: ignore[no-any-return]


def _bias(unembedding: nn.Module, token: int) -> float:
    bias = getattr(unembedding, "bias", None)
    return 0.0 if bias is None else float(bias[token])


def _double(fold: Fold) -> Fold:
    return Fold(fold.scale.double(), fold.shift.double(), fold.centred)


def _wide(logits: torch.Tensor) -> torch.Tensor:
    return logits if logits.dtype == torch.float64 else logits.float()
