"""The parts that attribution names add up to the logit."""

from __future__ import annotations

from headscope.core.attribution.logit import attribute
from headscope.core.proof.subject import Claim, Subject


def _sums(subject: Subject) -> float:
    found = attribute(subject.model, subject.rows[0])
    parts = [abs(share) for share in found.parts.values()]
    return abs(found.total - found.logit) / max(float(found.heads.abs().max()), *parts)


CLAIMS = (Claim("sum", "the parts add up to the logit", "attribution", _sums),)
