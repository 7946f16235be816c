"""What is read of attention is what the model attends by."""

from __future__ import annotations

from contextlib import ExitStack

import torch

from headscope.core.model.hooks import reading_input, reading_output
from headscope.core.proof.subject import Claim, Limited, Subject, apart, shares_apart, worst


def _equal(subject: Subject) -> float:
    """What is read is what the plain model's eager attention returns."""
    if not subject.eager_differs <= subject.tolerance:
        raise Limited(
            "The architecture's eager attention is another one than what it runs: the patterns read are held "
            "to attention's output instead.",
            subject.eager_differs,
        )
    found, _ = subject.read
    missing = torch.empty(0)
    return worst([shares_apart(found.get(layer, missing), at) for layer, at in subject.patterns.items()])


def _shares(subject: Subject) -> float:
    """No weight is negative, no row sums to more than 1; a sink takes what is missing."""
    rows = [pattern.double() for pattern in subject.read[0].values()]
    below = [float((-pattern).clamp(min=0).max()) for pattern in rows]
    above = [float((pattern.sum(-1) - 1).clamp(min=0).max()) for pattern in rows]
    return worst(below + above)


def _harmless(subject: Subject) -> float:
    """The pass in which patterns are read is the plain one."""
    return apart(subject.read[1], subject.seen.logits)


def _mixed(subject: Subject) -> float:
    """Values mixed anew by what is read, through W_O, are what each layer's attention gives."""
    model, written, given = subject.model, list[torch.Tensor](), list[torch.Tensor]()
    with ExitStack() as hooks:
        hooks.enter_context(model.frozen(subject.read[0]))
        for projection, attention in zip(model.parts.projections, model.parts.attentions, strict=True):
            hooks.enter_context(reading_output(projection, written.append))
            hooks.enter_context(reading_output(attention, given.append))
        model.logits(subject.tokens)
    pairs = list(zip(written, subject.shown.written, strict=True))
    if given:  # on the bridge attention is another module, whose W_O is the same
        pairs += zip(given, subject.shown.attention, strict=True)
    return worst([apart(found, expected) for found, expected in pairs])


def _same_heads(subject: Subject) -> float:
    """A head that attends to nothing is a head whose slice of W_O's input is zero."""
    model, heads, z = subject.model, subject.model.info.n_heads, list[torch.Tensor]()
    others = 1 - torch.eye(heads, device=model.device)  # row h: all heads but h
    pattern = subject.read[0][0]
    blind = {0: pattern * others[:, :, None, None].to(pattern)}
    with model.frozen(blind), reading_input(model.parts.projections[0], z.append):
        model.logits(subject.tokens.expand(heads, -1))
    seen = subject.shown.z[0].unflatten(-1, (heads, -1))
    return apart(z[0].unflatten(-1, (heads, -1)), seen * others[:, None, :, None].to(seen))


CLAIMS = (
    Claim("patterns", "patterns equal the plain model's", "patterns", _equal),
    Claim("shares", "pattern rows are shares", "patterns", _shares),
    Claim("reading", "reading patterns changes no logit", "patterns", _harmless),
    Claim("mixing", "patterns times values through W_O are attention's output", "patterns", _mixed),
    Claim("heads", "a pattern's head is W_O's head", "patterns", _same_heads),
)
