"""A run's report: the heads in dispute with who finds each and why, and its notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from headscope.analyses.agreement import methods
from headscope.analyses.agreement.backup_heads import summary
from headscope.analyses.agreement.disagreement import sides
from headscope.analyses.agreement.evidence import HeadEvidence
from headscope.analyses.agreement.explain import explanations
from headscope.analyses.agreement.order import Order
from headscope.analyses.agreement.plan import OfHead
from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.agreement.sentence import MEDIATED, sentences
from headscope.analyses.base import Arrays, Pieces
from headscope.analyses.chg.result import ChgResult
from headscope.core.gating.roles import CONDITIONS
from headscope.core.statistics.enough import enough, too_few

_ABLE: Final = 0.5
"""Held-out accuracy from which a model is said to do the task."""


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
    seen: Mapping[str, methods.Seen],
    arrays: Arrays,
    gating: ChgResult,
    explained: int,
    params: AgreementParams,
) -> list[str]:
    """Whether gating agrees, first, and what may be why it doesn't; then what the run lacks."""
    disputed, fits = len(arrays["heads"]), int(arrays["n_seeds"][0])
    orders = {name: Order(*row) for name, row in zip(list(seen)[1:], arrays["order"].tolist(), strict=True)}
    lines = list(sentences(orders))
    if any(each.outcome == "not alike" for name, each in orders.items() if name in MEDIATED):
        lines += _suspects(seen, arrays["seeds_needing"], fits, gating)
    for name, each in seen.items():
        title = methods.BY_NAME[name].title
        if not each.found.any():
            lines.append(f"{title} finds no head: there is nothing to agree with, and its tests are empty.")
        if each.sure is None or not each.sure.any():
            lines.append(f"{title}: {_unsure(name, fits)}, so that no dispute with it is called.")
    if explained < disputed:
        lines.append(
            f"{disputed} of {arrays['gating'].size} heads are in dispute beyond both methods' errors; the "
            f"{explained} on which methods differ most are explained."
        )
    if not enough(params.n_examples):
        lines.append(too_few(params.n_examples, "what explains a dispute"))
    return lines


def _suspects(
    seen: Mapping[str, methods.Seen], needing: np.ndarray, fits: int, gating: ChgResult
) -> Iterator[str]:
    """What this run itself says of why the paper's agreement isn't there."""
    found, heads = int(seen["gating"].found.sum()), needing.size
    yield (
        f"Gating finds {found} of {heads} heads by the highest of {fits} fits, as the paper compares, and "
        f"{int((needing == 1).sum())} in every fit: the highest finds more heads the more fits there are."
    )
    accuracy = float(np.nanmean(gating.heldout_accuracy[CONDITIONS.index("ungated")]))
    if accuracy < _ABLE:
        yield (
            f"The model answers {100 * accuracy:.0f} % of the held-out rows ungated: where it can't do the "
            "task, gates steer it, and what they find needn't be what mediation finds."
        )
    for name in (name for name in MEDIATED if name in seen):
        count = int(seen[name].found.sum())
        if count < 2:
            title = methods.BY_NAME[name].title
            yield f"{title} finds {count} of {heads} heads; the paper's test, Welch's t, needs two."


def _unsure(name: str, fits: int) -> str:
    return (
        f"{fits} fits are too few to be sure of any head" if name == "gating" else "its errors aren't known"
    )
