"""Do roles that are said to replicate come out again? Two sets of fits of disjoint seeds judge each other.

1. Of the heads that one set calls ``replicates``, the share that has the role in at least ``AGAIN`` of the
   other set's fits; both ways round, pooled.
2. By the number of fits that gave a head the role in one set: the rate that its posterior predicts, and the
   share of the other set's fits that gave it.
3. The split-half correlation of each set, stepped up to all its fits, and the correlation of the two sets'
   shares, which it foretells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from jaxtyping import Bool

from headscope.analyses.chg.result import ChgResult
from headscope.core.statistics.replication import replication, split_half

AGAIN: Final = 0.8
"""Of the other set's fits: a head has its role again."""

TARGET: Final = 0.9
"""Of the heads called ``replicates``: so many are to have it again."""

Held = Bool[np.ndarray, "seed layer head"]


@dataclass(frozen=True)
class Row:
    """Heads with the role in ``count`` of a set's fits, of both sets: how many, rate predicted and seen."""

    count: int
    heads: int
    predicted: float
    seen: float


@dataclass(frozen=True)
class RoleAgain:
    """One role: heads called ``replicates`` (both sets together), those that have it again, predicted against
    seen by count, and correlations: each set's split-half, and across the sets (None where there is none).
    """

    called: int
    again: int
    rows: tuple[Row, ...]
    halves: tuple[float | None, float | None]
    across: float | None

    @property
    def kept(self) -> float | None:
        """The share of the heads called so that have the role again; None where none is called so."""
        return self.again / self.called if self.called else None

    @property
    def passed(self) -> bool:
        """Whether the target is met, or nothing was claimed."""
        return self.kept is None or self.kept >= TARGET

    @property
    def error(self) -> float:
        """Mean difference of predicted and seen rate over heads, without sign."""
        heads = np.array([row.heads for row in self.rows])
        return float(heads @ [abs(row.predicted - row.seen) for row in self.rows] / heads.sum())


def compared(first: ChgResult, second: ChgResult, threshold: float = 0.5) -> dict[str, RoleAgain]:
    """By role (needed, harmful, irrelevant), in two runs of one model with equally many finished fits."""
    one, other = first.held(threshold), second.held(threshold)
    return {role: again(one[role], other[role]) for role in one}


def again(first: Held, second: Held) -> RoleAgain:
    """One role in two sets of equally many fits."""
    fits = len(first)
    counts = [has.sum(axis=0) for has in (first, second)]
    found = [replication(count, fits) for count in counts]
    shares = [one.share for one in found]
    called = [one.replicates for one in found]
    kept = sum(
        int((is_so & (share >= AGAIN)).sum()) for is_so, share in zip(called, shares[::-1], strict=True)
    )
    there = np.concatenate([count.reshape(-1) for count in counts])
    predicted = np.concatenate([one.rate.reshape(-1) for one in found])
    seen = np.concatenate([share.reshape(-1) for share in shares[::-1]])
    return RoleAgain(
        called=int(sum(is_so.sum() for is_so in called)),
        again=kept,
        rows=tuple(
            Row(
                k,
                int((there == k).sum()),
                float(predicted[there == k].mean()),
                float(seen[there == k].mean()),
            )
            for k in np.unique(there).tolist()
        ),
        halves=(split_half(first), split_half(second)),
        across=_correlation(*(share.reshape(-1) for share in shares)),
    )


def to_json(found: Mapping[str, RoleAgain]) -> dict[str, Any]:
    """Plain JSON."""
    return {role: {**asdict(one), "kept": one.kept, "passed": one.passed} for role, one in found.items()}


def table(found: Mapping[str, RoleAgain], title: str) -> Iterator[str]:
    """Markdown, ready for a page: a line a role, then predicted against seen by count."""
    yield f"| {title} | replicates (both sets) | of them again | split-half | across | mean error |"
    yield "|---|---|---|---|---|---|"
    for role, one in found.items():
        halves = " / ".join(map(_number, one.halves))
        told = (one.called, _number(one.kept), halves, _number(one.across), f"{one.error:.2f}")
        yield f"| {role} | {' | '.join(map(str, told))} |"
    counts = sorted({row.count for one in found.values() for row in one.rows})
    yield ""
    yield f"| fits with the role | {' | '.join(map(str, counts))} |"
    yield "|---|" + "---|" * len(counts)
    for role, one in found.items():
        by_count = {row.count: f"{row.predicted:.2f} / {row.seen:.2f} ({row.heads})" for row in one.rows}
        yield f"| {role}: predicted / seen (heads) | {' | '.join(by_count.get(k, '–') for k in counts)} |"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _correlation(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float | None:
    return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) and np.ptp(b) else None
