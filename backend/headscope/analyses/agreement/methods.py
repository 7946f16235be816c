"""What each method says of every head: an effect, and whether it finds the head.

1. Gating: facilitation, mean over seeds; it finds a head whose facilitation reaches the threshold in at least
   one seed (the highest over seeds, as the paper compares it).
2. Mediation, abstract rules and the probe say themselves which heads are significant.
3. Every other measure finds a head whose effect is at least ``least`` (nats, or logits) and three standard
   errors above nothing. Not a share of the largest: a single head without which a model breaks would hide the
   others.

What each says beyond its own error, on which disputes rest, is in ``verdicts``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import NDArray

from headscope.analyses.agreement import verdicts
from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.agreement.verdicts import ERRORS, Verdict
from headscope.analyses.base import Arrays, Result, Spec
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.columns import quietly
from headscope.analyses.gating_run import check_roles, gating_run
from headscope.analyses.mediation_abstract_rules.result import AbstractRulesResult
from headscope.analyses.mediation_abstract_rules.schema import KINDS
from headscope.analyses.mediation_function_vectors.result import FunctionVectorsResult
from headscope.analyses.probe.result import ProbeResult
from headscope.analyses.relatives.result import MEASURES, RelativesResult
from headscope.errors import Invalid


@dataclass(frozen=True)
class Method:
    """A measure: its name in code, its title, its unit."""

    name: str
    title: str
    unit: str = ""


METHODS: Final = (
    Method("gating", "Gating"),
    *(Method(measure.name, measure.title, measure.unit) for measure in MEASURES),
    Method("mediation", "Causal mediation"),
    *(Method(kind.name, kind.words.capitalize(), "logits") for kind in KINDS),
    Method("probe", "Probe"),
)
"""In the order of every table. The probe says what a head's output holds, not whether it is used."""

RULE_KINDS: Final = tuple(kind.name for kind in KINDS)

RULE_TASKS: Final = ("rule-aba", "rule-abb")

BY_NAME: Final = {method.name: method for method in METHODS}

NAMES: Final = tuple(BY_NAME)


@dataclass(frozen=True, eq=False)
class Seen:
    """What one method says: ``effect`` (NaN where it says nothing), ``found``, the effect's standard
    ``error`` (over fits, or prompts) and what is ``sure`` beyond it. None where an earlier result
    didn't keep it.
    """

    effect: Float[np.ndarray, "layer head"]
    found: Bool[np.ndarray, "layer head"]
    error: Float[np.ndarray, "layer head"] | None = None
    sure: Verdict | None = None


def compared(spec: Spec[AgreementParams]) -> dict[str, Seen]:
    """Every method there is a run for, gating first.

    Raises ``Refused``: what ``check_roles`` does. ``Invalid``: what ``gating_run`` and ``RunRef.check`` do;
    nothing-to-compare without another run; other-task where abstract rules are compared with gating of
    another task than theirs.
    """
    gating, params = gating_run(spec, "gating"), spec.params
    check_roles(gating)
    given = [name for name in _READERS if name in spec.inputs]
    if not given:
        raise Invalid(
            "There is nothing to compare the gating run with.",
            "Name a run of effects, function vectors, abstract rules or a probe too. Effects are quickest: "
            "`headscope run relatives`.",
            code="nothing-to-compare",
        )
    if "rules" in given:
        _check_rules(gating)
    score = gating.g_minus[gating.ran].astype(np.float64)
    seen = {"gating": by_gating(score, params.threshold)}
    for name in given:
        seen |= _READERS[name](spec.needed(name, Result), params)
    return {name: seen[name] for name in NAMES if name in seen}


def by_gating(facilitation: Float[np.ndarray, "seed layer head"], threshold: float) -> Seen:
    """Rule 1, with the error over fits; that is NaN of a single one."""
    fits = len(facilitation)
    spread = quietly(np.std, facilitation, axis=0, ddof=1) / np.sqrt(fits)
    needing = (facilitation >= threshold).sum(axis=0)
    return Seen(facilitation.mean(axis=0), needing > 0, spread, verdicts.by_fits(needing, fits))


def by_size(
    effect: Float[np.ndarray, "layer head"], error: Float[np.ndarray, "layer head"], least: float
) -> Bool[np.ndarray, "layer head"]:
    """Rule 3; nowhere where there is no effect."""
    with np.errstate(invalid="ignore"):
        return np.asarray((effect >= least) & (effect >= ERRORS * np.nan_to_num(error)))


def _check_rules(gating: ChgResult) -> None:
    """Mediation of abstract rules draws contexts of its own: it speaks of the two tasks of these rules."""
    mine = (gating.task or {}).get("name")
    if mine not in RULE_TASKS:
        raise Invalid(
            f"rules: that run is of abstract rules, the gating run of {mine!r}.",
            f"Compare it with gating of {' or '.join(RULE_TASKS)}.",
            code="other-task",
        )


def _relatives(run: RelativesResult, params: AgreementParams) -> dict[str, Seen]:
    found = {}
    for measure in MEASURES:
        effect, error = (each.astype(np.float64) for each in (run.known(measure), run.errors[measure.name]))
        if np.isfinite(effect).any():
            sure = verdicts.by_error(effect, error, params.least)
            found[measure.name] = Seen(effect, by_size(effect, error, params.least), error, sure)
    return found


def _mediation(run: FunctionVectorsResult, params: AgreementParams) -> dict[str, Seen]:
    """On the run's own task, which is its first."""
    return {"mediation": _tested(run.effect[0], run.error[0], run.significant[0], run.limits[0])}


def _rules(run: AbstractRulesResult, params: AgreementParams) -> dict[str, Seen]:
    return {
        name: _tested(run.score[name], run.error[name], run.significant[name], params.least)
        for name in RULE_KINDS
    }


def _tested(effect: NDArray[Any], error: NDArray[Any], significant: NDArray[np.uint8], least: float) -> Seen:
    effect, error, found = effect.astype(np.float64), error.astype(np.float64), significant > 0
    return Seen(effect, found, error, verdicts.by_own_test(found, effect, error, least))


def _probe(run: ProbeResult, params: AgreementParams) -> dict[str, Seen]:
    """Its result keeps no error of selectivity: it takes part in no dispute."""
    effect = run.selectivity.astype(np.float64)
    return {"probe": Seen(effect, run.significant > 0, None, verdicts.unknown(effect.shape))}


_READERS: Final[Mapping[str, Callable[[Any, AgreementParams], dict[str, Seen]]]] = {
    "relatives": _relatives,
    "mediation": _mediation,
    "rules": _rules,
    "probe": _probe,
}


def arrays_of(seen: Mapping[str, Seen]) -> Arrays:
    """As a result keeps them: ``{method}``, ``{method}_found``, and ``_error`` and ``_sure`` where known."""
    kept: dict[str, NDArray[Any]] = {}
    for name, each in seen.items():
        kept[name] = each.effect.astype(np.float32)
        kept[f"{name}_found"] = each.found.astype(np.uint8)
        if each.error is not None:
            kept[f"{name}_error"] = each.error.astype(np.float32)
        if each.sure is not None:
            kept[f"{name}_sure"] = each.sure
    return kept


def of_arrays(arrays: Arrays) -> dict[str, Seen]:
    """The inverse of ``arrays_of``."""
    seen = {}
    for name in (name for name in NAMES if name in arrays):
        error = arrays.get(f"{name}_error")
        seen[name] = Seen(
            arrays[name].astype(np.float64),
            arrays[f"{name}_found"].astype(bool),
            None if error is None else error.astype(np.float64),
            arrays.get(f"{name}_sure"),
        )
    return seen
