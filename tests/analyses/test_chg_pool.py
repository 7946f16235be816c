"""Gating with in-context examples from a pool: what is drawn, what is said, what stays as it was."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from analyses.gating_runs import PARAMS, run, spec_of
from headscope.analyses.chg.earlier import taken_over
from headscope.analyses.chg.phases import phase
from headscope.analyses.chg.schema import PRESETS, ChgParams
from headscope.analyses.request import resolve
from headscope.errors import Invalid
from headscope.tasks.task import Examples, Split
from micro.planted import PlantedTask, planted_model

POOLED = PARAMS.model_copy(update={"demonstrations": "pool", "pool_sets": 4})


@dataclass(frozen=True)
class SharedTask(PlantedTask):
    """The planted task, its training rows in as many sets as are asked for."""

    def examples(self, tokenizer: Any, split: Split, *, pool: int | None = None, **drawing: Any) -> Examples:
        found = super().examples(tokenizer, split, **drawing)
        if pool is None or split == "test":
            return found
        items = tuple(replace(example, pool_set=n % pool) for n, example in enumerate(found))
        return Examples(items)


def test_ids_of_runs_from_before_stay() -> None:
    model, task = planted_model().info, PlantedTask()
    before = resolve("chg", model, task, None, {"seeds": 2}).id
    assert resolve("chg", model, task, None, {"seeds": 2, "demonstrations": "own"}).id == before
    assert resolve("chg", model, task, None, {"seeds": 2, "demonstrations": "pool"}).id != before


def test_a_pool_is_said_and_held_out_rows_are_as_ever() -> None:
    # That batches are of one set: tests/core/gating/test_fit.py. All rows of the planted task are alike.
    pooled, own = run(POOLED, task=SharedTask()), run(PARAMS, task=SharedTask())
    assert np.isfinite(pooled.g_plus).all()
    assert np.array_equal(run(PARAMS).g_plus, own.g_plus), "without a pool nothing has changed"
    said = " ".join(pooled.notes)
    assert "4 sets of 12 training rows each" in said
    assert "pool" not in " ".join(own.notes)
    assert pooled.heldout_accuracy.shape == own.heldout_accuracy.shape
    assert np.array_equal(pooled.heldout_log_probability[0], own.heldout_log_probability[0])


def test_a_set_smaller_than_a_batch_is_said() -> None:
    params = POOLED.model_copy(update={"pool_sets": 16, "remember": True})
    notes = run(params, task=SharedTask()).notes
    assert any("A set of 3 rows is smaller than a batch" in note for note in notes)
    assert any("No gradients are remembered with a pool" in note for note in notes)


def test_without_in_context_examples_there_is_nothing_to_pool() -> None:
    plain = run(POOLED)
    assert np.array_equal(plain.g_plus, run(PARAMS).g_plus)
    assert any("no in-context examples that a pool could give" in note for note in plain.notes)


def test_a_memory_is_kept_without_a_pool_only() -> None:
    quick = ChgParams.model_validate(PRESETS["quick"])
    assert phase("plus", quick).remembers
    assert not phase("plus", quick.model_copy(update={"demonstrations": "pool"})).remembers


def test_seeds_are_added_to_a_run_that_knew_of_no_pool() -> None:
    earlier = run(PARAMS)
    params = {name: value for name, value in earlier.params.items() if name not in ChgParams.ADDED}
    earlier = replace(earlier, params=params)
    more = PARAMS.model_copy(update={"seeds": 5, "adds_to": "0" * 20})
    assert taken_over(spec_of(more, inputs={"adds_to": earlier})) is earlier
    pooled = more.model_copy(update={"demonstrations": "pool"})
    with pytest.raises(Invalid, match=r"demonstrations \(own there, pool here\)"):
        taken_over(spec_of(pooled, inputs={"adds_to": earlier}))
