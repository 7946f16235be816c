"""Proof that a model is read right: short rows against the plain model, a check at a time.

1. The plain model is the architecture's own module, built anew over the same weights, without any hook of
   ours (``plain``): with the attention that runs, and with eager attention, which shows patterns.
2. Two rows of unequal length run through both. Each check compares one thing that Headscope reads or changes
   with what the plain model has there, and belongs to a capability (``core.model.capabilities``).
3. A check that can't be computed fails; one that differs for a reason that is told beside the numbers is
   limited. The largest difference is kept, whatever the verdict.
"""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Sequence

import torch

from headscope import __version__
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.capabilities import Check, Proof, Verdict
from headscope.core.proof import attribution, circuits, gating, logits, patterns
from headscope.core.proof.subject import Claim, Limited, Subject
from headscope.errors import HeadscopeError

CLAIMS: Sequence[Claim] = (
    *logits.CLAIMS,
    *patterns.CLAIMS,
    *gating.CLAIMS,
    *circuits.CLAIMS,
    *attribution.CLAIMS,
)
"""In the order in which they are checked and shown."""

TOLERANCES = {torch.float64: 1e-5, torch.float32: 1e-4, torch.float16: 0.03, torch.bfloat16: 0.1}
"""By precision. Norms compute in float32 whatever the dtype, so that float64 is held no closer."""


@torch.no_grad()
def prove(model: BridgedModel) -> Proof:
    """Check everything that Headscope reads of a model; takes a few passes over a dozen tokens."""
    started = time.perf_counter()
    had_bridge = "bridge" in model.__dict__
    subject = Subject.of(model, TOLERANCES[model.dtype])
    checks = tuple(_checked(claim, subject) for claim in CLAIMS)
    if not had_bridge:
        model.__dict__.pop("bridge", None)  # it may hold weights of its own: queries split from keys
    return Proof(
        model.info.name,
        model.info.revision,
        model.info.dtype,
        checks,
        round(time.perf_counter() - started, 3),
        code_version=__version__,
        library=importlib.metadata.version("transformers"),
    )


def _checked(claim: Claim, subject: Subject) -> Check:
    def check(difference: float | None, verdict: Verdict, detail: str = "") -> Check:
        return Check(
            claim.name, claim.title, claim.capability, subject.tolerance, difference, verdict, detail
        )

    try:
        difference = claim.differs(subject)
    except Limited as limit:
        return check(limit.difference, "limited", str(limit))
    except HeadscopeError as error:
        return check(None, "fails", error.message.rstrip("."))
    except Exception as error:  # an architecture that this code wasn't written for may raise anything
        return check(None, "fails", f"it can't be computed ({type(error).__name__}: {_short(error)})")
    if difference != difference or difference == float("inf"):
        return check(None, "fails", "it isn't a number")
    return check(difference, "holds" if difference <= subject.tolerance else "fails")


def _short(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:160] if lines else "no words"
