"""Shuffled labels: none right, none lost, and the question's answer nowhere before it is due."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.tasks.builtin import builtin_tasks
from headscope.tasks.shuffled import LabelPrompts, deranged, label_prompts
from headscope.tasks.task import Row, Task
from headscope.tasks.text import TextTask

SIX = ("singular-plural", "present-past", "capitalize", "country-capital", "antonym", "english-french")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return Catalogue(Settings(data_dir=tmp_path_factory.mktemp("data"))).tokenizer("headscope-2l")


def drawn(task: Task, tokenizer: Tokenizer, shots: int = 5, seed: int = 0, n_ctx: int = 4096) -> LabelPrompts:
    return label_prompts(task, tokenizer, clean=12, shuffled=12, shots=shots, seed=seed, n_ctx=n_ctx)


def read(tokenizer: Tokenizer, tokens: tuple[int, ...]) -> list[tuple[str, str]]:
    """Questions and answers of a prompt, as its text has them; the last is the one that is asked."""
    shown = [token for token in tokens if not tokenizer.is_special(token)]
    text = b"".join(tokenizer.decode_bytes(token) for token in shown).decode()
    blocks = [block.removeprefix("Q: ").split("\nA: ") for block in text.split("\n\n")]
    return [(question, answer) for question, answer in blocks]


@given(st.lists(st.sampled_from("abcde"), min_size=2, max_size=12), st.integers(0, 9))
@settings(max_examples=100, deadline=None)
def test_no_label_stays_where_it_would_be_right(labels: list[str], seed: int) -> None:
    order = deranged(f"key {seed}", labels)
    if max(Counter(labels).values()) * 2 > len(labels):
        assert order is None
        return
    assert order is not None
    assert Counter(order) == Counter(labels)
    assert all(new != old for new, old in zip(order, labels, strict=True))


def test_hard_orders_are_found_without_luck() -> None:
    labels = ["a"] * 8 + ["b"] * 8
    assert deranged("any", labels) == ["b"] * 8 + ["a"] * 8
    assert deranged("any", ["a"]) is None


@pytest.mark.parametrize("name", SIX)
def test_shuffles_never_leak(name: str, tokenizer: Tokenizer) -> None:
    task = builtin_tasks()[name]
    assert isinstance(task, TextTask)
    true = {row.prompt: row.target for row in task.distinct_rows}
    found = drawn(task, tokenizer)
    for example in found.shuffled:
        *shots, (question, answer) = read(tokenizer, example.tokens)
        assert true[question] == answer
        assert len(shots) == 5
        assert all(true[prompt] != label for prompt, label in shots)
        assert Counter(true[prompt] for prompt, _ in shots) == Counter(label for _, label in shots)
        assert all(answer not in shot for shot in shots)
    for example in found.clean:
        *shots, (question, answer) = read(tokenizer, example.tokens)
        assert true[question] == answer
        assert all(true[prompt] == label for prompt, label in shots)
        assert all(answer not in shot for shot in shots)


def test_clean_questions_are_of_one_split_and_shuffled_ones_of_the_other(tokenizer: Tokenizer) -> None:
    task = builtin_tasks()["singular-plural"]
    assert isinstance(task, TextTask)
    splits = {name: {row.prompt for row in rows} for name, rows in task.split(3).items()}
    found = drawn(task, tokenizer, seed=3)
    for examples, split in ((found.clean, "train"), (found.shuffled, "test")):
        for example in examples:
            *shots, (question, _) = read(tokenizer, example.tokens)
            assert question in splits["train" if split == "train" else "test"]
            assert {prompt for prompt, _ in shots} <= splits["train"]
    assert drawn(task, tokenizer, seed=3) == found
    assert drawn(task, tokenizer, seed=4) != found


def rows(*pairs: tuple[str, str]) -> TextTask:
    return TextTask("mine", "Mine", tuple(Row(*pair) for pair in pairs))


def test_too_few_labels_are_refused_with_the_numbers(tokenizer: Tokenizer) -> None:
    two = rows(*((f"word {i}", "yes" if i % 2 else "no") for i in range(40)))
    with pytest.raises(Invalid, match=r"12 prompts of task mine .* 2 different answers") as caught:
        drawn(two, tokenizer)
    assert caught.value.code == "few-labels"
    alike = rows(*((f"w {i}", "same" if i > 3 else f"a {i}") for i in range(30)))
    with pytest.raises(Invalid, match=r"\d training rows without the answer 'same'; 5 in-context"):
        drawn(alike, tokenizer)


def test_tasks_without_labels_and_without_one_place_are_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(Invalid, match="rule-aba is drawn from the vocabulary"):
        drawn(builtin_tasks()["rule-aba"], tokenizer)
    with pytest.raises(Invalid, match="1 in-context examples have no labels to exchange"):
        drawn(builtin_tasks()["antonym"], tokenizer, shots=1)
    task = builtin_tasks()["singular-plural"]
    assert isinstance(task, TextTask)
    loose = replace(task, template="{prompt} {target}")
    with pytest.raises(Invalid, match=r"24 prompts of task singular-plural end with \d+ different tokens"):
        drawn(loose, tokenizer)
    with pytest.raises(Invalid, match="fits the model's context of 8 tokens"):
        drawn(task, tokenizer, n_ctx=8)
