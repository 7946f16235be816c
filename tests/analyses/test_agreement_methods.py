"""What each method says, how far they agree, and which sentence explains a head: hand-worked cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from headscope.analyses.agreement.backup_heads import summary
from headscope.analyses.agreement.disagreement import disputed, sides, standing
from headscope.analyses.agreement.evidence import Explanation, HeadEvidence
from headscope.analyses.agreement.explain import explanations
from headscope.analyses.agreement.methods import Seen, by_size, compared
from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.agreement.statistics import NUMBERS, correlations, statistics
from headscope.analyses.base import Arrays, Result, Spec
from headscope.gallery import shipped
from services.results import made

PARAMS = AgreementParams(gating="g")


def test_statistics_are_scipys_and_hand_counts() -> None:
    draw = np.random.default_rng(0)
    facilitation, interference = draw.uniform(0, 1, (2, 3, 2, 4))
    effect = draw.normal(0, 1, (2, 4))
    found = np.array([[1, 0, 1, 0], [0, 0, 0, 1]], bool)
    seen = {
        "gating": Seen(facilitation.mean(0), np.array([[1, 1, 0, 0], [0, 0, 0, 1]], bool)),
        "left_out": Seen(effect, found),
        "mediation": Seen(effect, np.zeros((2, 4), bool)),
    }
    row, nothing = (
        dict(zip(NUMBERS, values, strict=True)) for values in statistics(seen, facilitation, interference)
    )
    assert row["found"] == 3
    assert row["precision"] == pytest.approx(2 / 3)
    assert row["recall"] == pytest.approx(2 / 3)
    rank = [np.argsort(np.argsort(values.reshape(-1))) for values in (effect, facilitation.mean(0))]
    assert row["rho_facilitation"] == pytest.approx(np.corrcoef(rank[0], rank[1])[0, 1])
    highest = facilitation.max(0)
    inside, outside = highest[found], highest[~found]
    error = inside.var(ddof=1) / 3 + outside.var(ddof=1) / 5
    assert row["welch_t"] == pytest.approx((inside.mean() - outside.mean()) / np.sqrt(error))
    assert row["welch_p"] == pytest.approx(stats.ttest_ind(inside, outside, equal_var=False).pvalue)
    assert nothing["found"] == 0
    assert np.isnan([nothing["welch_t"], nothing["recall"]]).all()
    assert nothing["precision"] == 0
    both = correlations({"a": effect, "b": -effect, "c": np.zeros((2, 4))})
    assert both[0, 1] == pytest.approx(-1)
    assert np.isnan(both[2]).all()


def test_what_is_in_dispute_and_in_which_order() -> None:
    first, second = (
        Seen(np.array([effect]), np.array([sure]) > 0, None, np.array([sure], np.int8))
        for effect, sure in (([4.0, 1.0, 0.0], [1, 1, -1]), ([1.0, 10.0, np.nan], [-1, 1, 0]))
    )
    assert standing(first).tolist() == [[1, 0.25, 0]]
    ((head, strength),) = disputed({"gating": first, "left_out": second})
    assert head == (0, 0)
    assert strength == pytest.approx(0.9)
    assert sides({"gating": first, "left_out": second}, (0, 0)) == (["gating"], ["left_out"])
    assert sides({"gating": first, "left_out": second}, (0, 2)) == ([], ["gating"])
    effect, error = np.array([[5.0, 0.05, 2.0, np.nan, -5.0]]), np.array([[0.1, 0.001, 1.0, np.nan, 0.0]])
    assert by_size(effect, error, 0.1).tolist() == [[True, False, False, False, False]]


def why(
    found: Sequence[str],
    missed: Sequence[str],
    evidence: Mapping[str, Any],
    errors: Mapping[str, float] | None = None,
) -> list[Explanation]:
    """Explanations of a single head whose measures are all 0.2, with these errors."""
    seen = {
        name: Seen(
            np.array([[0.2]]),
            np.array([[name in found]]),
            np.array([[(errors or {})[name]]]) if name in (errors or {}) else None,
        )
        for name in (*found, *missed)
    }
    return explanations(HeadEvidence((0, 0), found, missed, seen, evidence, 0.1))


def test_what_nothing_explains_is_said_to_be_unknown() -> None:
    evidence = {name: [0.0] for name in ("closed", "at_answers", "later_held", "both_closed", "interaction")}
    evidence |= {
        "in_minus": [0.0],
        "settled": [0.9],
        "at_settled": [0.0],
        "slope": [0.5],
        "slope_size": [0.5],
    }
    (told,) = why(["gating"], ["left_out", "path"], evidence)
    assert told.kind == "unknown"
    assert "why gating finds it" in told.text
    harmful = {**evidence, "closed": [-2.0]}
    assert [each.kind for each in why(["importance"], ["left_out"], harmful)] == ["harms"]
    cancelling = {**evidence, "slope": [0.01]}
    assert [each.kind for each in why(["importance"], ["left_out"], cancelling)] == ["cancels"]
    assert [each.kind for each in why(["slope", "importance"], ["left_out"], evidence)] == ["bends"]


def test_where_closing_costs_something_those_that_miss_the_head_are_explained() -> None:
    evidence = {
        "closed": [2.0],
        "at_answers": [1.9],
        "later_held": [2.0],
        "slope": [1.5],
        "slope_size": [1.5],
    }
    (told,) = why(["left_out", "gating"], ["path"], evidence)
    assert told.kind == "unknown"
    assert "why integrated gradients misses it" in told.text
    (told,) = why(["left_out"], ["mediation"], evidence)
    assert told.kind == "not-what-differs"
    assert "causal mediation 0.2" in told.text


def test_what_gating_keeps_for_little_and_what_nearly_counts() -> None:
    evidence = {"closed": [0.01], "in_minus": [0.05], "kept_from": [0.02]}
    (told,) = why(["gating"], ["left_out"], evidence)
    assert told.kind == "kept-for-little"
    assert "for 0.02 nats or more: under its gates closing this one costs 0.05 nats" in told.text
    assert [each.kind for each in why(["gating"], [], {**evidence, "kept_from": [0.06]})] == ["unknown"]
    (told,) = why(["importance"], ["left_out"], {"closed": [0.07]})
    assert told.kind == "nearly"


def test_only_heads_whose_opening_relieves_have_taken_over() -> None:
    def fit(relief: Mapping[int, float]) -> Arrays:
        before, after, tried = np.full((1, 4), 0.1), np.full((1, 4), 0.1), np.full((1, 4), np.nan)
        for head, value in relief.items():
            after[0, head], tried[0, head] = 0.9, value
        return {
            "before": before,
            "after": after,
            "relief": tried,
            "closing": np.array([2.0]),
            "refitted": np.array([0.1]),
        }

    found = summary([fit({1: 1.0, 2: 0.1, 3: -1.0}), fit({1: 1.5, 3: 0.2})])
    assert found["stand_ins"].tolist() == [[0, 1]]
    assert found["relief"].tolist() == [1.25]
    assert found["shut"].tolist() == pytest.approx([0.1])
    assert found["opened"].tolist() == pytest.approx([0.9])
    evidence = {"closed": [0.0], **found}
    (told,) = why(["gating"], ["left_out"], evidence)
    assert told.kind == "taken-over"
    assert "0.1 (gate 0.10 to 0.90, by itself 1.25 nats of it) took over" in told.text
    nobody = summary([fit({2: 0.1})])
    assert nobody["stand_ins"].size == 0
    assert [each.kind for each in why(["gating"], ["left_out"], {"closed": [0.0], **nobody})] == ["unknown"]


def test_shipped_runs_of_mediation_and_rules_are_read_as_they_are() -> None:
    found = {
        run.request.analysis: run.result for run in map(shipped.read, shipped.files()) if is_smollm2(run)
    }
    mediation, rules = (found[name] for name in ("mediation-function-vectors", "mediation-abstract-rules"))
    shape = mediation.arrays["effect"].shape[1:]
    even = np.full((1, *shape), 0.5, np.float32)

    def compare(task: Mapping[str, Any], name: str, run: Result) -> Mapping[str, Seen]:
        gates = {"g_minus": even, "g_plus": even, "g_zero": even}
        fit = made("chg", 2, {}, run.model, task, (0,), gates)
        return compared(Spec(PARAMS, run.model, None, {"gating": fit, name: run}))

    seen = compare(mediation.task or {}, "mediation", mediation)
    assert list(seen) == ["gating", "mediation"]
    assert np.argwhere(seen["mediation"].found).tolist() == [[20, 5]]
    assert seen["mediation"].effect[20, 5] == mediation.arrays["effect"].max()
    seen = compare({"name": "rule-aba", "content_hash": "0"}, "rules", rules)
    assert list(seen) == ["gating", "abstraction", "induction", "retrieval"]
    assert np.argwhere(seen["abstraction"].found).tolist() == [[17, 4]]
    assert np.argwhere(seen["retrieval"].found).tolist() == [[23, 0], [29, 1]]


def is_smollm2(run: shipped.Shipped) -> bool:
    return run.result.model.name == "smollm2-135m"
