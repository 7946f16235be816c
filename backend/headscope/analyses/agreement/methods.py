"""What each method says of every head: an effect, and whether it finds the head.

1. Gating: facilitation, mean over seeds; it finds a head whose facilitation reaches the threshold in at least
   one seed (the highest over seeds, as the paper compares it).
2. Mediation, abstract rules and the probe say themselves which heads are significant.
3. Every other measure finds a head whose effect is at least ``least`` (nats, or logits) and three standard
   errors above nothing. Not a share of the largest: a single head without which a model breaks would hide the
   others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from jaxtyping import Bool, Float

from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.base import Input, Result
from headscope.analyses.orders import fitted, gating_run
from headscope.errors import Invalid
from headscope.tasks.task import Task

ERRORS: Final = 3.0
"""Standard errors above nothing."""


@dataclass(frozen=True)
class Method:
    """A measure: its name in code, its title, its unit, which parameter names its run."""

    name: str
    title: str
    unit: str
    param: str
    causal: bool = True


METHODS: Final = (
    Method("gating", "Gating", "", "gating"),
    Method("left_out", "Left out", "nats", "relatives"),
    Method("path", "Along the path", "nats", "relatives"),
    Method("slope", "Slope", "nats", "relatives"),
    Method("importance", "Importance", "nats", "relatives"),
    Method("direct", "Direct", "logits", "relatives"),
    Method("mediation", "Mediation", "", "mediation"),
    Method("abstraction", "Symbol abstraction", "logits", "rules"),
    Method("induction", "Symbolic induction", "logits", "rules"),
    Method("retrieval", "Retrieval", "logits", "rules"),
    Method("probe", "Probe", "", "probe", causal=False),
)
"""In the order of every table. The probe says what a head's output holds, not whether it is used."""

RULE_TASKS: Final = ("rule-aba", "rule-abb")
_RULE_HEADS: Final = ("abstraction", "induction", "retrieval")

BY_NAME: Final = {method.name: method for method in METHODS}

WANTED: Final[Mapping[str, str]] = {
    "relatives": "relatives",
    "mediation": "mediation-function-vectors",
    "rules": "mediation-abstract-rules",
    "probe": "probe",
}
"""Which analysis a parameter's run must be of."""


@dataclass(frozen=True, eq=False)
class Seen:
    """What one method says: ``effect`` (NaN where it says nothing), ``found``, and the standard ``error`` of
    the effect where finding rests on it.
    """

    effect: Float[np.ndarray, "layer head"]
    found: Bool[np.ndarray, "layer head"]
    error: Float[np.ndarray, "layer head"] | None = None


def compared(
    inputs: Mapping[str, Input] | None, params: AgreementParams, task: Task | None
) -> dict[str, Seen]:
    """Every method there is a run for, gating first.

    Raises ``Invalid``: what ``gating_run`` does; nothing-to-compare without another run; other-analysis,
    other-task where a run is of another one, with what differs.
    """
    gating = gating_run(inputs, "gating", task, "Agreement")
    others = {name: _run(inputs, name, gating) for name in WANTED if (inputs or {}).get(name) is not None}
    if not others:
        raise Invalid(
            "There is nothing to compare the gating run with.",
            "Name a run of effects, function vectors, abstract rules or a probe too. Effects are quickest: "
            "`headscope run relatives`.",
            code="nothing-to-compare",
        )
    seen = {"gating": of_gating(gating, params.threshold)}
    for name, run in others.items():
        seen |= _READERS[name](run, params)
    return {method.name: seen[method.name] for method in METHODS if method.name in seen}


def of_gating(run: Result, threshold: float) -> Seen:
    """Facilitation: mean over seeds, found by the highest."""
    score = run.arrays["g_minus"][fitted(run)].astype(np.float64)
    return Seen(score.mean(axis=0), score.max(axis=0) >= threshold)


def by_size(
    effect: Float[np.ndarray, "layer head"], error: Float[np.ndarray, "layer head"], least: float
) -> Bool[np.ndarray, "layer head"]:
    """Rule 3; nowhere where there is no effect."""
    with np.errstate(invalid="ignore"):
        return np.asarray((effect >= least) & (effect >= ERRORS * np.nan_to_num(error)))


def _run(inputs: Mapping[str, Input] | None, name: str, gating: Result) -> Result:
    run = (inputs or {})[name]
    if not isinstance(run, Result) or run.analysis != WANTED[name]:
        kind = run.analysis if isinstance(run, Result) else "no run"
        raise Invalid(
            f"{name}: the run named is of the analysis {kind!r}.",
            f"Name a run of {WANTED[name]}.",
            code="other-analysis",
        )
    mine, theirs = (dict(each.task or {}) for each in (gating, run))
    if name == "rules":
        _check_rules(mine)
    elif mine.get("content_hash") != theirs.get("content_hash"):
        raise Invalid(
            f"{name}: that run is of the task {theirs.get('name')!r}, the gating run of {mine.get('name')!r}"
            + (" with other content." if mine.get("name") == theirs.get("name") else "."),
            "Compare runs of the same model and task.",
            code="other-task",
        )
    return run


def _check_rules(mine: Mapping[str, Any]) -> None:
    """Mediation of abstract rules draws contexts of its own: it speaks of the two tasks of these rules."""
    if mine.get("name") not in RULE_TASKS:
        raise Invalid(
            f"rules: that run is of abstract rules, the gating run of {mine.get('name')!r}.",
            f"Compare it with gating of {' or '.join(RULE_TASKS)}.",
            code="other-task",
        )


def _relatives(run: Result, params: AgreementParams) -> dict[str, Seen]:
    found = {}
    for name in ("left_out", "path", "slope", "importance", "direct"):
        effect, error = (run.arrays[key].astype(np.float64) for key in (name, f"{name}_se"))
        if np.isfinite(effect).any():
            found[name] = Seen(effect, by_size(effect, error, params.least), error)
    return found


def _significant(run: Result, effect: str, found: str) -> Seen:
    return Seen(run.arrays[effect].astype(np.float64), run.arrays[found].astype(bool))


def _mediation(run: Result, params: AgreementParams) -> dict[str, Seen]:
    """On the run's own task, which is its first."""
    effect, sure = (run.arrays[name][0] for name in ("effect", "significant"))
    return {"mediation": Seen(effect.astype(np.float64), sure > 0)}


def _rules(run: Result, params: AgreementParams) -> dict[str, Seen]:
    return {name: _significant(run, name, f"{name}_significant") for name in _RULE_HEADS}


def _probe(run: Result, params: AgreementParams) -> dict[str, Seen]:
    return {"probe": _significant(run, "selectivity", "significant")}


_READERS: Final[Mapping[str, Callable[[Result, AgreementParams], dict[str, Seen]]]] = {
    "relatives": _relatives,
    "mediation": _mediation,
    "rules": _rules,
    "probe": _probe,
}


def arrays_of(seen: Mapping[str, Seen]) -> dict[str, Any]:
    """As a result keeps them: ``{method}``, ``{method}_found``, ``{method}_error`` where there is one."""
    kept: dict[str, Any] = {}
    for name, each in seen.items():
        kept[name] = each.effect.astype(np.float32)
        kept[f"{name}_found"] = each.found.astype(np.uint8)
        if each.error is not None:
            kept[f"{name}_error"] = each.error.astype(np.float32)
    return kept


def of_arrays(arrays: Mapping[str, Any]) -> dict[str, Seen]:
    """The inverse of ``arrays_of``."""
    seen = {}
    for name in (method.name for method in METHODS if method.name in arrays):
        error = arrays.get(f"{name}_error")
        seen[name] = Seen(
            arrays[name].astype(np.float64),
            arrays[f"{name}_found"].astype(bool),
            None if error is None else error.astype(np.float64),
        )
    return seen
