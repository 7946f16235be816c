"""An analysis run here and now: each piece sees what it needs, progress is of the whole, a stop stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest
from jaxtyping import Int

from headscope.analyses.base import (
    Analysis,
    Context,
    Estimate,
    Figure,
    Kept,
    Params,
    Piece,
    Pieces,
    Progress,
    Result,
    Spec,
)
from headscope.analyses.columns import table
from headscope.analyses.in_place import compute
from headscope.core.model.head_model import HeadModel
from headscope.errors import Cancelled, NotFound
from micro.model import random_model


class Steps(Params):
    """How many pieces."""

    steps: int = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Counted(Result):
    """What each piece answered."""

    NAME: ClassVar[str] = "counted"

    numbers: Int[np.ndarray, " step"]


def number(step: int, context: Context) -> Kept:
    """One more than the piece before; what other pieces answered can't be seen."""
    assert set(context.pieces) == ({f"step/{step - 1}"} if step else set())
    context.checkpoint()
    context.report(Progress(f"piece {step}", "", 1, 2, 0.5, 0.5))
    before = int(context.pieces[f"step/{step - 1}"]["number"]) if step else 0
    return {"number": before + 1, "heads": context.model.info.n_heads}


def plan(spec: Spec[Steps]) -> Sequence[Piece]:
    return [
        Piece(
            f"step/{step}",
            f"Step {step}",
            partial(number, step),
            (f"step/{step - 1}",) if step else (),
            weight=step + 1,
        )
        for step in range(spec.params.steps)
    ]


def assemble(spec: Spec[Steps], pieces: Pieces) -> Counted:
    numbers = [pieces[piece.key]["number"] for piece in plan(spec)]
    return Counted(**Counted.header(spec, seeds=(4,)), numbers=np.array(numbers))


FIGURES = tuple(
    Figure[Counted](
        name,
        lambda result, view: {"data": [], "layout": {}},
        lambda result, view: table([("number", "number", "", result.numbers)]),
        of_whole_run=whole,
    )
    for name, whole in (("first", False), ("second", True))
)

COUNTED = Analysis(
    title="Counted",
    summary="Counts.",
    params=Steps,
    result=Counted,
    estimate=lambda spec, tokenizer=None, throughput=None: Estimate(1.0, 1, "a toy"),
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=lambda result, threshold=0.5: {"last": int(result.numbers[-1])},
    quantities={},
)


def model() -> HeadModel:
    found: Any = random_model()
    return found  # type: ignore[no-any-return]


def spec(steps: int = 3) -> Spec[Steps]:
    return Spec(Steps(steps=steps), random_model().info)


def test_pieces_are_computed_in_order_each_from_what_it_needs() -> None:
    result = compute(COUNTED, spec(), model())
    assert result.numbers.tolist() == [1, 2, 3]
    assert (result.analysis, result.schema_version, result.params) == ("counted", 1, {"steps": 3})
    assert (result.seeds, result.task, result.model) == ((4,), None, random_model().info)


def test_progress_is_of_the_whole_run_and_never_falls() -> None:
    told: list[Progress] = []
    compute(COUNTED, spec(), model(), report=told.append)
    assert [each.fraction for each in told] == pytest.approx(
        [0.5 / 6, 1 / 6, (1 + 1) / 6, 3 / 6, (3 + 1.5) / 6, 1]
    )
    assert [each.phase for each in told][::2] == ["piece 0", "piece 1", "piece 2"]
    assert [each.phase for each in told][1::2] == ["Step 0", "Step 1", "Step 2"]
    assert told[0].loss == 0.5


def test_a_stop_ends_it_at_the_next_checkpoint() -> None:
    told: list[Progress] = []
    asked = 0

    def checkpoint() -> None:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise Cancelled("Stopped.", "Start it again.")

    with pytest.raises(Cancelled):
        compute(COUNTED, spec(), model(), checkpoint=checkpoint, report=told.append)
    assert told[-1].phase == "Step 0"


def test_a_piece_may_not_need_what_comes_after_it() -> None:
    backwards = replace(COUNTED, plan=lambda spec: plan(spec)[::-1])
    with pytest.raises(KeyError, match="step/1"):
        compute(backwards, spec(), model())


def test_an_analysis_has_the_name_and_version_of_its_result() -> None:
    assert (COUNTED.name, COUNTED.version) == ("counted", 1)
    assert COUNTED.whole.name == "second"
    assert replace(COUNTED, figures=FIGURES[:1]).whole.name == "first"
    assert COUNTED.figure("first") is FIGURES[0]
    with pytest.raises(NotFound, match="first, second") as unknown:
        COUNTED.figure("third")
    assert unknown.value.code == "unknown-figure"
