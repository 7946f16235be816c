"""A head's matrices, as circuits read them, give what the head computes."""

from __future__ import annotations

import torch

from headscope.core.proof.subject import Claim, Limited, Subject, apart, shares_apart, worst


def _stepwise(subject: Subject) -> float:
    """The pass that circuits read is the plain one: its logits and its patterns."""
    stepwise = subject.stepwise
    patterns = [shares_apart(stepwise.pattern(layer), at) for layer, at in subject.patterns.items()]
    return worst([apart(stepwise.logits, subject.seen.logits), *patterns])


def _values(subject: Subject) -> float:
    """z = A (s x W_V + b_V) is what the head mixes."""
    found = []
    for layer, (matrices, stream) in enumerate(subject.stepwise.layers):
        values = torch.einsum("pd,hde->hpe", stream, matrices.W_V) + matrices.b_V[:, None]
        z = subject.patterns[layer][0].to(values) @ values
        found.append(apart(z, _z(subject, layer).to(values)))
    return _unless_clipped(subject, worst(found))


def _outputs(subject: Subject) -> float:
    """sum over heads of z W_O, and b_O, are what attention writes before any norm."""
    found, raw = [], subject.stepwise.raw
    for layer, plain in enumerate(subject.seen.written):
        matrices = raw.layer(layer)
        z = _z(subject, layer).to(raw.dtype)
        written = torch.einsum("hpe,hed->pd", z, matrices.W_O) + matrices.b_O
        found.append(apart(written, plain[0].to(written)))
    return worst(found)


def _queries(subject: Subject) -> float:
    """s x W_Q + b_Q and s x W_K + b_K are the queries and keys of the step-by-step pass."""
    found, stepwise = [], subject.stepwise
    for layer, (of, stream) in enumerate(stepwise.layers):
        for name, matrix, bias in (("q", of.W_Q, of.b_Q), ("k", of.W_K, of.b_K)):
            made = torch.einsum("pd,hde->phe", stream, matrix) + bias
            plain = stepwise.projected(layer, name)
            found.append(apart(made, plain.repeat_interleave(made.shape[1] // plain.shape[1], 1)))
    return _unless_clipped(subject, worst(found))


def _ends(subject: Subject) -> float:
    """Embedding and positions are the first layer's input; W_U and b_U read logits off the last stream."""
    stepwise, folded = subject.stepwise, subject.stepwise.folded
    start = folded.W_E[subject.tokens[0]]
    if folded.W_pos is not None:
        start = start + folded.W_pos[: len(start)]
    read = subject.model.tail(stepwise.last @ folded.W_U + folded.b_U)
    return worst([apart(start, stepwise.first), apart(read, subject.seen.logits[0].to(read))])


def _z(subject: Subject, layer: int) -> torch.Tensor:
    """What a layer's heads mixed [head, pos, d_head], of the plain pass."""
    return subject.seen.z[layer][0].unflatten(-1, (subject.model.info.n_heads, -1)).transpose(0, 1)


def _unless_clipped(subject: Subject, difference: float) -> float:
    clip = getattr(getattr(subject.model.module, "config", None), "clip_qkv", None)
    if clip is not None and not difference <= subject.tolerance:
        raise Limited(
            f"Queries, keys and values are clipped at ±{clip:g}, which numbers from weights leave out.",
            difference,
        )
    return difference


CLAIMS = (
    Claim("step by step", "the step-by-step pass is the plain one", "circuits", _stepwise),
    Claim("W_V", "patterns times s x W_V are what heads mix", "circuits", _values),
    Claim("W_O", "z times W_O is what attention writes", "circuits", _outputs),
    Claim("W_Q, W_K", "s x W_Q and s x W_K are queries and keys", "circuits", _queries),
    Claim("W_E, W_U", "W_E begins the stream and W_U reads its end", "circuits", _ends),
)
