"""Which roles of heads survive another ablation: gating runs of one task, fitted with other replacements.

A head has a role under an ablation where at least half of that run's seeds give it. It survives where it has
the role under both; were the two unrelated, n m / heads of them would.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from jaxtyping import Float

from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.base import Arrays, Spec
from headscope.analyses.chg.result import ChgResult
from headscope.core.gating.ablation import ABLATIONS, told
from headscope.errors import Invalid

OTHERS: Final = {f"by_{kind}": kind for kind in ABLATIONS if kind != "zero"}
"""Parameters that name a run, and the ablation which that run must have."""

ROLES: Final = {"needed": "facilitation", "harmful": "interference"}
MOST_SEEDS: Final = 0.5


def check(spec: Spec[AgreementParams]) -> None:
    """Raise what ``RunRef.check`` does, and ``Invalid`` (other-ablation, nothing-fitted)."""
    for param, kind in OTHERS.items():
        run = spec.input(param, ChgResult)
        if run is None:
            continue
        spec.needed(param, ChgResult)
        if run.ablation != kind:
            raise Invalid(
                f"{param}: that run was fitted with {told(run.ablation)}.",
                f"Name a run with `ablation={kind}`: `headscope run chg --param ablation={kind}`.",
                code="other-ablation",
            )
        if not run.ran.any():
            raise Invalid("No seed of the run named has a fit.", "Name another run.", code="nothing-fitted")


def arrays(spec: Spec[AgreementParams], gating: ChgResult) -> dict[str, Float[np.ndarray, "layer head"]]:
    """Each role's share of seeds by ablation, the gating run's own first; nothing without other runs."""
    runs = [run for param in OTHERS if (run := spec.input(param, ChgResult)) is not None]
    if not runs:
        return {}
    found = {}
    for run in (gating, *runs):
        for role, score in ROLES.items():
            reached = run.scores[score][run.ran] >= spec.params.threshold
            found[f"{role}_by_{run.ablation}"] = reached.mean(axis=0).astype(np.float32)
    return found


def survival(kept: Arrays, base: str) -> list[dict[str, Any]]:
    """For each role and other ablation: heads that have it under the base, under the other, under both, and
    under both if the two were unrelated.
    """
    rows = []
    for role in ROLES:
        own = kept.get(f"{role}_by_{base}")
        for kind in ABLATIONS:
            other = kept.get(f"{role}_by_{kind}")
            if own is None or other is None or kind == base:
                continue
            here, there = own >= MOST_SEEDS, other >= MOST_SEEDS
            rows.append(
                {
                    "role": role,
                    "ablation": kind,
                    "here": int(here.sum()),
                    "there": int(there.sum()),
                    "both": int((here & there).sum()),
                    "expected": float(f"{here.sum() * there.sum() / here.size:.4g}"),
                }
            )
    return rows


def role_of(shares: Mapping[str, float]) -> str:
    """A head's role in words from its shares of seeds, needed and harmful."""
    names = [role for role in ROLES if shares[role] >= MOST_SEEDS]
    return " and ".join(names) if names else "neither"
