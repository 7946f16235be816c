"""Any model whose heads' roles are known: roles checked by ablation, then fitted and scored as planted ones.

A needed head must cost at least ``MUCH`` nats a target token when closed alone, and a useless one at most
what the fit's push outweighs (``premises``); a model where that isn't so is shown and not fitted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import torch
from jaxtyping import Float

from headscope.analyses.base import Progress, Spec
from headscope.analyses.chg import CHG
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.in_place import compute
from headscope.core.gating.evaluation import evaluate
from headscope.core.model.head_model import HeadModel
from headscope.tasks.task import Example
from headscope.validation.chg import QUICK_SETTINGS, redundancies
from headscope.validation.planted import ROLES, Head, Role
from headscope.validation.premises import MUCH
from headscope.validation.score import Heads, Match, found_roles, matches
from headscope.validation.task import DrawnRows

PROGRAM_SETTINGS: Final = QUICK_SETTINGS.model_copy(
    update={"start_open": True, "within_clamp": True, "lr_start": 0.1, "lr_end": 0.1}
)
"""Thresholds have no slope to follow: gates start open, and are pushed shut by steps that don't leap over
where the answer breaks.
"""


@dataclass(frozen=True)
class DrawnTask(DrawnRows):
    """Examples that ``draw(n, seed)`` makes."""

    name: str
    draw: Callable[[int, int], Sequence[Example]]
    title: str = "Of known answer"
    description: str = "What the model was made for."
    source: str = "drawn"
    licence: str = "MIT"
    kind: Literal["text", "generated"] = "generated"
    origin: Literal["built-in", "yours"] = "yours"
    n_rows: int | None = None
    template: str | None = None
    shots: int = 0
    targets: str = "The answer."
    judged: Literal["top", "pair"] = "top"
    content_hash: str = "c0ffee"
    rows: tuple[int, int] = (256, 64)

    def drawn(self, n: int, seed: int) -> Sequence[Example]:
        """What ``draw`` makes."""
        return self.draw(n, seed)


@dataclass(frozen=True)
class Known:
    """A model, what it is asked, and the roles of its heads; heads of no role are judged for none."""

    name: str
    model: HeadModel
    task: DrawnTask
    roles: Mapping[Role, tuple[Head, ...]]


@dataclass(frozen=True)
class KnownTrial:
    """What was found of it; ``cells`` reads it as it reads a planted trial. ``costs`` are nats a target token
    lost by closing each head alone.
    """

    name: str
    holds: bool
    costs: Float[np.ndarray, "layer head"]
    planted: Heads
    found: Heads
    g_plus: Float[np.ndarray, "seed layer head"]
    g_minus: Float[np.ndarray, "seed layer head"]
    redundancy: Float[np.ndarray, "layer head"]
    seconds: float

    @property
    def matches(self) -> dict[Role, Match]:
        """How well each role was found."""
        return matches(self.planted, self.found)


def trial_of(
    known: Known, params: ChgParams, report: Callable[[Progress], None] = lambda _: None
) -> KnownTrial:
    """Check by ablation, fit as any run does, compare."""
    began, model = time.monotonic(), known.model
    test = known.task.examples(None, "test")
    costs = ablated(model, test)
    holds = agrees(known.roles, costs, params.regularisation)
    none = np.zeros((0, *costs.shape), np.float32)
    plus, minus, redundancy = none, none, np.full(costs.shape, np.nan)
    if holds:
        fitted = compute(CHG, Spec(params, model.info, known.task), model, report=report)
        plus, minus = fitted.g_plus, fitted.g_minus
        redundancy = redundancies(model, test, plus)
    planted = {role: known.roles[role] for role in ROLES}
    found, seconds = found_roles(plus, minus), time.monotonic() - began
    return KnownTrial(known.name, holds, costs, planted, found, plus, minus, redundancy, seconds)


def agrees(
    roles: Mapping[Role, tuple[Head, ...]], costs: Float[np.ndarray, "layer head"], regularisation: float
) -> bool:
    """Whether closing a head costs what its role says."""
    little = 2 * regularisation / costs.size
    needed = all(costs[head] >= MUCH for head in roles["needed"])
    return needed and all(abs(costs[head]) <= little for head in roles["useless"])


def ablated(model: HeadModel, examples: Sequence[Example]) -> Float[np.ndarray, "layer head"]:
    """Nats a target token lost by closing each head, all others open."""
    n_layers, n_heads = model.info.n_layers, model.info.n_heads
    gates = torch.ones(1 + n_layers * n_heads, n_layers * n_heads)
    gates[1:].fill_diagonal_(0)
    scored = evaluate(model, examples, gates.view(-1, n_layers, n_heads)).log_probability
    return np.asarray((scored[0] - scored[1:]).view(n_layers, n_heads))
