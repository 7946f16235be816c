"""A gate acts on its head's slice of W_O's input and on nothing else."""

from __future__ import annotations

from contextlib import ExitStack

import torch

from headscope.core.model.hooks import reading_input
from headscope.core.model.packing import pack
from headscope.core.proof.subject import Claim, Subject, apart, worst


def _closes(subject: Subject) -> float:
    """Gate 0 is a zero in the head's slice of W_O's input, nowhere else: row h closes head h everywhere."""
    model, heads, z = subject.model, subject.model.info.n_heads, list[torch.Tensor]()
    rows = subject.tokens.expand(heads, -1)
    closed = torch.eye(heads, dtype=torch.bool, device=model.device)
    expected = subject.plain.run(rows, closed)
    with ExitStack() as contexts:
        gates = (~closed).float()[:, None].expand(-1, model.info.n_layers, -1)
        contexts.enter_context(model.gated(gates))
        for projection in model.parts.projections:
            contexts.enter_context(reading_input(projection, z.append))
        logits = model.logits(rows)
    inputs = [apart(found, plain) for found, plain in zip(z, expected.z, strict=True)]
    return worst([apart(logits, expected.logits), *inputs])


def _opens(subject: Subject) -> float:
    """Gates of 1 leave the logits as they are."""
    model = subject.model
    with model.gated(torch.ones(model.info.n_layers, model.info.n_heads, device=model.device)):
        return apart(model.logits(subject.tokens), subject.logits)


def _targets(subject: Subject) -> float:
    """Packed rows under gates of two owners have the logits at targets that whole padded rows give."""
    model, (long, short) = subject.model, subject.rows
    rows = [(0, long), (0, (*long[: len(short) - 1], short[-1])), (1, short)]
    where = [(row, at) for row, (_, ids) in enumerate(rows) for at in sorted({0, len(ids) - 1})]
    shape = (2, model.info.n_layers, model.info.n_heads)
    gates = torch.linspace(0.2, 1.0, shape[0] * shape[1] * shape[2], device=model.device).view(shape)
    packed = model.target_logits(pack(rows, where).to(model.device), gates)
    padded = torch.tensor([(*ids, *long[: len(long) - len(ids)]) for _, ids in rows], device=model.device)
    with model.gated(gates[[owner for owner, _ in rows]]):
        logits = model.logits(padded)
    return apart(packed, torch.stack([logits[row, at] for row, at in where]))


CLAIMS = (
    Claim("gates", "a closed gate zeroes its head's slice of W_O's input alone", "gating", _closes),
    Claim("open gates", "open gates change nothing", "gating", _opens),
    Claim("targets", "packed rows have the logits of whole ones", "gating", _targets),
)
