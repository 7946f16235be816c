"""The preset ``authors``: what their code does, end to end on the bundled model."""

from __future__ import annotations

import numpy as np
import pytest

from analyses.circuit_runs import two_layer
from headscope.analyses.base import Spec
from headscope.analyses.chg import CHG
from headscope.analyses.chg.plan import groups
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.chg.rows import without_bos
from headscope.analyses.chg.schema import PRESETS, ChgParams
from headscope.analyses.in_place import compute
from headscope.errors import Invalid
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.task import Example, Examples

TASK = TaskCatalogue([]).get("induction")
SMALL = {"seeds": 2, "steps": 2, "batch_size": 4, "n_train": 12, "n_test": 4, "check_closed": False}
ALONE = {"clip_over", "batches", "autocast", "bos"}


def test_it_is_the_papers_size_with_the_codes_ways() -> None:
    authors, paper = ChgParams(**PRESETS["authors"]), ChgParams(**PRESETS["paper"])
    assert (authors.seeds, authors.steps, authors.batch_size) == (paper.seeds, paper.steps, paper.batch_size)
    assert {authors.phase0_lr_start, authors.phase0_lr_end, authors.lr_start, authors.lr_end} == {1.0}
    assert (authors.clip_over, authors.batches, authors.autocast) == ("all", "shared", True)
    assert (authors.demonstrations, authors.pool_sets, authors.shots) == ("fixed", 10, 1)


def test_settings_of_yesterday_keep_their_id() -> None:
    assert not ALONE & set(ChgParams.identifying(ChgParams().model_dump(mode="json")))
    assert set(ChgParams.identifying(PRESETS["authors"])) >= ALONE


def test_a_run_says_that_a_cpu_has_no_autocast_and_clips_all_seeds_in_one_group() -> None:
    model = two_layer()
    params = ChgParams(**{**PRESETS["authors"], **SMALL, "shots": None, "demonstrations": "own"})
    spec = Spec(params, model.info, TASK)
    assert [group.seeds for group in groups(spec, 0)] == [range(2)]
    found = compute(CHG, spec, model)
    assert isinstance(found, ChgResult)
    assert any(note.startswith("No autocast") for note in found.notes)
    assert np.isfinite(found.g_plus).all()


def test_seeds_cant_be_added_where_gradients_are_clipped_together() -> None:
    model = two_layer()
    first = compute(CHG, Spec(ChgParams(**SMALL, clip_over="all"), model.info, TASK), model)
    more = ChgParams(**{**SMALL, "seeds": 3, "clip_over": "all", "adds_to": "a" * 20})
    with pytest.raises(Invalid, match="clipped as one"):
        CHG.plan(Spec(more, model.info, TASK, {"adds_to": first}))


def test_rows_without_a_bos_lose_one_token() -> None:
    drawn = Examples((Example((1, 5, 6, 7), (2, 3), (9,), (1, 8, 6, 7)), Example((5, 6), (1,))))
    found = without_bos(drawn, 1)
    assert found[0] == Example((5, 6, 7), (1, 2), (9,), (8, 6, 7))
    assert found[1] == drawn[1]
    assert found[0].target_ids == drawn[0].target_ids


def test_a_fixed_pool_is_mixed_in_batches() -> None:
    fixed, pool = ChgParams(demonstrations="fixed"), ChgParams(demonstrations="pool")
    assert fixed.pool == pool.pool == 16
    assert pool.batches_of_sets
    assert not fixed.batches_of_sets
    assert not ChgParams(demonstrations="pool", batches="shared").batches_of_sets
