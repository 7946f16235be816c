"""A task's prompts clean, and with the labels of their in-context examples shuffled [Todd et al. 2024].

1. Questions are asked in their split's order: clean prompts from the training split, shuffled ones from the
   test split. In-context examples are drawn from the training split by hash of seed and prompt.
2. None of them has the question's answer, neither as its label nor as its prompt: in whatever order the
   labels stand, the answer is nowhere to be copied from.
3. Shuffled: labels change places so that none stands where it would be right. Two rows with one label don't
   exchange it for itself. Where one label has more than half of the places there is no such order, and the
   prompt is left out and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.draw import distinct, ordered
from headscope.tasks.task import Example, Row, Task
from headscope.tasks.text import TextTask

LEAST_SHOTS = 2
_TRIES = 50


@dataclass(frozen=True)
class LabelPrompts:
    """Both kinds of prompts, and how many rows were passed over on the way: ``too_long`` for the context,
    ``unshuffled`` for want of an order in which no label is right.
    """

    clean: tuple[Example, ...]
    shuffled: tuple[Example, ...]
    too_long: int = 0
    unshuffled: int = 0


def label_prompts(
    task: Task, tokenizer: Tokenizer, *, clean: int, shuffled: int, shots: int, seed: int, n_ctx: int
) -> LabelPrompts:
    """At most so many prompts of each kind, the same for a seed and tokenizer.

    Raises Invalid: ``no-labels`` for a task that isn't rows; ``shots`` and ``too-few-rows``; ``few-labels``
    and ``too-long`` where no prompt is left; ``unlike-prompts`` where prompts end with different tokens, so
    that there is no one place before the answer.
    """
    rows = _rows(task, shots)
    drawn: dict[bool, list[Example]] = {False: [], True: []}
    passed = Counter[str]()
    for mixed, most in ((False, clean), (True, shuffled)):
        for example in _asked(rows, tokenizer, shots, seed, mixed):
            if example is None or len(example.tokens) > n_ctx:
                passed["unshuffled" if example is None else "too_long"] += 1
                continue
            drawn[mixed].append(example)
            if len(drawn[mixed]) == most:
                break
    found = LabelPrompts(tuple(drawn[False]), tuple(drawn[True]), **passed)
    _check(rows, found, shots, n_ctx)
    return found


def deranged(key: str, labels: Sequence[str]) -> list[str] | None:
    """The labels in another order, so that none is where it was, nor where an equal one was; None if none."""
    n, most = len(labels), max(Counter(labels).values(), default=0)
    if 2 * most > n or n < LEAST_SHOTS:
        return None
    for number in range(_TRIES):
        order = [labels[index] for index in distinct(f"{key} {number}", n, n)]
        if all(new != old for new, old in zip(order, labels, strict=True)):
            return order
    # Equal labels side by side, then each takes the label of the place ``most`` further on.
    places = sorted(ordered(key, [str(index) for index in range(n)]), key=lambda index: labels[index])
    order = list(labels)
    for number, place in enumerate(places):
        order[place] = labels[places[(number + most) % n]]
    return order


def _rows(task: Task, shots: int) -> TextTask:
    if not isinstance(task, TextTask):
        raise Invalid(
            f"Task {task.name} is drawn from the vocabulary, it has no rows whose labels could be shuffled.",
            "Choose a task of questions and answers, e.g. singular-plural.",
            code="no-labels",
        )
    if shots < LEAST_SHOTS:
        raise Invalid(
            f"{shots} in-context examples have no labels to exchange.",
            f"Ask for {LEAST_SHOTS} or more.",
            code="shots",
        )
    task.check_shots(shots)
    return task


def _asked(
    task: TextTask, tokenizer: Tokenizer, shots: int, seed: int, mixed: bool
) -> Iterator[Example | None]:
    """A split's rows after their in-context examples; None where the labels can't be shuffled."""
    splits = task.split(seed)
    for row in splits["test" if mixed else "train"]:
        context = _in_context(task, splits["train"], row, shots, seed)
        if mixed:
            key = f"labels {seed} {row.prompt}"
            labels = deranged(key, [shot.target for shot in context])
            if labels is None:
                yield None
                continue
            context = [replace(shot, target=label) for shot, label in zip(context, labels, strict=True)]
        yield task.asked(tokenizer, row, context)


def _in_context(task: TextTask, train: Sequence[Row], row: Row, shots: int, seed: int) -> list[Row]:
    others = [
        other
        for other in train
        if other.prompt != row.prompt and row.target not in (other.target, other.prompt)
    ]
    if len(others) < shots:
        raise Invalid(
            f"Task {task.name} has {len(others)} training rows without the answer {row.target!r}; {shots} "
            "in-context examples need as many.",
            "Ask for fewer in-context examples, or add rows with other answers.",
            code="too-few-rows",
        )
    return [others[index] for index in distinct(f"shots {seed} {row.prompt}", len(others), shots)]


def _check(task: TextTask, found: LabelPrompts, shots: int, n_ctx: int) -> None:
    if not found.shuffled and found.unshuffled:
        labels = len({row.target for row in task.distinct_rows})
        raise Invalid(
            f"The labels of {found.unshuffled} prompts of task {task.name} can't be shuffled so that none is "
            f"right: it has {labels} different answers, and one fills more than half of {shots} places.",
            "Choose a task with more different answers.",
            code="few-labels",
        )
    if not found.clean or not found.shuffled:
        raise Invalid(
            f"No prompt of task {task.name} with {shots} in-context examples fits the model's context of "
            f"{n_ctx} tokens.",
            "Use fewer in-context examples, or a model with a longer context.",
            code="too-long",
        )
    ends = {example.tokens[min(example.targets) - 1] for example in (*found.clean, *found.shuffled)}
    if len(ends) > 1:
        raise Invalid(
            f"{len(found.clean) + len(found.shuffled)} prompts of task {task.name} end with {len(ends)} "
            "different tokens: there is no one place before the answer whose z could be averaged.",
            "Choose a task whose template puts the same words before every answer, or another tokenizer.",
            code="unlike-prompts",
        )
