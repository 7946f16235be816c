"""Which function answers which question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from headscope.core.model.capabilities import Capability
from headscope.core.model.head_model import HeadModel
from headscope.messages import AccuracyIn, Schema, TaskAccuracyOut
from headscope.messages.questions import (
    ABLATION,
    ACCURACY,
    ATTRIBUTION,
    CONTINUE,
    CROSSED,
    GATES,
    LENS,
    LOOK,
    PATTERNS,
    PROOF,
    TABLES,
    TRIAL,
    VIRTUAL,
    Question,
)
from headscope.worker import trial
from headscope.worker.circuits import lookups
from headscope.worker.handler import Planner, RequestHandler
from headscope.worker.lab import ablation, attribution, continuation, gates, lens, look, patterns

Answer = Callable[[RequestHandler, Any], Schema]


def on_prompt(plan: Planner[Any, Any], *needs: Capability) -> Answer:
    """An answer about a prompt: planned, admitted, then computed. ``needs`` are what the model must give."""
    return lambda handler, wanted: handler.answer(wanted, plan, needs)


def gated_prompt(plan: Callable[..., Any], *needs: Capability) -> Answer:
    """An answer about a prompt, as it is or under gates, whose closed heads may give something."""

    def answer(handler: RequestHandler, wanted: Any) -> Schema:
        needed = _under(wanted.gates, *needs)
        found: Schema = handler.answer(wanted, partial(plan, inside=handler.references), needed)
        return found

    return answer


def _under(gates: Any, *needs: Capability) -> tuple[Capability, ...]:
    """What is needed to look at a model, gated where there are gates."""
    return needs if gates is None else (*needs, "gating")


def on_weights(look_up: Callable[[HeadModel, Any], Schema]) -> Answer:
    """An answer from the weights alone."""
    return lambda handler, wanted: handler.look_up(wanted, look_up)


def _gates(handler: RequestHandler, wanted: Any) -> Schema:
    planned = partial(gates.plan, readings=handler.readings, inside=handler.references)
    return handler.answer(wanted, planned, ("gating",))


def _look(handler: RequestHandler, wanted: Any) -> Schema:
    planned = partial(look.plan, repeat_scores=handler.repeat_scores, inside=handler.references)
    return handler.answer(wanted, planned, _under(wanted.gates, "patterns"))


def _continue(handler: RequestHandler, wanted: Any) -> Schema:
    between = handler.device_queue.alternate
    planned = partial(continuation.plan, between=between, inside=handler.references)
    return handler.answer(wanted, planned, ("gating",))


def _accuracy(handler: RequestHandler, wanted: AccuracyIn) -> TaskAccuracyOut:
    task = handler.task(wanted.task)
    return handler.accuracies.ask(handler.catalogue.info(wanted.model), task)


ANSWERS: Final[Mapping[Question[Any, Any], Answer]] = {
    LOOK: _look,
    PATTERNS: on_prompt(patterns.plan, "patterns"),
    GATES: _gates,
    CONTINUE: _continue,
    ABLATION: on_prompt(ablation.plan, "gating", "patterns"),
    ATTRIBUTION: gated_prompt(attribution.plan, "attribution"),
    LENS: gated_prompt(lens.plan),
    TABLES: on_weights(lookups.tables),
    CROSSED: on_weights(lookups.crossed),
    VIRTUAL: on_weights(lookups.virtual),
    ACCURACY: _accuracy,
    PROOF: lambda handler, wanted: handler.check(wanted),
    TRIAL: trial.answer,
}
