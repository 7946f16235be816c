"""What too few rows and too few fits say."""

from __future__ import annotations

import pytest

from headscope.core.gating.ability import Ability
from headscope.core.gating.verdict import judge
from headscope.core.statistics.enough import FEWEST_ROWS, enough, few_fits, too_few


def test_twenty_rows_are_enough_and_an_unknown_number_is_as_before() -> None:
    assert [enough(rows) for rows in (0, FEWEST_ROWS - 1, FEWEST_ROWS, None)] == [False, False, True, True]
    assert too_few(12) == "12 held-out rows are too few to tell: 20 are needed."
    assert too_few(1).startswith("One held-out row is too few to tell")


@pytest.mark.parametrize("accuracy", [0.0, 0.5, 1.0])
def test_no_accuracy_of_nineteen_rows_is_a_verdict(accuracy: float) -> None:
    assert judge(accuracy, 0.1, 19) == "too-few"
    assert judge(accuracy, 0.1, 20) != "too-few"
    few, many = Ability(accuracy, 19, 0.1), Ability(accuracy, 20, 0.1)
    assert (few.told, many.told) == (False, True)
    assert few.caution == (
        "19 held-out rows are too few to tell whether the model can do the task: 20 are needed."
    )
    assert many.caution is None


def test_few_fits_are_said_to_be_few() -> None:
    assert few_fits(2) == "Only 2 fits: a role that both give may be missing in the next."
    assert few_fits(4) == "Only 4 fits: a role that all 4 give may be missing in the next."
    assert few_fits(1) == "Only 1 fit: which roles another would give isn't known."
    assert (few_fits(0), few_fits(5)) == (None, None)
