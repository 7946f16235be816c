"""Permuted targets: every row keeps its length and positions, none its own target, and the seed decides."""

from __future__ import annotations

from collections import Counter

import pytest

from headscope.tasks.permuted import permuted
from headscope.tasks.task import Example, Examples
from micro.planted import PlantedTask


def rows(*answers: tuple[int, ...]) -> Examples:
    """Prompts 100, 101, ... with these answers after them."""
    return Examples(
        tuple(
            Example((100 + row, *answer), tuple(range(1, 1 + len(answer))), (row,))
            for row, answer in enumerate(answers)
        ),
        n_left_out=3,
    )


def test_rows_of_equally_many_target_tokens_exchange_theirs() -> None:
    examples = rows((1,), (2, 20), (3,), (4, 40), (5,), (6, 60, 600))
    found = permuted(examples, 0)
    assert found.n_left_out == 3
    for before, after in zip(examples, found, strict=True):
        assert (after.tokens[0], after.targets, len(after.tokens)) == (
            before.tokens[0], before.targets, len(before.tokens),
        )  # fmt: skip
        if before.tokens[0] != 105:
            assert after.target_ids != before.target_ids
        assert after.counterfactual is not None
        giver = examples[after.counterfactual[0]]
        assert after.target_ids == giver.target_ids
    assert found[5] == examples[5], "alone of its length"
    assert Counter(after.target_ids for after in found) == Counter(each.target_ids for each in examples)


def test_the_seed_decides() -> None:
    examples = rows(*((token,) for token in range(30)))
    assert permuted(examples, 1) == permuted(examples, 1) != permuted(examples, 2)


@pytest.mark.parametrize("seed", range(5))
def test_equal_targets_may_meet_so_that_wrong_is_no_rule(seed: int) -> None:
    """With two answers, forbidding one's own would make every target the other one."""
    examples = rows(*((row % 2,) for row in range(60)))
    kept = sum(a.target_ids == b.target_ids for a, b in zip(examples, permuted(examples, seed), strict=True))
    assert 10 < kept < 50


def test_in_induction_the_second_copy_is_another_rows() -> None:
    examples = PlantedTask().examples(None, "train")
    for before, after in zip(examples, permuted(examples, 0), strict=True):
        first = before.tokens[: before.targets[0]]
        assert after.tokens[: before.targets[0]] == first
        assert after.target_ids != before.target_ids
