"""Tasks made from templates: solved here by other means, for a row and its pair; splits share nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from headscope.core.model.tokens import Tokenizer
from headscope.tasks.builtin import builtin_tasks
from headscope.tasks.task import Row
from headscope.tasks.templated.drawing import Pick, drawn, parted
from headscope.tasks.templated.task import TemplatedTask
from headscope.tasks.templated.words import ADJECTIVES, MEN, MONTHS, NUMBER_WORDS, WEEKDAYS, WOMEN

TASKS = {name: task for name, task in builtin_tasks().items() if isinstance(task, TemplatedTask)}
NAMES = set(WOMEN) | set(MEN)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _indirect_object(prompt: str) -> str:
    named = [word for word in _words(prompt) if word in NAMES]
    assert len(named) == 3
    (once,) = (name for name in named if named.count(name) == 1)
    return once


def _pronoun(prompt: str) -> str:
    (name,) = (word for word in _words(prompt) if word in NAMES)
    return "she" if name in WOMEN else "he"


def _colour(prompt: str) -> str:
    *colours, asked = re.findall(r"\ba (\w+) (\w+)|(\w+) is$", prompt)
    return str({thing: colour for colour, thing, _ in colours}[asked[2]])


def _argument(prompt: str) -> str:
    arguments = re.findall(r"\w+", prompt.split("(self, ")[1].split(")")[0])
    told = re.findall(r":param (\w+):", prompt)
    assert told == arguments[1:3]
    return str(arguments[3])


def _copied(prompt: str) -> str:
    first, again = prompt.split(". Again: ")
    return first.split(", ")[again.count(",")]


def _sum(prompt: str) -> str:
    a, b = re.findall(r"\d+", prompt)
    return str(int(a) + int(b))


def _successor(prompt: str) -> str:
    for order in (WEEKDAYS, MONTHS):
        if last := [word for word in _words(prompt) if word in order]:
            return order[(order.index(last[-1]) + 1) % len(order)]
    if last := [word for word in _words(prompt) if word in NUMBER_WORDS]:
        return NUMBER_WORDS[NUMBER_WORDS.index(last[-1]) + 1]
    if last := re.findall(r"\d+", prompt):
        return str(int(last[-1]) + 1)
    return chr(ord(re.findall(r"\b[A-Z]\b", prompt)[-1]) + 1)


SOLVERS: dict[str, Callable[[str], str]] = {
    "indirect-object": _indirect_object,
    "gendered-pronoun": _pronoun,
    "coloured-object": _colour,
    "docstring-argument": _argument,
    "copying": _copied,
    "two-digit-addition": _sum,
    "successor": _successor,
    "comparative": ADJECTIVES.__getitem__,
}


@pytest.mark.parametrize("name", SOLVERS)
def test_the_target_is_right_and_the_counterfactual_is_in_the_paired_prompt(name: str) -> None:
    for row in TASKS[name].rows:
        assert row.paired is not None
        assert SOLVERS[name](row.prompt) == row.target
        assert SOLVERS[name](row.paired) == row.counterfactual != row.target


def test_a_later_year_is_later_and_the_paired_prompt_begins_before_the_counterfactual() -> None:
    for row in TASKS["greater-than"].rows:
        assert row.paired is not None
        century, start = re.search(r"(\d\d)(\d\d)", row.prompt).groups()  # type: ignore[union-attr]
        _, earliest = re.search(r"(\d\d)(\d\d)", row.paired).groups()  # type: ignore[union-attr]
        assert row.prompt.endswith(century)
        assert int(earliest) < int(row.counterfactual or "") < int(start) < int(row.target) < 100


@pytest.mark.parametrize(
    ("name", "inverse"), [("plural-singular", "singular-plural"), ("past-present", "present-past")]
)
def test_inverse_pairs_are_those_of_the_other_task(name: str, inverse: str) -> None:
    other = builtin_tasks()[inverse]
    forward = {(row.target, row.prompt) for row in other.rows}  # type: ignore[attr-defined]
    for row in TASKS[name].rows:
        assert (row.prompt, row.target) in forward
        assert (row.paired, row.counterfactual) in forward
    assert len(TASKS[name].rows) == len({prompt for prompt, _ in forward})


@pytest.mark.parametrize("name", TASKS)
def test_a_pair_has_the_same_template_and_stays_in_its_split(name: str) -> None:
    task = TASKS[name]
    splits = task.split(0)
    train, test = ({row.prompt for row in splits[split]} for split in ("train", "test"))
    paired = [{row.paired for row in splits[split]} for split in ("train", "test")]
    assert not train & test
    assert not paired[0] & test
    assert not paired[1] & train
    assert not paired[0] & paired[1]
    for row in task.rows:
        assert row.paired is not None
        alike = len(_words(row.paired)) == len(_words(row.prompt))
        assert alike or row.prompt == "coffee makers", "no other plural held out is two words"


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("indirect-object", lambda row: {row.target, row.counterfactual}),
        ("gendered-pronoun", lambda row: set(_words(row.prompt)) & NAMES),
        ("coloured-object", lambda row: set(re.findall(r"a \w+ (\w+)", row.prompt))),
        ("docstring-argument", lambda row: set(_words(row.prompt.split("(self, ")[1].split(")")[0]))),
        ("copying", lambda row: set(_words(row.prompt.split(". Again")[0]))),
        ("two-digit-addition", lambda row: {row.target, row.counterfactual}),
        ("successor", lambda row: {row.target, row.counterfactual}),
        ("greater-than", lambda row: set(re.findall(r"The (\w+)|(\d\d)\d\d", row.prompt))),
        ("plural-singular", lambda row: {row.prompt, row.paired}),
        ("past-present", lambda row: {row.prompt, row.paired}),
        ("comparative", lambda row: {row.prompt, row.paired}),
    ],
)
def test_what_is_held_out_is_never_shown_in_training(name: str, of: Callable[[Row], set[object]]) -> None:
    splits = TASKS[name].split(0)
    seen, held_out = (set().union(*map(of, splits[split])) for split in ("train", "test"))
    assert seen
    assert held_out
    assert not seen & held_out


def test_a_seed_puts_rows_in_order_and_moves_none_to_the_other_side() -> None:
    task = TASKS["copying"]
    one, other = task.split(0), task.split(1)
    for split in ("train", "test"):
        assert one[split] != other[split]
        assert set(one[split]) == set(other[split])


def test_both_answers_are_as_frequent_where_there_are_two() -> None:
    targets = [row.target for row in TASKS["gendered-pronoun"].rows]
    assert abs(targets.count("she") / len(targets) - 0.5) < 0.05
    first = [_indirect_object(row.prompt) == _words_named(row)[0] for row in TASKS["indirect-object"].rows]
    assert abs(sum(first) / len(first) - 0.5) < 0.05, "ABBA and BABA"


def _words_named(row: Row) -> list[str]:
    return [word for word in _words(row.prompt) if word in NAMES]


def test_guessing_is_among_what_the_prompt_offers(tokenizer: Tokenizer) -> None:
    for name, offered in (("coloured-object", 3), ("docstring-argument", 6), ("copying", 5)):
        examples = TASKS[name].examples(tokenizer, "test")
        assert examples.offered == offered
        assert examples.chance("top") == pytest.approx(1 / offered)
    assert TASKS["indirect-object"].examples(tokenizer, "test", limit=5).chance("pair") == 0.5


def test_content_that_differs_has_another_hash() -> None:
    task = TASKS["comparative"]
    unpaired = tuple(replace(row, paired=None) for row in task.rows)
    hashes = {
        each.content_hash
        for each in (task, replace(task, rows=unpaired), replace(task, n_held_out=30), replace(task, shots=4))
    }
    assert len(hashes) == 4
    assert replace(task, title="Another").content_hash == task.content_hash


def test_a_longer_draw_begins_with_the_shorter() -> None:
    def make(pick: Pick) -> Row:
        return Row(" ".join(pick.some("abcdefgh", 3)), pick.one("xy"))

    assert drawn("task", "train", 50, make)[:20] == drawn("task", "train", 20, make)
    assert drawn("task", "train", 20, make) != drawn("task", "test", 20, make)
    with pytest.raises(ValueError, match="give 336 different rows, not 337"):
        drawn("task", "train", 337, make)


def test_parts_share_nothing_and_leave_nothing_out() -> None:
    parts = parted(range(10))
    assert sorted((*parts["train"], *parts["test"])) == list(range(10))
    assert parts["test"] == (3, 7)
