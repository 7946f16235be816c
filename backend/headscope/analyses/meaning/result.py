"""What meaning finds: the tests of every head, the names they give, and how these go with roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Shaped, UInt8, UInt32

from headscope.analyses.base import Quantity, Result
from headscope.analyses.meaning.evidence import Evidence
from headscope.analyses.meaning.roles import ROLES, SIGNIFICANT
from headscope.analyses.result import added

Cells = Float[np.ndarray, "role test"]


@dataclass(frozen=True, eq=False)
class Cross:
    """Roles against names: heads by role, heads in both, what chance gives, p, p corrected for all cells, and
    the smallest p that the sizes allow (None in results of version 1, which corrected after Holm).
    """

    roles: UInt8[np.ndarray, "role layer head"]
    count: UInt32[np.ndarray, "role test"]
    expected: Cells
    p: Cells
    corrected: Cells
    least: Cells | None = None

    @property
    def sizes(self) -> Shaped[np.ndarray, " role"]:
        """How many heads have each role."""
        return np.asarray(self.roles.astype(int).sum(axis=(1, 2)))


@dataclass(frozen=True, kw_only=True, eq=False)
class MeaningResult(Result):
    """Scores, standard errors, corrected p (``q``) and who passed, by test; ``tests`` says what each is,
    ``sources`` of what runs. ``resting`` is a head's mean attention to the first token of random text.
    Version 1 had neither: there *sink* was a name, and a threshold alone gave one.

    ``first_name`` is an index of ``names.FAMILIES`` or a code. Roles, and what is set against them, are there
    with a gating run, which is of ``gated_task``. ``gated_steering`` says how the model
    does where that run is a steering map, which has no roles.
    """

    NAME: ClassVar[str] = "meaning"
    VERSION: ClassVar[int] = 2

    scores: Float[np.ndarray, "test layer head"]
    errors: Float[np.ndarray, "test layer head"]
    passed: UInt8[np.ndarray, "test layer head"]
    first_name: UInt8[np.ndarray, "layer head"]
    n_names: UInt8[np.ndarray, "layer head"]
    q: Float[np.ndarray, "test layer head"] | None = None
    resting: Float[np.ndarray, "layer head"] | None = None
    roles: UInt8[np.ndarray, "role layer head"] | None = None
    cross_count: UInt32[np.ndarray, "role test"] | None = None
    cross_expected: Cells | None = None
    cross_p: Cells | None = None
    cross_holm: Cells | None = None
    cross_corrected: Cells | None = None
    cross_least: Cells | None = None
    tests: Sequence[Mapping[str, Any]]
    sources: Mapping[str, str]
    complete: bool
    gated_task: str | None
    gated_steering: str | None = added()
    conflicts: Sequence[Mapping[str, str]]
    notes: Sequence[str]

    @property
    def evidence(self) -> Evidence:
        """The tests with their outcomes."""
        return Evidence.of(self.tests, self.sources, self.scores, self.errors, self.passed, self.q)

    @property
    def cross(self) -> Cross | None:
        """Roles against names; None without a gating run."""
        if self.roles is None or self.cross_count is None or self.cross_expected is None:
            return None
        corrected = self.cross_holm if self.cross_corrected is None else self.cross_corrected
        if self.cross_p is None or corrected is None:
            return None
        return Cross(
            self.roles, self.cross_count, self.cross_expected, self.cross_p, corrected, self.cross_least
        )


QUANTITIES: Mapping[str, Quantity] = {
    "heads_named": Quantity("Heads with a name", "count"),
    "of_heads": Quantity("Of heads", "count"),
    "heads_without_a_name": Quantity("Without a name", "count"),
    "heads_resting": Quantity("Rest on the first token", "count"),
    "heads_with_conflicts": Quantity("Heads with conflicting evidence", "count"),
    "always_needed": Quantity("Always needed", "count"),
    "of_them_named": Quantity("Of them with a name", "count"),
    "surest_tie": Quantity("Surest tie of role and name"),
    "its_p": Quantity("Its corrected p"),
}


def headline(result: MeaningResult, threshold: float = 0.5) -> dict[str, Any]:
    """How many heads have a name and how many don't, and of those always needed; the surest tie of role and
    name.
    """
    named, cross = result.n_names > 0, result.cross
    numbers: dict[str, Any] = {
        "heads_named": int(named.sum()),
        "of_heads": int(named.size),
        "heads_with_conflicts": len({each["head"] for each in result.conflicts}),
    }
    if result.resting is not None:
        numbers["heads_without_a_name"] = int((~named).sum())
        if np.isfinite(result.resting).any():
            numbers["heads_resting"] = int((result.resting >= float(result.params["sink"])).sum())
    if cross is None:
        return numbers
    always = cross.roles[0].astype(bool)
    numbers |= {"always_needed": int(always.sum()), "of_them_named": int((always & named).sum())}
    sure = cross.corrected < SIGNIFICANT
    if sure.any():
        role, test = divmod(int(np.nanargmin(cross.corrected)), cross.corrected.shape[1])
        tie = f"{ROLES[role][1]}: {result.tests[test]['name']}"
        numbers |= {"surest_tie": tie, "its_p": float(cross.corrected[role, test])}
    return numbers
