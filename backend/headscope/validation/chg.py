"""Causal head gating against planted truth: build, check the premises, fit as any run does, compare.

1. Each case's model is built and its premises checked by closing heads (``premises``).
2. The analysis `chg` is computed on it, piece by piece, with the settings asked for.
3. Roles found over all seeds are compared with those planted (``score``). A model whose premises don't hold
   has no roles to compare with: it is shown, not fitted, and counts in no score.

Targets: precision and recall 1 on needed, harmful and useless; both of the redundant pair needed in some
seeds and not in all, in at least 90 % of models.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Protocol

import numpy as np
import torch
from jaxtyping import Float

from headscope.analyses.base import Progress, Spec
from headscope.analyses.chg import CHG
from headscope.analyses.chg.schema import PAPER, ChgParams
from headscope.analyses.in_place import compute
from headscope.core.gating.evaluation import Contrasted
from headscope.core.gating.pairs import pair_losses
from headscope.core.model.head_model import HeadModel
from headscope.validation.model import as_model
from headscope.validation.planted import ROLES, Role, build
from headscope.validation.premises import Premises, premises
from headscope.validation.score import Heads, Match, found_roles, matches, together
from headscope.validation.suite import COPIED, SIZES, Case
from headscope.validation.task import PlantedTask

N_TRAIN, N_TEST = 256, 64

PAPER_SETTINGS: Final = ChgParams.model_validate({**PAPER, "check_closed": False})

QUICK_SETTINGS: Final = PAPER_SETTINGS.model_copy(update={"seeds": 8, "steps": 150, "batch_size": 8})

HALF: Final = 0.5
"""A gate above this is open; a head is harmful to most fits where fewer than this share open it."""

MOSTLY: Final = 0.9
"""The share of models in which the redundant pair must be found."""


@dataclass(frozen=True)
class Trial:
    """One model; without seeds where its premises don't hold."""

    case: Case
    premises: Premises
    planted: Heads
    found: Heads
    g_plus: Float[np.ndarray, "seed layer head"]
    g_minus: Float[np.ndarray, "seed layer head"]
    redundancy: Float[np.ndarray, "layer head"]
    """Each head's largest interaction with another, nats (``core.gating.pairs``); NaN where not fitted."""
    seconds: float

    @property
    def name(self) -> str:
        """The cell that it belongs to."""
        return self.case.name

    @property
    def holds(self) -> bool:
        """Whether the model is what it was planted as."""
        return self.premises.hold

    @property
    def matches(self) -> dict[Role, Match]:
        """How well each role was found."""
        return matches(self.planted, self.found)


@dataclass(frozen=True)
class Verdict:
    """All models together; ``pairs`` is the share in which both redundant heads were found as such."""

    matches: dict[Role, Match]
    pairs: float
    n_models: int

    @property
    def passed(self) -> bool:
        """Whether every target is met; not where there is no model to count."""
        strict = [self.matches[role] for role in ("needed", "harmful", "useless")]
        perfect = all(match.precision == match.recall == 1 for match in strict)
        return self.n_models > 0 and perfect and self.pairs >= MOSTLY


class Draws(Protocol):
    """Finished trials of one setting (``kept.KeptDraws``)."""

    def get(self, case: Case) -> Trial | None: ...  # noqa: D102

    def put(self, one: Trial) -> None: ...  # noqa: D102


def trials(
    cases: Sequence[Case],
    params: ChgParams,
    report: Callable[[Progress], None] = lambda _: None,
    draws: Draws | None = None,
) -> Iterator[Trial]:
    """Fit the cases one after the other, or take those that are kept in ``draws`` and keep the others there.

    ``report`` gets progress over all of them, and the time left.
    """
    began, sizes, taken = time.monotonic(), [_work(case) for case in cases], 0.0
    for number, case in enumerate(cases):
        done = sum(sizes[:number])

        def told(progress: Progress, done: float = done, number: int = number, taken: float = taken) -> None:
            fraction = (done + progress.fraction * sizes[number]) / sum(sizes)
            fitted = fraction - taken / sum(sizes)
            left = (time.monotonic() - began) * (1 - fraction) / fitted if fitted > 0.01 else None
            where = f"model {number + 1} of {len(cases)} · {progress.phase}"
            report(replace(progress, phase=where, fraction=fraction, seconds_left=left))

        known = draws.get(case) if draws else None
        if known is not None:
            taken += sizes[number]
            yield known
            continue
        one = trial(case, params, told)
        if draws:
            draws.put(one)
        yield one


def trial(case: Case, params: ChgParams, report: Callable[[Progress], None] = lambda _: None) -> Trial:
    """Build, check, fit and compare one model."""
    began, plan = time.monotonic(), case.plan
    model = as_model(build(plan, case.noise, case.seed), plan, f"planted-{case.size}-{case.form}")
    task = PlantedTask(rows=(N_TRAIN, N_TEST), vocab=plan.vocab, copy=COPIED)
    truth = premises(model, plan, task.examples(None, "test"), params.regularisation)
    none = np.zeros((0, plan.n_layers, plan.n_heads), np.float32)
    g_plus, g_minus, redundancy = none, none, np.full(none.shape[1:], np.nan, np.float32)
    if truth.hold:
        g_plus, g_minus = _fit(model, task, params, report)
        redundancy = redundancies(model, task.examples(None, "test"), g_plus)
    planted = {role: plan.heads(role) for role in ROLES}
    seconds = time.monotonic() - began
    return Trial(case, truth, planted, found_roles(g_plus, g_minus), g_plus, g_minus, redundancy, seconds)


def redundancies(
    model: HeadModel, examples: Sequence[Contrasted], g_plus: Float[np.ndarray, "seed layer head"]
) -> Float[np.ndarray, "layer head"]:
    """Each head's largest interaction with another, nats; heads that most fits find harmful are closed."""
    base = torch.tensor((np.nanmean(g_plus > HALF, axis=0) > HALF).astype(np.float32))
    every = [(layer, head) for layer in range(len(base)) for head in range(len(base[0]))]
    return pair_losses(model, examples, base, every).redundancy.reshape(base.shape)


def verdict(done: Sequence[Trial]) -> Verdict:
    """The score over the models whose premises hold."""
    counted = [one.matches for one in done if one.premises.hold]
    pairs = [row["redundant"].recall == 1 for row in counted]
    return Verdict(together(counted), sum(pairs) / len(pairs) if pairs else float("nan"), len(counted))


def to_json(done: Sequence[Trial], params: ChgParams) -> dict[str, Any]:
    """Everything that was planted and found, as plain JSON."""
    said = verdict(done)
    return {
        "validation": "chg",
        "params": params.model_dump(mode="json"),
        "passed": said.passed,
        "models_counted": said.n_models,
        "pair_found": said.pairs if said.n_models else None,
        "overall": _scores(said.matches),
        "models": [described(one) for one in done],
    }


def described(one: Trial) -> dict[str, Any]:
    """All there is to know of a trial, as plain JSON."""
    shape = SIZES[one.case.size]
    return {
        **asdict(one.case),
        **asdict(shape),
        "premises": {**asdict(one.premises), "hold": one.premises.hold},
        "planted": _named(one.planted),
        "found": _named(one.found),
        "scores": _scores(one.matches),
        "g_plus": _rounded(one.g_plus),
        "g_minus": _rounded(one.g_minus),
        "redundancy": _rounded(one.redundancy[None])[0],
        "seconds": round(one.seconds, 1),
    }


def _named(each: Heads) -> dict[str, list[str]]:
    return {role: [f"{layer}.{head}" for layer, head in heads] for role, heads in each.items()}


def _scores(each: dict[Role, Match]) -> dict[str, Any]:
    def number(share: float) -> float | None:
        return None if np.isnan(share) else share

    return {
        role: {**asdict(match), "precision": number(match.precision), "recall": number(match.recall)}
        for role, match in each.items()
    }


def _rounded(gates: Float[np.ndarray, "seed layer head"]) -> list[Any]:
    """Gates as nested lists, None where a fit failed (JSON has no NaN)."""
    return [
        [[None if np.isnan(gate) else round(float(gate), 4) for gate in layer] for layer in seed]
        for seed in gates
    ]


def _fit(
    model: HeadModel, task: PlantedTask, params: ChgParams, report: Callable[[Progress], None]
) -> tuple[Float[np.ndarray, "seed layer head"], Float[np.ndarray, "seed layer head"]]:
    """G+ and G-, by the pieces of any run."""
    found = compute(CHG, Spec(params, model.info, task), model, report=report)
    return found.g_plus, found.g_minus


def _work(case: Case) -> float:
    size = SIZES[case.size]
    return float(size.n_layers * size.n_heads * size.d_model)
