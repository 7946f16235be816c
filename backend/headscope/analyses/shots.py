"""In-context examples chosen by what the model can do: ``shots=auto``.

1. Each number that is tried has a piece: the ungated model on held-out rows (``ability/5``). A number is
   left out where the task has no such examples, or where too few of the rows fit the context.
2. The fewest in-context examples at which the model is within 5 points of its best are taken
   (``core.gating.ability``).

A run whose parameters say ``auto`` has these pieces first, so that its request decides its id and its plan,
and the number that was taken stands in its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, Protocol, runtime_checkable

import numpy as np

from headscope.analyses.base import Context, Kept, Piece, Pieces, Progress
from headscope.core.gating.ability import fewest
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.errors import HeadscopeError, Invalid, Refused
from headscope.tasks.task import Task

AUTO: Final = "auto"

TRIED: Final = (0, 1, 2, 5, 10)
"""Numbers of in-context examples that are tried."""

ROWS: Final = 96
"""Held-out rows that each is tried on: a share of 0.5 is then known to within 0.1 (95 %)."""

FITTING: Final = 0.9
"""A number is left out where a smaller share of the rows fits the context: the others are the short ones."""

_NOMINAL, _SHOT_TOKENS = 24.0, 12.0

HAS_NO_SUCH: Final = frozenset({"too-long", "shots", "too-few-rows", "small-vocabulary"})
"""Codes of ``Invalid`` by which a task says that it gives no rows with so many."""

Shots = int | Literal["auto"] | None


@runtime_checkable
class Asked(Protocol):
    """Parameters of an analysis that takes in-context examples."""

    @property
    def shots(self) -> Shots: ...  # noqa: D102
    @property
    def split_seed(self) -> int: ...  # noqa: D102


def pieces(params: Asked, task: Task | None, model: ModelInfo) -> list[Piece]:
    """The pieces that choose the number; none where the parameters name it."""
    if params.shots != AUTO or task is None:
        return []
    return ability_pieces(task, model, TRIED, ROWS, params.split_seed)


def keys(params: Asked) -> tuple[str, ...]:
    """The keys of those pieces."""
    return tuple(map(key, TRIED)) if params.shots == AUTO else ()


def taken(params: Asked, found: Pieces) -> int | None:
    """How many in-context examples: what the parameters say, or what the pieces found; None: the task's own.

    Raises what ``choose`` does.
    """
    return choose({n: found[key(n)] for n in TRIED}) if params.shots == AUTO else params.shots


def here_and_now(params: Asked, task: Task, context: Context) -> int:
    """What ``auto`` takes for one of several tasks, measured within a piece."""
    found = [piece.compute(context) for piece in pieces(params, task, context.model.info)]
    return choose(dict(zip(TRIED, found, strict=True)))


def resolved(params: Mapping[str, Any], shots: int | None) -> dict[str, Any]:
    """A finished run's parameters with the number that it took in place of ``auto``."""
    return {**params, "shots": shots if params.get("shots") == AUTO else params.get("shots")}


def choose(found: Mapping[int, Kept]) -> int:
    """The number of in-context examples to take; ``Refused`` (nothing-fits) where each was left out."""
    known = {n: float(np.mean(each["correct"])) for n, each in found.items() if "correct" in each}
    if not known:
        raise _nothing_fits([each["why"] for each in found.values()])
    return fewest(list(known), list(known.values()))


def key(shots: int) -> str:
    """The key of the piece that tries a number of in-context examples."""
    return f"ability/{shots}"


def ability_pieces(
    task: Task, model: ModelInfo, tried: Sequence[int], rows: int, split_seed: int
) -> list[Piece]:
    """A piece for each number of in-context examples."""
    return [
        Piece(
            key(shots),
            f"The ungated model, {words(shots)}",
            partial(measured, task, shots, min(tried), rows, split_seed),
            weight=rows * forward_flop(model, _NOMINAL + _SHOT_TOKENS * shots, 1),
        )
        for shots in tried
    ]


def measured(task: Task, shots: int, least: int, rows: int, split_seed: int, context: Context) -> Kept:
    """Of each held-out row whether it is answered right (or how much of it) and the log-probability of its
    target, nats a token: [example]; what guessing gets. Or ``why`` the number is left out.

    A task that asks the same with the ``least`` number tried has no in-context examples.
    """
    from headscope.core.gating.evaluation import evaluate

    model = context.model
    drawn = partial(task.examples, model.tokenizer, "test", seed=split_seed, n_ctx=model.info.n_ctx)
    try:
        examples = drawn(shots=shots, limit=rows)
        same = shots > least and examples[0] == drawn(shots=least, limit=1)[0]
    except Invalid as error:
        if error.code not in HAS_NO_SUCH:
            raise
        return {"why": error.message}
    if same:
        return {"why": f"Task {task.name} has no in-context examples."}
    if len(examples) < FITTING * (len(examples) + examples.n_left_out):
        return {
            "why": f"{examples.n_left_out} of {len(examples) + examples.n_left_out} rows are longer than the "
            f"context of {model.info.n_ctx} tokens."
        }
    context.report(Progress(words(shots), "", 0, 1))
    score = evaluate(model, examples, judged=task.judged, checkpoint=context.checkpoint)
    return {
        "correct": score.correct[0].numpy(),
        "log_probability": score.each[0].numpy(),
        "chance": examples.chance(task.judged),
        "n_left_out": examples.n_left_out,
    }


def notes(params: Asked, found: Pieces) -> Iterator[str]:
    """What a run's page says of the number of in-context examples that it chose."""
    if params.shots == AUTO:
        yield f"{words(choose({n: found[key(n)] for n in TRIED})).capitalize()}: {reason(found)}"


def reason(found: Pieces) -> str:
    """Why that number of in-context examples was taken, of a run that chose it or took it over."""
    known = {n: found[key(n)] for n in TRIED if key(n) in found}
    if not known:
        return "as many as the run took that seeds are added to."
    right = ", ".join(
        f"{100 * float(np.mean(each['correct'])):.0f} % with {n}"
        for n, each in known.items()
        if "correct" in each
    )
    return f"the fewest at which the model is within 5 points of its best ({right} answered right)."


def largest(params: Asked, task: Task | None, model: ModelInfo, tokenizer: Tokenizer | None) -> int | None:
    """The most in-context examples that may be taken, for an estimate; where the parameters name a number,
    that one. Raises ``Refused`` (nothing-fits).
    """
    if params.shots != AUTO:
        return params.shots
    if task is None or tokenizer is None:
        return max(TRIED)
    why: list[str] = []
    for shots in sorted(TRIED, reverse=True):
        try:
            task.examples(tokenizer, "test", limit=1, seed=params.split_seed, shots=shots, n_ctx=model.n_ctx)
        except HeadscopeError as error:
            if error.code not in HAS_NO_SUCH:
                raise
            why.append(error.message)
        else:
            return shots
    raise _nothing_fits(why)


def words(shots: int) -> str:
    """ "no in-context example", "1 in-context example"."""
    return f"{shots or 'no'} in-context example{'' if shots <= 1 else 's'}"


def _nothing_fits(why: Iterable[str]) -> Refused:
    return Refused(
        "No number of in-context examples can be used: " + " ".join(dict.fromkeys(why)),
        "Use shorter rows, or a model with a longer context.",
        code="nothing-fits",
    )
