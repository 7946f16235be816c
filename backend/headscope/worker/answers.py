"""Which function answers which question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

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
    TABLES,
    VIRTUAL,
    Question,
)
from headscope.worker.circuits import lookups
from headscope.worker.handler import Planner, RequestHandler
from headscope.worker.lab import ablation, attribution, continuation, gates, lens, look, patterns

Answer = Callable[[RequestHandler, Any], Schema]


def on_prompt(plan: Planner[Any, Any]) -> Answer:
    """An answer about a prompt: planned, admitted, then computed."""
    return lambda handler, wanted: handler.answer(wanted, plan)


def gated_prompt(plan: Callable[..., Any]) -> Answer:
    """An answer about a prompt under gates, whose closed heads may give something."""
    return lambda handler, wanted: handler.answer(wanted, partial(plan, inside=handler.references))


def on_weights(look_up: Callable[[HeadModel, Any], Schema]) -> Answer:
    """An answer from the weights alone."""
    return lambda handler, wanted: handler.look_up(wanted, look_up)


def _gates(handler: RequestHandler, wanted: Any) -> Schema:
    planned = partial(gates.plan, readings=handler.readings, inside=handler.references)
    return handler.answer(wanted, planned)


def _look(handler: RequestHandler, wanted: Any) -> Schema:
    planned = partial(look.plan, repeat_scores=handler.repeat_scores, inside=handler.references)
    return handler.answer(wanted, planned)


def _continue(handler: RequestHandler, wanted: Any) -> Schema:
    between = handler.device_queue.alternate
    planned = partial(continuation.plan, between=between, inside=handler.references)
    return handler.answer(wanted, planned)


def _accuracy(handler: RequestHandler, wanted: AccuracyIn) -> TaskAccuracyOut:
    task = handler.task(wanted.task)
    return handler.accuracies.ask(handler.catalogue.info(wanted.model), task)


ANSWERS: Final[Mapping[Question[Any, Any], Answer]] = {
    LOOK: _look,
    PATTERNS: on_prompt(patterns.plan),
    GATES: _gates,
    CONTINUE: _continue,
    ABLATION: on_prompt(ablation.plan),
    ATTRIBUTION: gated_prompt(attribution.plan),
    LENS: gated_prompt(lens.plan),
    TABLES: on_weights(lookups.tables),
    CROSSED: on_weights(lookups.crossed),
    VIRTUAL: on_weights(lookups.virtual),
    ACCURACY: _accuracy,
}
