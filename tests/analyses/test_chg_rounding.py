"""Where rounding the gates changes what the model gets right, figure, table, note and headline say so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from figures.results import result
from headscope.analyses import figures
from headscope.analyses.chg.result import ChgResult, headline
from headscope.analyses.chg.rounding import sentence


def rounded_to(soft: list[float], hard: list[float]) -> ChgResult:
    """A run of three seeds with these accuracies under G-, and G+ that rounding leaves alone."""
    run = result()
    accuracy = run.heldout_accuracy.copy()
    accuracy[3] = soft
    return replace(
        run,
        heldout_accuracy=accuracy,
        rounded_accuracy=np.stack([accuracy[2], np.array(hard, np.float32)]),
    )


def test_gates_that_work_half_open_are_called_so_with_the_numbers() -> None:
    run = rounded_to([0.74, 0.72, 0.73], [0.16, 0.72, 0.74])
    meta = figures.build(run, "heldout")["layout"]["meta"]
    assert meta["caution"].startswith(
        "These gates aren’t a circuit: rounded to open or shut at 0.5, held-out accuracy goes from 74 % to "
        "16 % under G− in the fit that it changes most, from 73 % to 54 % on average."
    )
    assert "G+" not in meta["caution"]
    numbers = headline(run)
    assert numbers["rounding"] == pytest.approx(-0.58)
    assert numbers["accuracy_minus_rounded"] == pytest.approx(0.54)
    assert numbers["accuracy_plus_rounded"] == pytest.approx(numbers["accuracy_plus"])
    table = figures.table(run, "heldout")
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
    hard = [row for row in rows if row["condition"] == "minus, rounded"]
    assert [row["circuit"] for row in hard] == ["no", "yes", "yes"]
    assert hard[0]["change"] == pytest.approx(-0.58)
    assert {row["circuit"] for row in rows if row["condition"] == "minus"} == {""}


def test_gates_that_rounding_leaves_alone_get_no_such_word() -> None:
    run = rounded_to([0.74, 0.72, 0.73], [0.72, 0.7, 0.75])
    assert sentence(run.rounding, 40) is None
    assert "too few to tell" in str(sentence(run.rounding, 12))
    assert "caution" not in figures.build(run, "heldout")["layout"]["meta"]


def test_runs_of_before_say_nothing_of_it() -> None:
    run = replace(result(), rounded_accuracy=None, rounded_log_probability=None)
    assert run.rounding == {}
    assert "rounding" not in headline(run)
    assert {row[-1] for row in figures.table(run, "heldout")["rows"]} == {""}
