"""What comes next, and sums: successor in four kinds of order, two-digit addition.

The paired prompt is of the same kind, moved on or with another number; its answer is the counterfactual.
"""

from __future__ import annotations

from functools import cache
from itertools import product

from headscope.tasks.draw import ordered
from headscope.tasks.task import Row, Split
from headscope.tasks.template import CONTINUATION
from headscope.tasks.templated.drawing import Pick, both_splits
from headscope.tasks.templated.task import TemplatedTask
from headscope.tasks.templated.words import MONTHS, NUMBER_WORDS, WEEKDAYS

_LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NUMBERS = tuple(str(number) for number in range(10, 50))

_ORDERS: tuple[tuple[tuple[str, ...], bool], ...] = (
    (WEEKDAYS, True),
    (MONTHS, True),
    (NUMBER_WORDS, False),
    (_LETTERS, False),
    (_NUMBERS, False),
)
"""What follows what, and whether the first follows the last."""

_FRAMES = ("{told},", "In order: {told},", "The list goes on like this: {told},", "Say {told}, and then")
_MOST_OF_AN_ORDER = 120


def successor() -> TemplatedTask:
    """The next of weekdays, months, number words, letters or numbers, after two to four of them.

    An answer is asked for in one split only; the paired prompt is further along the same order, by the same
    number of things told, and its answer is of the same split.
    """
    rows: dict[Split, list[Row]] = {"train": [], "test": []}
    for order, turns in _ORDERS:
        for split, answers in _answers(order).items():
            found = _successions(order, turns, answers)
            chosen = ordered(f"successor {split}", [row.prompt for row in found])
            most = _MOST_OF_AN_ORDER if split == "train" else _MOST_OF_AN_ORDER // 3
            rows[split] += [found[index] for index in chosen[:most]]
    return TemplatedTask(
        "successor",
        "Successor",
        (*rows["train"], *rows["test"]),
        "What comes next among weekdays, months, numbers, number words or letters: “Monday, Tuesday,” goes "
        "on with “Wednesday”.",
        source="Templates of our own, after Gould et al. 2023 (successor heads, arXiv 2312.09230)",
        licence="MIT",
        template=CONTINUATION,
        separator="\n",
        shots=0,
        targets="The next one.",
        origin="built-in",
        n_held_out=len(rows["test"]),
    )


def _answers(order: tuple[str, ...]) -> dict[Split, list[int]]:
    """Which places are answers in which split: every third is held out."""
    places = range(len(order))
    return {"train": [p for p in places if p % 3 != 2], "test": [p for p in places if p % 3 == 2]}


def _successions(order: tuple[str, ...], turns: bool, answers: list[int]) -> list[Row]:
    found = []
    for frame, told, place in product(_FRAMES, (2, 3, 4), answers):
        possible = [other for other in answers if other != place and (turns or other >= told)]
        if (place < told and not turns) or not possible:
            continue
        later = next((other for other in possible if other > place), possible[0])
        asked, paired = (
            frame.format(told=", ".join(order[at - back] for back in range(told, 0, -1)))
            for at in (place, later)
        )
        found.append(Row(asked, order[place], order[later], paired=paired))
    return found


def addition() -> TemplatedTask:
    """Sums of two numbers of two digits; a sum is asked for in one split only.

    The paired prompt has another second number, and its sum has as many digits.
    """

    def make(pick: Pick, split: Split) -> Row:
        a, b = _summands(pick, split)
        long = a + b >= 100
        c = pick.one([c for c in _seconds(a, split) if (a + c >= 100) == long and c != b] or [b])
        if c == b:
            return make(pick, split)
        return Row(f"{a} + {b} =", str(a + b), str(a + c), paired=f"{a} + {c} =")

    return TemplatedTask(
        "two-digit-addition",
        "Two-digit addition",
        both_splits("two-digit-addition", make, 600, 200),
        "The sum of two numbers: “23 + 45 =” goes on with “68”.",
        source="Drawn by ourselves, after Nikankin et al. 2024 (arXiv 2410.21272)",
        licence="MIT",
        template=CONTINUATION,
        separator="\n",
        shots=5,
        targets="The sum's tokens, with the space before it.",
        origin="built-in",
        n_held_out=200,
    )


def _summands(pick: Pick, split: Split) -> tuple[int, int]:
    a = pick.number(10, 99)
    return a, pick.one(_seconds(a, split))


@cache
def _seconds(a: int, split: Split) -> tuple[int, ...]:
    """What ``a`` is added to in a split: every fourth sum is held out."""
    return tuple(b for b in range(10, 100) if ((a + b) % 4 == 3) == (split == "test"))
