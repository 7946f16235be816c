"""What someone asks for, as a run that could be started: looked up, checked, named, estimated.

Command line, pages and Python ask by this one function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy.orm import Session

from headscope.analyses.base import Estimate, Spec
from headscope.analyses.request import Request, find, resolve
from headscope.core.model.capabilities import Proof
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.store.references import look_up
from headscope.store.tasks import load_user_tasks
from headscope.tasks.catalogue import TaskCatalogue


def ask(
    session: Session,
    analysis: str,
    model: ModelInfo,
    tokenizer: Tokenizer,
    *,
    task: str | None = None,
    preset: str | None = None,
    params: Mapping[str, Any] | None = None,
    throughput: float | None = None,
    proved: Callable[[ModelInfo], Proof | None] = lambda _: None,
) -> tuple[Request, Estimate]:
    """The run that is meant, and what it will take.

    What can't be computed is refused here, before there is a run. Raises ``NotFound`` (unknown-analysis,
    unknown-task), ``Invalid`` (unknown-preset, unknown-parameter, invalid-parameter, task-missing, rows of no
    use), what ``store.references.look_up`` does for parameters that name something kept, and what the
    analysis' estimate does: too long for the context, say. ``proved`` finds what was proved of the model in
    the run's precision: ``Refused`` (not-proved) where the analysis needs what was found wrong.
    """
    chosen = find(analysis)
    known = TaskCatalogue(load_user_tasks(session))
    asked = known.get(task) if task is not None else None
    request = resolve(analysis, model, asked, preset, params, known)
    proof = proved(request.model)
    if proof is not None:
        proof.require(chosen.needs)
    inputs = look_up(session, chosen, request.params, request.model, asked)
    spec = Spec(request.parsed, request.model, asked, inputs)
    return request, chosen.estimate(spec, tokenizer=tokenizer, throughput=throughput)
