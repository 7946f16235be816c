"""What gating's agreement rests on: planted correlations, the power to see them, disputes beyond errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from figures.relative_samples import agreement as sample
from headscope.analyses import figures
from headscope.analyses.agreement import AGREEMENT, verdicts
from headscope.analyses.agreement.disagreement import disputed
from headscope.analyses.agreement.methods import Seen, by_gating
from headscope.analyses.agreement.order import NUMBERS, Order, detectable, interval, order, reliability
from headscope.analyses.agreement.result import AgreementResult
from headscope.analyses.agreement.sentence import sentence
from services.results import changed

LAYERS, HEADS = 30, 9
N = LAYERS * HEADS


def correlated(draw: np.random.Generator, rho: float, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    first = draw.normal(size=n)
    return first, rho * first + np.sqrt(1 - rho**2) * draw.normal(size=n)


def measured(effect: np.ndarray, error: float = 0.0) -> Seen:
    shape = (LAYERS, HEADS)
    return Seen(effect.reshape(shape), np.zeros(shape, bool), np.full(shape, error))


def test_a_planted_correlation_is_found_with_its_interval() -> None:
    draw = np.random.default_rng(0)
    within = 0
    for _ in range(100):
        first, second = correlated(draw, 0.5)
        (row,) = order({"gating": measured(first), "left_out": measured(second)})
        found = dict(zip(NUMBERS, row.tolist(), strict=True))
        assert found["rho"] == pytest.approx(spearmanr(first, second).statistic)
        assert found["reliability"] == pytest.approx(1)
        within += found["low"] <= 6 / np.pi * np.arcsin(0.25) <= found["high"]  # rho of normal variables
    assert within >= 88  # of 95 expected: fewer in one of a thousand such trials


@pytest.mark.parametrize("heads", [30, 270])
def test_the_detectable_correlation_is_seen_in_four_of_five_simulated_runs(heads: int) -> None:
    draw = np.random.default_rng(1)
    pearson = 2 * np.sin(np.pi * detectable(heads) / 6)

    def seen(rho: float) -> float:
        found = [spearmanr(*correlated(draw, rho, heads)).statistic for _ in range(1500)]
        return float(np.mean([interval(each, heads)[0] > 0 for each in found]))

    assert seen(pearson) == pytest.approx(0.8, abs=0.045)
    assert seen(0.0) == pytest.approx(0.025, abs=0.015)


def test_errors_weaken_a_correlation_by_the_reliabilities() -> None:
    draw = np.random.default_rng(2)
    true, error = draw.normal(size=4000), 1.0
    noisy = Seen(
        true[None] + draw.normal(0, error, (1, 4000)), np.zeros((1, 4000), bool), np.full((1, 4000), error)
    )
    assert reliability(noisy, draw) == pytest.approx(0.5, abs=0.05)
    first, second = correlated(draw, 0.0)
    (row,) = order({"gating": measured(first, 0.7), "left_out": measured(second, 0.0)})
    found = Order(*row.tolist())
    assert found.detectable_true > 1.1 * found.detectable
    assert np.isnan(reliability(Seen(noisy.effect, noisy.found), draw))


def test_heads_that_truly_agree_are_called_disputed_in_one_of_twenty_at_most() -> None:
    """Worst cases: every head at the very edge of what each method asks for."""
    draw, least, shape = np.random.default_rng(3), 0.1, (LAYERS, HEADS)
    for rate, effect in ((verdicts.SELDOM, least), (verdicts.OFTEN, least)):
        called = []
        for _ in range(20):
            fits = int(draw.integers(3, 21))
            seen = {"gating": by_gating(0.98 * (draw.random((fits, *shape)) < rate), 0.5)}
            for name in ("left_out", "path", "slope", "importance", "direct"):
                error = draw.uniform(0.01, 0.2, shape)
                value = draw.normal(effect, error)
                seen[name] = Seen(value, value > 0, error, verdicts.by_error(value, error, least))
            called.append(len(disputed(seen)) / N)
        assert np.mean(called) <= 0.05


def test_a_difference_beyond_both_errors_is_called_and_one_within_them_isnt() -> None:
    draw, shape = np.random.default_rng(4), (LAYERS, HEADS)
    needed = np.zeros(shape, bool)
    needed[:3] = True
    fits = np.where(needed, 0.97, 0.02) + draw.normal(0, 0.005, (5, *shape))
    error = np.full(shape, 0.02)
    error[2] = 0.5
    value = draw.normal(0, 0.001, shape)
    seen = {
        "gating": by_gating(fits, 0.5),
        "left_out": Seen(value, value > 0, error, verdicts.by_error(value, error, 0.1)),
        "probe": Seen(value, ~needed, None, verdicts.unknown(shape)),
    }
    assert {layer for (layer, _), _ in disputed(seen)} == {0, 1}
    assert len(disputed(seen)) == 2 * HEADS


def test_five_fits_of_five_find_a_head_and_four_of_none_miss_none() -> None:
    assert verdicts.by_fits(np.array([[0, 1, 2, 3, 5]]), 5).tolist() == [[-1, 0, 0, 1, 1]]
    assert not verdicts.by_fits(np.array([[0, 1]]), 4).any()


def test_the_sentence_comes_first_and_says_what_was_not_found_and_could_have_been() -> None:
    found = Order(270, -0.07, *interval(-0.07, 270), detectable(270), 0.9, 0.2)
    text = sentence("mediation", found)
    assert text.startswith(
        "The paper’s agreement of gating with causal mediation is not reproduced: over 270 heads"
    )
    assert "−0.07 (95 %: −0.19 to 0.05)" in text
    assert "a correlation of 0.17 in four cases of five (0.20 between effects without their errors)" in text
    few = Order(8, 0.1, *interval(0.1, 8), detectable(8), 0.9, float("nan"))
    assert sentence("mediation", few).startswith("Whether gating and causal mediation agree can't be told")
    strong = Order(16, 0.8, *interval(0.8, 16), detectable(16), 0.9, 0.7)
    assert sentence("left_out", strong).startswith("Gating and leave-one-out order the heads alike")
    assert figures.names("agreement")[0] == "order"
    drawn = sample()
    assert isinstance(drawn, AgreementResult)
    assert next(iter(AGREEMENT.headline(drawn))) == "agreement"


def test_a_result_of_version_one_loads_and_says_that_it_counts_no_errors() -> None:
    new = sample()
    kept = {name: array for name, array in new.arrays.items() if name != "order" and "_sure" not in name}
    old = changed(new, schema_version=1, arrays=kept)
    assert isinstance(old, AgreementResult)
    assert figures.build(old, "order")["layout"]["meta"]["absent"]
    assert figures.table(old, "order")["rows"][0][0] == "none"
    reading = figures.build(old, "disagreements")["layout"]["meta"]["reading"]
    assert "errors not counted" in reading
    assert next(iter(AGREEMENT.headline(old))) == "heads_in_dispute"
