"""Meaning as one piece of work: evidence gathered from finished runs, names, and role against name.

1. Each run that is named gives tests (``evidence``); a head has the name of every test that it passes
   (``names``).
2. With a gating run, each of its roles is set against each name, and permuted
   (``core.statistics.enrichment``).

Nothing is measured anew; the model isn't run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from headscope.analyses.base import (
    Arrays,
    Estimate,
    Input,
    Progress,
    Result,
)
from headscope.analyses.costing import LOAD_SECONDS, PROGRAM_BYTES
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.analyses.meaning.evidence import Evidence, evidence, gating_of, pack, unpack
from headscope.analyses.meaning.names import conflicts, first_names
from headscope.analyses.meaning.roles import ROLES, SIGNIFICANT, role_sets
from headscope.analyses.meaning.schema import PRESETS, MeaningParams
from headscope.core.model.cost import ELEMENT_BYTES
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.core.statistics.enrichment import crossed
from headscope.tasks.task import Task

_DRAWS_A_SECOND = 2e6  # numbers of heads permuted and counted


class Meaning:
    """Names by evidence, with what contradicts them, and how roles and names go together."""

    name: ClassVar[str] = "meaning"
    title: ClassVar[str] = "Meaning"
    summary: ClassVar[str] = (
        "What each head does, by name, from what was measured; and what the needed heads do."
    )
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = False
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {
        "induction": "run",
        "eigen": "run",
        "rules": "run",
        "functions": "run",
        "gating": "run",
    }
    params: type[MeaningParams] = MeaningParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: MeaningParams) -> Sequence[int]:
        """The one seed of the permutations."""
        return (params.seed,)

    def estimate(
        self,
        params: MeaningParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes; raises what ``evidence`` and ``role_sets`` do."""
        found, heads = evidence(inputs, params), model.n_layers * model.n_heads
        run = gating_of(inputs)
        if run is not None:
            role_sets(run, params.threshold)
        draws = 0 if run is None else params.draws
        return Estimate(
            seconds=LOAD_SECONDS + draws * heads * (1 + len(found.tested)) / _DRAWS_A_SECOND,
            peak_bytes=int(PROGRAM_BYTES + model.n_params * ELEMENT_BYTES[model.dtype]),
            basis=f"{len(found.tested)} tests of {heads} heads, {draws:,} permutations",
        )

    def plan(
        self, params: MeaningParams, model: ModelInfo, inputs: Mapping[str, Input] | None = None
    ) -> Sequence[Piece]:
        """One piece. Raises what ``evidence`` does."""
        evidence(inputs, params)
        return [Piece("names", "Names and roles")]

    def compute(self, piece: Piece, params: MeaningParams, context: Context) -> Arrays:
        """Evidence, and where a gating run is named its roles against the names."""
        found, run = evidence(context.inputs, params), gating_of(context.inputs)
        arrays = pack(found)
        if run is not None:
            arrays |= _cross(found, run, params)
        context.report(Progress(piece.label, "", 1, 1, None, 1.0))
        return arrays

    def assemble(
        self, params: MeaningParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """``scores``, ``errors``, ``passed`` [test, layer, head]; ``first_name`` [layer, head] an index of
        ``FAMILIES`` or a code; with a gating run ``roles`` [role, layer, head] and ``cross_count``,
        ``cross_expected``, ``cross_p``, ``cross_holm`` [role, test]. In ``values``: the tests, the conflicts.
        """
        arrays = dict(pieces["names"])
        found = unpack(arrays)
        arrays.pop("told")
        gated_task = arrays.pop("gated_task", np.zeros(0, np.uint8)).tobytes().decode()
        sets = {
            key: arrays["roles"][i].astype(bool) for i, (key, *_) in enumerate(ROLES) if "roles" in arrays
        }
        arrays["first_name"] = first_names(found)
        arrays["n_names"] = arrays["passed"].sum(axis=0).astype(np.uint8)
        told = conflicts(found, sets, gated_task)
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task=None,
            seeds=tuple(self.seeds(params)),
            other_arrays=arrays,
            other_values={
                "tests": [vars(each.test) for each in found.tested],
                "sources": dict(found.sources),
                "complete": found.complete,
                "gated_task": gated_task or None,
                "conflicts": told,
                "notes": _notes(found, arrays),
            },
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """How many heads have a name, and of those always needed; the surest tie of role and name."""
        arrays = result.arrays
        named = arrays["n_names"] > 0
        numbers: dict[str, Any] = {"heads_named": int(named.sum()), "of_heads": int(named.size)}
        numbers["heads_with_conflicts"] = len({each["head"] for each in result.values["conflicts"]})
        if "roles" in arrays:
            always = arrays["roles"][0].astype(bool)
            numbers |= {"always_needed": int(always.sum()), "of_them_named": int((always & named).sum())}
            surest = _surest(result)
            if surest is not None:
                role, test, p = surest
                numbers |= {"surest_tie": f"{role}: {test}", "its_p": p}
        return numbers


def _cross(found: Evidence, run: Result, params: MeaningParams) -> dict[str, np.ndarray]:
    sets = role_sets(run, params.threshold)
    roles = np.stack([sets[key] for key, *_ in ROLES])
    names = np.stack([each.passed for each in found.tested])
    table = crossed(roles, names, params.draws, params.seed, params.within_layers)
    task = str((run.task or {}).get("name", ""))
    return {
        "roles": roles.astype(np.uint8),
        "cross_count": table.count.astype(np.uint32),
        "cross_expected": table.expected.astype(np.float32),
        "cross_p": table.p.astype(np.float32),
        "cross_holm": table.holm.astype(np.float32),
        "gated_task": np.frombuffer(task.encode(), np.uint8).copy(),
    }


def _surest(result: Result) -> tuple[str, str, float] | None:
    """Role, name and p; None where nothing is significant."""
    p = result.arrays["cross_holm"]
    if not np.isfinite(p).any():
        return None
    role, test = np.unravel_index(int(np.nanargmin(p)), p.shape)
    if p[role, test] >= SIGNIFICANT:
        return None
    return ROLES[role][1], result.values["tests"][test]["name"], float(p[role, test])


_RUNS = {
    "induction": "induction",
    "eigen": "eigenvalues",
    "rules": "abstract rules",
    "functions": "function vectors",
}
"""What runs of evidence are called, by parameter."""


def _notes(found: Evidence, arrays: Mapping[str, np.ndarray]) -> list[str]:
    notes = []
    if not found.complete:
        missing = [words for name, words in _RUNS.items() if name not in found.sources]
        notes.append(
            f"No run of {', '.join(missing)} was given: a head without a name is unknown, "
            "not without a function."
        )
    for each in found.tested:
        close = int(each.close.sum())
        if close:
            heads = "1 head lies" if close == 1 else f"{close} heads lie"
            notes.append(f"{each.test.name}: {heads} within two standard errors of the threshold.")
    if "roles" in arrays:
        always = arrays["roles"][0].astype(bool)
        unnamed = int((always & (arrays["n_names"] == 0)).sum())
        if unnamed:
            notes.append(f"{unnamed} of the {int(always.sum())} heads that are always needed have no name.")
    return notes
