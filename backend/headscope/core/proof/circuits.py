"""A head's matrices, as circuits read them, give what the head computes."""

from __future__ import annotations

import torch
from torch import nn

from headscope.core.circuits.weight_limits import clip_limit, clipped_at, norms_queries
from headscope.core.proof.subject import Claim, Limited, Subject, apart, worst

READ = 256
"""Tokens whose logits are read off the last stream."""

_SEEN = 1e-6
"""Shares below are rounded too coarsely for their logarithm."""


def _values(subject: Subject) -> float:
    """z = A (s x W_V + b_V) is what the head mixes."""
    found = []
    for layer in range(subject.model.info.n_layers):
        matrices, stream = subject.read_weights.layer(layer)
        values = torch.einsum("pd,hde->hpe", stream, matrices.W_V) + matrices.b_V[:, None]
        z = subject.patterns[layer][0].to(values) @ values
        found.append(apart(z, _z(subject, layer).to(values)))
    return _unless_clipped(subject, worst(found))


def _outputs(subject: Subject) -> float:
    """sum over heads of z W_O, and b_O, are what attention writes before any norm."""
    found, raw = [], subject.read_weights.raw
    for layer, plain in enumerate(subject.shown.written):
        matrices = raw.layer(layer)
        z = _z(subject, layer).to(raw.dtype)
        written = torch.einsum("hpe,hed->pd", z, matrices.W_O) + matrices.b_O
        found.append(apart(written, plain[0].to(written) * subject.model.parts.factor))
    return worst(found)


def _queries(subject: Subject) -> float:
    """x W_Q + b_Q and x W_K + b_K give the scores that rank keys; before a norm of their own, the queries and
    keys.
    """
    weights, normed = subject.read_weights, subject.model.parts.attentions
    seen = subject.still if subject.rotary else subject.shown
    found = []
    for layer, entered in enumerate(seen.entered):
        of, stream = weights.raw.layer(layer), entered[0].to(weights.raw.dtype)
        query = torch.einsum("pd,hde->hpe", stream, of.W_Q) + of.b_Q[:, None]
        key = torch.einsum("pd,hde->hpe", stream, of.W_K) + of.b_K[:, None]
        if norms_queries(normed[layer]):
            found += [_projected_apart(normed[layer], *pair, entered) for pair in (("q", query), ("k", key))]
        else:
            pattern = seen.patterns[layer] if subject.rotary else subject.patterns[layer]
            scores = _capped(subject, query @ key.mT / weights.raw.score_scale(layer))
            order = 2 if weights.raw.bridge.cfg.positional_embedding_type == "alibi" else 1
            found.append(_neighbours_apart(pattern[0].double(), scores.double(), order))
    return _unless_clipped(subject, worst(found))


def _projected_apart(attention: nn.Module, name: str, made: torch.Tensor, entered: torch.Tensor) -> float:
    """How far [head, pos, d_head] is from what a layer's own projection makes of the stream."""
    projection = getattr(attention, f"{name}_proj", None)
    if projection is None:
        raise Limited("Queries and keys pass a norm of their own, which QK numbers leave out.")
    own = projection.forward(entered)[0].unflatten(-1, (-1, made.shape[-1])).transpose(0, 1)
    return apart(made, own.repeat_interleave(len(made) // len(own), 0).to(made))


def _capped(subject: Subject, scores: torch.Tensor) -> torch.Tensor:
    cap = subject.read_weights.raw.bridge.cfg.attn_scores_soft_cap or -1
    return cap * torch.tanh(scores / cap) if cap > 0 else scores


def _neighbours_apart(pattern: torch.Tensor, scores: torch.Tensor, order: int) -> float:
    """How far differences of log shares from key to key are from those of scores, but for one factor (as of
    YaRN). ``order`` 2 takes the differences of those: a bias by distance is a straight line.
    """
    seen = (pattern > _SEEN).double()
    for _ in range(order):
        seen = seen[..., 1:] * seen[..., :-1]
    said, read = (table.diff(n=order) for table in (pattern.clamp(min=_SEEN).log(), scores))
    said, read = said[seen > 0], read[seen > 0]
    if not said.numel():
        raise ValueError("no two keys have shares to compare")
    return apart(read * (said @ read) / (read @ read), said)


def _ends(subject: Subject) -> float:
    """Embedding and positions are the first layer's input; W_U and b_U read logits off the last stream."""
    weights, folded = subject.read_weights, subject.read_weights.folded
    start = folded.embedded(subject.tokens[0])
    if folded.W_pos is not None:
        start = start + folded.W_pos[: len(start)]
    # Of a large vocabulary some: a whole W_U in float32 may not fit beside a model in half precision.
    tokens = torch.linspace(0, subject.model.info.d_vocab - 1, READ, device=subject.model.device).long()
    read = subject.model.tail(weights.last @ folded.readers(tokens) + folded.reader_biases(tokens))
    logits = subject.shown.logits[0, :, tokens]
    return worst([apart(start, weights.first), apart(read, logits.to(read))])


def _z(subject: Subject, layer: int) -> torch.Tensor:
    """What a layer's heads mixed [head, pos, d_head], of the plain pass."""
    z = subject.shown.z[layer][0]
    return z.view(len(z), subject.model.info.n_heads, -1).transpose(0, 1)


def _unless_clipped(subject: Subject, difference: float) -> float:
    clip = clipped_at(getattr(subject.model.module, "config", None))
    if clip is not None and not difference <= subject.tolerance:
        raise Limited(clip_limit(clip), difference)
    return difference


CLAIMS = (
    Claim("W_V", "patterns times s x W_V are what heads mix", "circuits", _values),
    Claim("W_O", "z times W_O is what attention writes", "circuits", _outputs),
    Claim("W_Q, W_K", "x W_Q times x W_K are the scores that rank keys", "circuits", _queries),
    Claim("W_E, W_U", "W_E begins the stream and W_U reads its end", "circuits", _ends),
)
