"""A run's report: the heads in dispute with who finds each and why, and its notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headscope.analyses.agreement import methods
from headscope.analyses.agreement.backup_heads import summary
from headscope.analyses.agreement.disagreement import sides
from headscope.analyses.agreement.evidence import HeadEvidence
from headscope.analyses.agreement.explain import explanations
from headscope.analyses.agreement.plan import OfHead
from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.base import Arrays, Pieces


def measurements(head: OfHead, pieces: Pieces) -> Arrays:
    """What is known of a head in dispute: the evidence, and its refits in short."""
    fits = [pieces[piece.key] for piece in head.refits]
    fits = [fit for fit in fits if len(fit) > 1]
    return {**pieces[head.explain.key], **(summary(fits) if fits else {})}


def disagreements(
    seen: Mapping[str, methods.Seen],
    measured: Sequence[Arrays],
    arrays: Arrays,
    params: AgreementParams,
) -> list[dict[str, Any]]:
    """The explained heads in their order: who finds and who misses each, and the sentences."""
    rows = []
    for part, strength in zip(measured, arrays["strength"].tolist(), strict=False):
        head = (int(part["head"][0]), int(part["head"][1]))
        found, missed = sides(seen, head)
        why = explanations(HeadEvidence(head, found, missed, seen, part, params.least))
        rows.append(
            {
                "head": f"{head[0]}.{head[1]}",
                "strength": float(f"{strength:.4g}"),
                "found": found,
                "missed": missed,
                "seeds": float(f"{arrays['seeds_needing'][head]:.4g}"),
                "measured": {name: _plain(part[name]) for name in part if name != "head"},
                "why": [
                    {"kind": each.kind, "text": each.text, "accounts_for": list(each.accounts_for)}
                    for each in why
                ],
            }
        )
    return rows


def _plain(values: np.ndarray) -> Any:
    numbers = [
        None if not np.isfinite(value) else float(f"{value:.5g}") for value in np.asarray(values).reshape(-1)
    ]
    return numbers[0] if len(numbers) == 1 else numbers


def notes(
    seen: Mapping[str, methods.Seen], disputed: int, explained: int, params: AgreementParams
) -> list[str]:
    """Methods that find no head, heads left unexplained, too few examples."""
    lines = []
    for name, each in seen.items():
        if not each.found.any():
            title = methods.BY_NAME[name].title
            lines.append(f"{title} finds no head: there is nothing to agree with, and its tests are empty.")
    if explained < disputed:
        lines.append(
            f"{disputed} heads are in dispute; the {explained} on which methods differ most are explained."
        )
    if params.n_examples < 8:
        lines.append(f"Explanations rest on {params.n_examples} examples.")
    return lines
