"""The gates that runs offer, whoever fitted them, and taking one of them to keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from sqlalchemy.orm import Session

from figures.gates_samples import cchg
from figures.results import result as gating
from figures.samples import sufficiency
from headscope.analyses import ANALYSES
from headscope.analyses.base import Result
from headscope.analyses.request import Request
from headscope.errors import HeadscopeError, NotFound, Refused
from headscope.store import gates, run_gates, runs
from headscope.store.session import Store
from headscope.store.tables import Run
from services.results import changed

Make = Callable[..., Request]
CHG = "a" * 20


def add(session: Session, make: Make, run_id: str, result: Result, day: int = 1, **changes: Any) -> Run:
    """A finished run with this result; ``day`` says which is the newest."""
    request = make(run_id, analysis=result.analysis, model=result.model, **changes)
    runs.add_finished(
        session, request, result, {}, origin="local", code_version="1", machine=None, wall_seconds=None,
        finished_at=datetime(2026, 1, day, tzinfo=UTC),
    )  # fmt: skip
    return runs.get(session, run_id)


def offered(session: Session, run: Run, **asked: Any) -> dict[str, np.ndarray[Any, Any]]:
    found = run_gates.of_run(session, run, runs.result(session, run.id), **asked)
    assert all(each.title and each.reading for each in found)
    return {each.name: each.gates for each in found}


def test_a_gating_run_offers_its_mean_and_what_is_cut_from_it(store: Store, request_for: Make) -> None:
    result = gating()
    plus, minus = (result.arrays[name].astype("f8").mean(0) for name in ("g_plus", "g_minus"))
    with store.session() as session:
        found = offered(session, add(session, request_for, CHG, result), threshold=0.7)
    assert list(found) == ["plus", "minus", "facilitating", "without-harmful", "always", "random"]
    np.testing.assert_allclose(found["plus"], plus, atol=1e-6)
    np.testing.assert_array_equal(found["facilitating"], minus >= 0.7)
    np.testing.assert_array_equal(found["without-harmful"], 1 - plus < 0.7)
    np.testing.assert_array_equal(found["always"], (result.arrays["g_minus"] >= 0.7).all(0))
    assert found["random"].sum() == found["facilitating"].sum()


def test_the_random_heads_are_the_runs_own(store: Store, request_for: Make) -> None:
    with store.session() as session:
        first, other = (add(session, request_for, run_id, gating()) for run_id in (CHG, "b" * 20))
        drawn, again, others = (
            offered(session, run, threshold=0.3)["random"] for run in (first, first, other)
        )
    assert drawn.sum() == others.sum() > 0
    np.testing.assert_array_equal(drawn, again)
    assert (drawn != others).any()


def test_a_contrastive_run_offers_each_of_its_fits(store: Store, request_for: Make) -> None:
    result = cchg()
    with store.session() as session:
        found = offered(session, add(session, request_for, CHG, result, task=None), seed=1)
    np.testing.assert_array_equal(found["named-open"], result.arrays["g_named_open"][1].astype("f4"))
    np.testing.assert_array_equal(found["named-open-rounded"], found["named-open"] >= 0.5)
    assert len(found) == 4


def test_a_gating_run_offers_what_later_runs_made_of_it(store: Store, request_for: Make) -> None:
    """The newest one of each analysis that found something; those of other runs count for nothing."""
    enough = sufficiency()
    none = changed(enough, values={**enough.values, "fewest": None})
    wider = changed(enough, arrays={**enough.arrays, "subset": np.ones((2, 4), "f4")})
    with store.session() as session:
        run = add(session, request_for, CHG, gating())
        add(session, request_for, "s" * 20, wider, 2, params={"run": "b" * 20})
        assert "sufficient" not in offered(session, run)
        add(session, request_for, "t" * 20, enough, 3, params={"run": CHG})
        np.testing.assert_array_equal(offered(session, run)["sufficient"], enough.arrays["subset"])
        add(session, request_for, "u" * 20, none, 4, params={"run": CHG})
        np.testing.assert_array_equal(offered(session, run)["sufficient"], enough.arrays["subset"])
        add(session, request_for, "v" * 20, wider, 5, params={"run": CHG})
        assert list(offered(session, run))[-2:] == ["sufficient", "random"]
        assert offered(session, run)["sufficient"].all()


def test_a_contrastive_run_that_sets_it_beside_adds_nothing_to_it(store: Store, request_for: Make) -> None:
    beside = cchg()
    with store.session() as session:
        run = add(session, request_for, CHG, replace(gating(), model=beside.model))
        alone = list(offered(session, run))
        add(session, request_for, "c" * 20, beside, day=2, task=None, params={"gating": CHG})
        assert list(offered(session, run)) == alone


def test_a_run_of_another_model_offers_this_one_nothing(store: Store, request_for: Make) -> None:
    enough = sufficiency()
    elsewhere = changed(enough, model=replace(enough.model, name="other"))
    with store.session() as session:
        run = add(session, request_for, CHG, gating())
        add(session, request_for, "s" * 20, elsewhere, 2, params={"run": CHG})
        assert "sufficient" not in offered(session, run)


@pytest.mark.parametrize("analysis", [name for name, each in ANALYSES.items() if each.gates is None])
def test_an_analysis_without_gates_names_those_with(store: Store, request_for: Make, analysis: str) -> None:
    request = request_for(CHG, analysis=analysis, title=ANALYSES[analysis].title)
    with store.session() as session:
        run = runs.create_or_get(session, request, queue="cpu").run
        with pytest.raises(Refused) as error:
            run_gates.of_run(session, run, gating())
    assert error.value.code == "no-gates"
    assert ANALYSES[analysis].title.lower() in error.value.message
    assert "chg, cchg" in error.value.remedy


def test_a_run_of_an_analysis_that_is_no_more_has_no_gates(store: Store, request_for: Make) -> None:
    with store.session() as session:
        run = runs.create_or_get(session, request_for(CHG, analysis="gone"), queue="cpu").run
        with pytest.raises(Refused) as error:
            run_gates.of_run(session, run, gating())
    assert error.value.code == "no-gates"


@pytest.mark.parametrize("make", [gating, cchg])
def test_fits_that_all_failed_offer_nothing(
    store: Store, request_for: Make, make: Callable[[], Result]
) -> None:
    result = make()
    lost = {
        name: np.full_like(each, np.nan) if name.startswith("g_") else each
        for name, each in result.arrays.items()
    }
    with store.session() as session:
        run = add(session, request_for, CHG, changed(result, arrays=lost))
        with pytest.raises(Refused) as error:
            offered(session, run)
        assert error.value.code == "no-gates"
        for seed in (0, 99):
            with pytest.raises((NotFound, Refused)):
                offered(session, run, seed=seed)


# -- one to keep -------------------------------------------------------------------------------------


def test_what_is_taken_says_where_it_is_from(store: Store, request_for: Make) -> None:
    result = gating()
    with store.session() as session:
        run = add(session, request_for, CHG, result, task="pairs")
        mean = run_gates.take(session, run, result.model, "minus")
        one = run_gates.take(session, run, result.model, "minus", seed=2)
        assert mean.name == "G−, pairs, mean over seeds"
        assert mean.origin == f"run {CHG}, minus, mean over seeds"
        assert one.name == "G−, pairs, seed 2"
        assert (one.model, one.revision) == (result.model.name, result.model.revision)
        np.testing.assert_array_equal(one.gates, result.arrays["g_minus"][2])
        kept = gates.add(session, one).row.id
        np.testing.assert_array_equal(gates.load(session, kept).gates, one.gates)


def test_one_alone_needs_no_name_and_is_no_mean(store: Store, request_for: Make) -> None:
    enough = sufficiency()
    with store.session() as session:
        run = add(session, request_for, "s" * 20, enough, task=None, params={"run": CHG})
        taken = run_gates.take(session, run, enough.model)
    np.testing.assert_array_equal(taken.gates, enough.arrays["subset"])
    assert "mean over seeds" not in taken.name + taken.origin


def test_of_a_single_seed_there_is_no_mean(store: Store, request_for: Make) -> None:
    result = gating(seeds=1)
    with store.session() as session:
        run = add(session, request_for, CHG, result, task="pairs")
        assert run_gates.take(session, run, result.model, "plus").name == "G+, pairs"


@pytest.mark.parametrize(
    ("asked", "status", "code", "says"),
    [
        ({}, 422, "preset-missing", "plus, minus"),
        ({"preset": "all"}, 404, "unknown-preset", "plus, minus"),
        ({"preset": "plus", "seed": 99}, 404, "unknown-seed", "0, 1, 2"),
    ],
)
def test_what_can_not_be_taken(
    store: Store, request_for: Make, asked: dict[str, Any], status: int, code: str, says: str
) -> None:
    result = gating()
    with store.session() as session:
        run = add(session, request_for, CHG, result)
        with pytest.raises(HeadscopeError) as error:
            run_gates.take(session, run, result.model, **asked)
    assert (error.value.status, error.value.code) == (status, code)
    assert says in str(error.value)


def test_gates_of_an_unfinished_run_or_of_other_weights(store: Store, request_for: Make) -> None:
    result = gating()
    with store.session() as session:
        waiting = runs.create_or_get(session, request_for("b" * 20), queue="cpu").run
        with pytest.raises(Refused, match="it is queued") as unfinished:
            run_gates.take(session, waiting, result.model, "plus")
        run = add(session, request_for, CHG, result)
        with pytest.raises(HeadscopeError, match="other weights of tiny") as changed_since:
            run_gates.take(session, run, replace(result.model, revision="r2"), "plus")
    assert (unfinished.value.code, changed_since.value.code) == ("run-not-done", "other-model")
