"""What every number stands on: the model predicts what the plain one does, from what came before alone."""

from __future__ import annotations

import torch

from headscope.core.proof.subject import Claim, Subject, apart


def _equal(subject: Subject) -> float:
    return apart(subject.logits, subject.seen.logits)


def _causal(subject: Subject) -> float:
    """Other tokens at the end leave the logits before them as they were."""
    row = subject.tokens[0]
    kept = (len(row) + 1) // 2
    other = torch.cat([row[:kept], row[: len(row) - kept]])
    return apart(subject.model.logits(other[None])[:, :kept], subject.logits[:, :kept])


def _padding(subject: Subject) -> float:
    """Beside a longer row a shorter one has the logits that it has alone."""
    long, short = subject.rows
    padded = torch.tensor([long, (*short, *long[: len(long) - len(short)])], device=subject.model.device)
    alone = subject.plain.run(padded[1:, : len(short)]).logits
    return apart(subject.model.logits(padded)[1:, : len(short)], alone)


CLAIMS = (
    Claim("logits", "logits equal the plain model's", "logits", _equal),
    Claim("causal", "later tokens change nothing before them", "logits", _causal),
    Claim("padding", "a shorter row beside a longer one is what it is alone", "logits", _padding),
)
