"""Word pairs asked by examples: plural to singular, past to present, comparatives.

The first two turn the pairs of function vectors around [Todd et al. 2024]. The counterfactual is another
word's answer, and the paired prompt is that word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from headscope.tasks.draw import ordered
from headscope.tasks.task import Row
from headscope.tasks.template import QUESTION
from headscope.tasks.templated.drawing import parted
from headscope.tasks.templated.task import TemplatedTask
from headscope.tasks.templated.words import ADJECTIVES

_SOURCE = "turned around: ericwtodd/function_vectors, dataset_files/abstractive (Todd et al. 2024)"
_SHOTS = 5


def plural_singular(rows: Sequence[Row]) -> TemplatedTask:
    """The singular of the plurals that the rows of ``singular-plural`` ask for."""
    return _task(
        "plural-singular",
        "Plural to singular",
        ((row.target, row.prompt) for row in rows),
        "The singular of an English noun: wallets, wallet.",
        f"Singular to plural, {_SOURCE}",
    )


def past_present(rows: Sequence[Row]) -> TemplatedTask:
    """The present of the past forms that the rows of ``present-past`` ask for."""
    return _task(
        "past-present",
        "Past to present",
        ((row.target, row.prompt) for row in rows),
        "The present tense of an English verb: adapted, adapt.",
        f"Present to past, {_SOURCE}",
    )


def comparative() -> TemplatedTask:
    """Adjectives and their comparatives."""
    return _task(
        "comparative",
        "Comparative",
        ADJECTIVES.items(),
        "The comparative of an English adjective: big, bigger.",
        "A list of our own, after the tasks of function vectors (Todd et al. 2024)",
    )


def _task(
    name: str, title: str, pairs: Iterable[tuple[str, str]], description: str, source: str
) -> TemplatedTask:
    words = dict(pairs)  # of two words with one past form, the later
    asked = list(words)
    parts = parted([asked[index] for index in ordered(name, asked)])
    rows = [row for part in parts.values() for row in _rows(part, words)]
    return TemplatedTask(
        name,
        title,
        tuple(rows),
        description,
        source=source,
        licence="MIT",
        template=QUESTION,
        shots=_SHOTS,
        targets="The answer's tokens, with the space before it.",
        origin="built-in",
        n_held_out=len(parts["test"]),
    )


def _rows(asked: Sequence[str], words: dict[str, str]) -> list[Row]:
    """Each word paired with the next one like it, the last of them with the first: of as many words and
    letters, where there is such a one.
    """
    rows = []
    for word in asked:
        alike = [other for other in asked if other.count(" ") == word.count(" ")]
        same = [other for other in alike if len(other) == len(word)]
        others = same if len(same) > 1 else alike if len(alike) > 1 else list(asked)
        other = others[(others.index(word) + 1) % len(others)]
        rows.append(Row(word, words[word], words[other], paired=other))
    return rows
