"""What a task's label is: its answer, or a group of answers that the reader names.

1. A row's answer are its target tokens. By ``groups`` several answers are one label; rows whose answer is in
   none are left out.
2. Labels with at least ``least_rows`` training rows count, the ``most_labels`` most frequent ones.

A task whose answers are all different, or all the same, has nothing to probe for and is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from headscope.analyses.probe.schema import ProbeParams
from headscope.analyses.shots import AUTO
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.task import Example, Examples, Split, Task


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows that have a label, and which: an index into ``names``."""

    examples: Sequence[Example]
    labels: Int[np.ndarray, " row"]


@dataclass(frozen=True, eq=False)
class Probing:
    """Training and held-out rows with their labels, in the order of ``names``."""

    names: Sequence[str]
    train: Labelled
    test: Labelled
    n_left_out: int

    @property
    def chance(self) -> float:
        """What always guessing the most frequent held-out label gets."""
        return float(np.bincount(self.test.labels).max() / len(self.test.labels))


def probing(task: Task, tokenizer: Tokenizer, params: ProbeParams, n_ctx: int) -> Probing:
    """The task's rows with their labels; ``params`` name the number of in-context examples. Raises
    ``Invalid``: no-labels, one-label, no-held-out, with the numbers.
    """
    shots = params.shots
    if shots == AUTO:
        raise TypeError("The number of in-context examples is chosen before rows are drawn.")

    def rows(split: Split, limit: int) -> Examples:
        return task.examples(tokenizer, split, limit=limit, seed=params.split_seed, shots=shots, n_ctx=n_ctx)

    drawn_train, drawn_test = rows("train", params.n_train), rows("test", params.n_test)
    name = _namer(params.groups, tokenizer)
    answers = [name(example) for example in drawn_train]
    names = _kept(answers, params, task)
    train = _labelled(drawn_train, answers, names)
    test = _labelled(drawn_test, [name(example) for example in drawn_test], names)
    if not len(test.labels):
        raise Invalid(
            f"No held-out row of {task.name!r} has one of the labels {', '.join(names)}.",
            "Take more held-out rows.",
            code="no-held-out",
        )
    left_out = len(drawn_train) + len(drawn_test) - len(train.labels) - len(test.labels)
    return Probing(names, train, test, left_out)


def groups_of(text: str) -> dict[str, str]:
    """Each answer and the label it belongs to, the group's first answer. Raises ``Invalid`` for one group."""
    groups = [[answer.strip() for answer in group.split(",") if answer.strip()] for group in text.split("|")]
    groups = [group for group in groups if group]
    if len(groups) < 2:
        raise Invalid(
            f"One label: {text!r} names {len(groups)} group of answers.",
            "Put | between labels: is, has | are, have.",
            code="one-label",
        )
    return {answer: group[0] for group in groups for answer in group}


def _namer(groups: str | None, tokenizer: Tokenizer) -> Callable[[Example], str | None]:
    known = None if groups is None else groups_of(groups)

    def name(example: Example) -> str | None:
        answer = b"".join(map(tokenizer.decode_bytes, example.target_ids)).decode(errors="replace").strip()
        return answer if known is None else known.get(answer)

    return name


def _kept(train: Sequence[str | None], params: ProbeParams, task: Task) -> list[str]:
    counts = Counter(name for name in train if name is not None)
    kept = [name for name, rows in counts.most_common() if rows >= params.least_rows][: params.most_labels]
    if len(counts) == 1:
        raise Invalid(
            f"Task {task.name!r} has one label: all {sum(counts.values())} training rows answer "
            f"{next(iter(counts))!r}.",
            "Name groups of answers, or choose another task.",
            code="one-label",
        )
    if len(kept) < 2:
        raise Invalid(
            f"Task {task.name!r} has {len(counts)} different answers in {len(train)} training rows, and "
            f"{len(kept)} of them in at least {params.least_rows}: a probe needs two labels.",
            "Name groups of answers that count as one label, or choose a task with few different answers.",
            code="no-labels",
        )
    return kept


def _labelled(examples: Sequence[Example], named: Sequence[str | None], names: Sequence[str]) -> Labelled:
    place = {name: index for index, name in enumerate(names)}
    kept = [(example, place[name]) for example, name in zip(examples, named, strict=True) if name in place]
    return Labelled([example for example, _ in kept], np.array([label for _, label in kept], np.int64))
