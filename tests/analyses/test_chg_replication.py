"""Whether roles replicate: what a run's result, figure, table and headline say of planted shares."""

from __future__ import annotations

import numpy as np
import pytest

from figures.results import model
from headscope.analyses import figures
from headscope.analyses.chg.result import QUANTITIES, ChgResult, headline
from headscope.core.gating.roles import NEEDED
from headscope.core.statistics.replication import LEANS, REPLICATES, UNDECIDED, VERDICTS, replication
from services.results import made

RNG = np.random.default_rng(0)


def run_of(needed: np.ndarray, harmful: np.ndarray, *, failed: int = 0) -> ChgResult:
    """A run whose heads have exactly these roles, [seed, layer, head]; the first seeds failed."""
    g_minus = np.where(needed, 0.9, 0.1).astype(np.float32)
    g_plus = np.where(harmful, 0.1, 0.9).astype(np.float32)
    for gates in (g_minus, g_plus):
        gates[:failed] = np.nan
    n, layers, heads = needed.shape
    made_up = made(
        analysis="chg",
        schema_version=2,
        params={"seeds": n, "steps": 1},
        model=model(layers, heads, heads),
        task={"name": "pairs", "title": "Pairs"},
        seeds=tuple(range(n)),
        arrays={
            "g_zero": g_plus,
            "g_plus": g_plus,
            "g_minus": g_minus,
            **{f"loss_{phase}": np.zeros((n, 1), np.float32) for phase in ("zero", "plus", "minus")},
            "heldout_accuracy": np.ones((4, n), np.float32),
            "heldout_log_probability": np.zeros((4, n), np.float32),
        },
        values={},
    )
    assert isinstance(made_up, ChgResult)
    return made_up


def drawn(fits: int, rate: np.ndarray, **more: int) -> ChgResult:
    """A run in which heads are needed as often as ``rate`` says, and a tenth as often harmful."""
    needed, harmful = (RNG.random((fits, *rate.shape)) < each for each in (rate, rate / 10))
    return run_of(needed, harmful, **more)


RATE = RNG.beta(0.44, 0.7, (30, 9))


def test_verdicts_are_those_of_the_counts_of_finished_fits() -> None:
    run = drawn(9, RATE, failed=2)
    found = run.replication()
    count = (run.g_minus[2:] >= 0.5).sum(axis=0)
    expected = replication(count, 7)
    np.testing.assert_array_equal(found["needed"].count, count)
    np.testing.assert_array_equal(found["needed"].verdict, expected.verdict)
    assert run.held(0.5)["needed"].shape == (7, 30, 9)


def test_verdicts_follow_the_threshold_without_a_fit() -> None:
    run = drawn(10, RATE)
    for threshold, role in ((0.95, "needed"), (0.95, "harmful")):
        assert (run.replication(threshold)[role].count == 0).all()
    both = run.codes(0.1)
    assert np.isin(both, (NEEDED, 3)).all(), "at 0.1 each gate of 0.1 counts as needed"
    assert run.replication(0.1)["needed"].replicates.all()
    at = {each: figures.build(run, "replication", each)["layout"]["meta"] for each in (0.1, 0.5)}
    assert at[0.1]["replication"]["needed"]["replicating"] == 1
    assert at[0.5]["verdicts"] != at[0.1]["verdicts"]


def test_a_heads_verdict_is_the_same_in_result_table_figure_and_grid() -> None:
    run = drawn(10, RATE)
    found = run.replication()
    table = figures.table(run, "roles")
    names = [column["name"] for column in table["columns"]]
    column = {name: [row[names.index(name)] for row in table["rows"]] for name in names}
    for role in ("needed", "harmful", "irrelevant"):
        assert column[f"verdict_{role}"] == np.array(VERDICTS)[found[role].verdict].reshape(-1).tolist()
        for name, values in (
            (f"held_{role}", found[role].share),
            (f"rate_{role}", found[role].rate),
            (f"rate_{role}_low", found[role].low),
            (f"rate_{role}_high", found[role].high),
        ):
            np.testing.assert_allclose(column[name], values.reshape(-1), rtol=1e-6)
    meta = figures.build(run, "replication")["layout"]["meta"]
    surest = np.maximum.reduce([one.verdict for one in found.values()])
    np.testing.assert_array_equal([[int(digit) for digit in row] for row in meta["verdicts"]], surest)
    assert figures.build(run, "roles")["layout"]["meta"]["verdicts"] == meta["verdicts"]
    by_count = meta["replication"]["needed"]
    for count, verdict in zip(found["needed"].count.flat, found["needed"].verdict.flat, strict=True):
        assert by_count["verdict"][count] == VERDICTS[verdict]
    assert {UNDECIDED, LEANS, REPLICATES} == set(np.unique(surest))


def test_five_fits_cannot_say_so_and_the_page_says_how_many_could() -> None:
    meta = figures.build(drawn(5, RATE), "replication")["layout"]["meta"]
    more = meta["more_seeds"]
    assert meta["advice"] == f"Five fits can’t give “replicates”: {more} more would, if they agree."
    assert meta["replication"]["needed"]["replicating"] == 0
    assert meta["replication"]["needed"]["more"][5] == more
    ten = figures.build(drawn(10, RATE), "replication")["layout"]["meta"]
    assert "can’t" not in ten["advice"]
    assert ten["replication"]["needed"]["replicating"] > 0


def test_so_many_more_fits_that_agree_do_give_the_verdict() -> None:
    """The suggestion, followed: heads of rate 1 replicate then, and one fit earlier none does."""
    rate = np.where(RNG.random((30, 9)) < 0.2, 1.0, 0.15)
    fits = RNG.random((64, 30, 9)) < rate
    none = np.zeros_like(fits)
    more = figures.build(run_of(fits[:4], none[:4]), "replication")["layout"]["meta"]["more_seeds"]
    then = run_of(fits[: 4 + more], none[: 4 + more]).replication()["needed"]
    assert then.replicates.any()
    assert (rate[then.replicates] == 1).mean() > 0.95


@pytest.mark.parametrize("fits", [1, 2])
def test_a_few_fits_decide_nothing(fits: int) -> None:
    """Nor does a single one in which every head has the role."""
    needed = np.ones((fits, 2, 4), bool) & ((np.arange(4) < 2) | (fits == 1))
    run = run_of(needed, ~needed & (np.arange(4) < 3))
    meta = figures.build(run, "replication")["layout"]["meta"]
    assert "can’t give “replicates”" in meta["advice"]
    assert meta["more_seeds"] >= 1
    assert "2" not in "".join(meta["verdicts"])


def test_without_a_finished_fit_there_is_a_figure_that_says_so() -> None:
    run = drawn(2, np.full((2, 4), 0.5), failed=2)
    meta = figures.build(run, "replication")["layout"]["meta"]
    assert meta["advice"] == "No seed has a fit."
    assert meta["more_seeds"] is None
    assert {row[-1] for row in figures.table(run, "replication")["rows"]} <= {None, *range(65)}
    assert headline(run)["replicating_needed"] is None


def test_the_headline_tells_replication_with_words_and_units() -> None:
    run = drawn(10, RATE)
    numbers = headline(run)
    assert numbers["replicating_needed"] == run.replication()["needed"].replicates.mean() > 0
    assert numbers["replicating_needed"] <= numbers["any_needed"]
    assert 0.8 < numbers["split_half_needed"] <= 1
    assert headline(drawn(3, RATE))["split_half_needed"] is None
    assert list(numbers) == [name for name in QUANTITIES if name in numbers]
