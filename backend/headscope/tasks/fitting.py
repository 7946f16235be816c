"""Keeping the examples that fit the context and counting the others: nothing is cut, nothing silent."""

from __future__ import annotations

from collections.abc import Iterable

from headscope.errors import Invalid
from headscope.tasks.task import Example, Examples

_TRIES = 200
"""Rows come in random order: where none of so many fits, fewer than 1.5 % do, and the rest isn't tried."""


def collect(
    task: str, drawn: Iterable[tuple[str, Example]], *, limit: int | None, n_ctx: int | None
) -> Examples:
    """The first ``limit`` examples of at most ``n_ctx`` tokens. ``drawn`` pairs each with what to call it.

    Raises Invalid: ``limit`` below 1; ``too-long`` where none fits, naming the shortest, both numbers.
    """
    if limit is not None and limit < 1:
        raise Invalid(f"{limit} examples.", "Ask for at least one.", code="limit")
    kept: list[Example] = []
    left_out: list[tuple[int, str]] = []
    for label, example in drawn:
        if n_ctx is not None and len(example.tokens) > n_ctx:
            left_out.append((len(example.tokens), label))
            if not kept and len(left_out) == _TRIES:
                break
            continue
        kept.append(example)
        if len(kept) == limit:
            break
    if left_out and not kept:
        raise _too_long(task, min(left_out), len(left_out), n_ctx)
    return Examples(tuple(kept), len(left_out), max(left_out)[0] if left_out else 0)


def _too_long(task: str, shortest: tuple[int, str], count: int, n_ctx: int | None) -> Invalid:
    tokens, label = shortest
    short = label if len(label) <= 60 else label[:59] + "…"
    return Invalid(
        f"None of {count} examples of task {task} fits the model's context of {n_ctx} tokens; "
        f"the shortest ({short!r}) has {tokens}.",
        "Use fewer in-context examples, shorter rows, or a model with a longer context.",
        code="too-long",
    )
