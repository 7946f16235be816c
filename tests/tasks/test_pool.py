"""In-context examples from a pool: rows of a set begin alike, none is shown its own answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from headscope.core.model.cost import shared
from headscope.core.model.packing import pack
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.builtin import builtin_tasks
from headscope.tasks.task import Example, Row
from headscope.tasks.text import TextTask

PLURALS = builtin_tasks()["singular-plural"]
ABA = builtin_tasks()["rule-aba"]


def _text(tokenizer: Tokenizer, example: Example) -> str:
    return b"".join(tokenizer.decode_bytes(token) for token in example.tokens[1:]).decode()


def test_a_row_has_the_examples_of_its_set_and_never_itself(without_bos: Tokenizer) -> None:
    examples = PLURALS.examples(without_bos, "train", shots=5, pool=7)
    asked = [b"".join(map(without_bos.decode_bytes, each.tokens)).decode() for each in examples]
    begun: dict[int | None, set[str]] = {}
    for example, text in zip(examples, asked, strict=True):
        *shown, mine = text.split("\n\n")
        begun.setdefault(example.pool_set, set()).add("\n\n".join(shown))
        assert len(shown) == 5
        assert mine not in shown
    assert {len(beginnings) for beginnings in begun.values()} == {1}
    assert len({text for texts in begun.values() for text in texts}) == 7


def test_sets_have_as_many_rows_and_all_rows_are_there(tokenizer: Tokenizer) -> None:
    pooled = PLURALS.examples(tokenizer, "train", shots=5, pool=16)
    sizes = Counter(pooled.pool_sets).values()
    assert len(sizes) == 16
    assert max(sizes) - min(sizes) <= 2
    own = PLURALS.examples(tokenizer, "train", shots=5)
    assert [each.target_ids for each in pooled] == [each.target_ids for each in own]
    assert own.pool_sets is None


def test_held_out_rows_and_rows_without_examples_are_as_ever(tokenizer: Tokenizer) -> None:
    for task in (PLURALS, ABA):
        for split, shots in (("test", 3), ("train", 0)):
            own = task.examples(tokenizer, split, shots=shots, limit=20)  # type: ignore[arg-type]
            assert task.examples(tokenizer, split, shots=shots, limit=20, pool=4) == own  # type: ignore[arg-type]


def test_a_batch_of_one_set_shares_its_beginning(tokenizer: Tokenizer) -> None:
    def nodes(examples: list[Example]) -> int:
        lines = sorted((0, list(example.tokens[:-1])) for example in examples)
        return len(pack(lines, [(row, 1) for row in range(len(lines))]).tokens)

    pooled = PLURALS.examples(tokenizer, "train", shots=5, pool=16)
    one_set = [example for example in pooled if example.pool_set == 3][:8]
    own = list(PLURALS.examples(tokenizer, "train", shots=5, limit=8))
    assert nodes(own) > 3 * nodes(one_set)


def test_the_sets_are_the_seeds(tokenizer: Tokenizer) -> None:
    one, same, other = (
        PLURALS.examples(tokenizer, "train", shots=2, pool=4, seed=seed, limit=9) for seed in (0, 0, 1)
    )
    assert one == same != other
    more = PLURALS.examples(tokenizer, "train", shots=4, pool=4, limit=1)
    assert shared((0, one[0].tokens), (0, more[0].tokens)) > 5, "with more shots the first stay the same"


def test_a_rules_lines_are_shared_and_hold_none_of_what_is_asked(tokenizer: Tokenizer) -> None:
    examples = ABA.examples(tokenizer, "train", shots=4, pool=5, limit=60)
    assert set(Counter(examples.pool_sets)) == set(range(5))
    texts = [_text(tokenizer, example).split("\n") for example in examples]
    by_set = sorted(zip(examples.pool_sets or (), texts, strict=True))
    for (one, before), (other, after) in pairwise(by_set):
        assert (before[:-1] == after[:-1]) == (one == other)
    for *lines, question in texts:
        assert not set(question.split("^")) & {item for line in lines for item in line.split("^")}
        assert all(a == c != b for a, b, c in (line.split("^") for line in [*lines, question]))


def test_what_cannot_be_shared_is_refused(tokenizer: Tokenizer) -> None:
    few = TextTask("few", "Few", tuple(Row(f"q{n}", f"a{n}") for n in range(8)))
    with pytest.raises(Invalid, match="Each of the 1 sets") as error:
        few.examples(tokenizer, "train", shots=4, pool=1)
    assert error.value.code == "too-few-rows"
    for sets in (0, 1025):
        with pytest.raises(Invalid, match=f"{sets} sets") as error:
            few.examples(tokenizer, "train", shots=1, pool=sets)
        assert error.value.code == "pool"


def test_guessing_counts_as_before_with_a_pool(tokenizer: Tokenizer) -> None:
    task = builtin_tasks()["copying"]
    assert isinstance(task, TextTask)
    pooled = replace(task, shots=1).examples(tokenizer, "train", pool=4, limit=20)
    assert pooled.offered == 5
    assert pooled.pool_sets is not None
