"""Examples that fit a context are kept in order, the others counted; and what guessing would get."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import Invalid
from headscope.tasks.fitting import collect
from headscope.tasks.task import Example, Examples

LENGTHS = st.lists(st.integers(2, 12), max_size=30)
LIMITS = st.none() | st.integers(1, 10)


def examples(lengths: list[int]) -> list[tuple[str, Example]]:
    """Of these numbers of tokens, each told from the others by its first token."""
    return [
        (f"row {number}", Example((number, *[0] * (length - 1)), (length - 1,)))
        for number, length in enumerate(lengths)
    ]


@given(LENGTHS, LIMITS, st.none() | st.integers(1, 12))
def test_what_fits_is_kept_in_order_and_the_rest_counted(
    lengths: list[int], limit: int | None, n_ctx: int | None
) -> None:
    drawn = examples(lengths)
    fits = [example for _, example in drawn if n_ctx is None or len(example.tokens) <= n_ctx]
    if drawn and not fits:
        with pytest.raises(Invalid, match=f"context of {n_ctx} tokens") as error:
            collect("mine", drawn, limit=limit, n_ctx=n_ctx)
        assert error.value.code == "too-long"
        assert f"has {min(lengths)}." in error.value.message
        assert f"None of {len(lengths)} examples of task mine" in error.value.message
        return
    found = collect("mine", drawn, limit=limit, n_ctx=n_ctx)
    assert list(found) == fits[:limit]
    if limit is None or len(fits) < limit:
        too_long = [length for length in lengths if n_ctx is not None and length > n_ctx]
        assert (found.n_left_out, found.longest) == (len(too_long), max(too_long, default=0))


def test_nothing_is_drawn_that_nobody_wants() -> None:
    drawn = iter(examples([2, 2, 2, 2]))
    collect("mine", drawn, limit=2, n_ctx=None)
    assert len(list(drawn)) == 2


def test_of_a_hopeless_task_two_hundred_rows_are_tried() -> None:
    drawn = iter(examples([9] * 500))
    with pytest.raises(Invalid, match="None of 200 examples"):
        collect("mine", drawn, limit=None, n_ctx=8)
    assert len(list(drawn)) == 300


def test_one_that_fits_is_hope_enough() -> None:
    found = collect("mine", examples([2, *[9] * 300]), limit=None, n_ctx=8)
    assert (len(found), found.n_left_out, found.longest) == (1, 300, 9)


def test_a_long_row_is_named_by_its_beginning() -> None:
    with pytest.raises(Invalid, match=r"x{59}…") as error:
        collect("mine", [("x" * 200, Example((1, 2, 3), (2,)))], limit=None, n_ctx=2)
    assert "x" * 61 not in error.value.message


@pytest.mark.parametrize("limit", [0, -1])
def test_at_least_one_is_asked_for(limit: int) -> None:
    with pytest.raises(Invalid) as error:
        collect("mine", [], limit=limit, n_ctx=None)
    assert error.value.code == "limit"


def test_examples_are_a_sequence() -> None:
    found = collect("mine", examples([2, 3, 4]), limit=None, n_ctx=None)
    assert [len(example.tokens) for example in found[1:]] == [3, 4]
    assert found[-1].target_ids == (0,)
    assert len(found) == 3


# -- guessing --------------------------------------------------------------------------------------------


def answering(*answers: tuple[int, ...]) -> Examples:
    return Examples(tuple(Example((9, *answer), tuple(range(1, 1 + len(answer)))) for answer in answers))


@pytest.mark.parametrize(
    ("answers", "top", "each"),
    [
        ([(1,), (1,), (2,), (3,)], 0.5, 0.5),
        ([(1, 2), (1, 3)], 0.5, 0.5),
        ([(1, 2), (1, 2), (2, 2)], 2 / 3, (0.5 + 0.5 + 1) / 3),
        ([(1,)], 1.0, 1.0),
        ([], 0.0, 0.0),
    ],
)
def test_chance_is_what_the_most_frequent_answer_gets(
    answers: list[tuple[int, ...]], top: float, each: float
) -> None:
    found = answering(*answers)
    assert found.chance("top") == found.chance() == pytest.approx(top)
    assert found.chance("each") == pytest.approx(each)
    assert found.chance("pair") == 0.5


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple), min_size=1, max_size=20))
def test_chance_is_a_share_that_no_constant_guess_beats(answers: list[tuple[int, ...]]) -> None:
    found = answering(*answers)
    for guess in range(4):
        right = [sum(token == guess for token in answer) / len(answer) for answer in answers]
        assert sum(right) / len(right) <= found.chance("each") + 1e-9
    for answer in set(answers):
        assert answers.count(answer) / len(answers) <= found.chance("top") + 1e-9
    assert 0 < found.chance("each") <= 1 + 1e-9
