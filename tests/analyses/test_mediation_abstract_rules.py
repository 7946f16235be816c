"""Abstract rules: in a model set by hand each kind's head alone is found; too few right pairs are refused."""

from __future__ import annotations

import numpy as np
import pytest

from headscope.analyses import figures
from headscope.analyses.base import Context, Progress, Spec
from headscope.analyses.in_place import compute
from headscope.analyses.mediation_abstract_rules import ABSTRACT_RULES
from headscope.analyses.mediation_abstract_rules.result import AbstractRulesResult
from headscope.analyses.mediation_abstract_rules.schema import KINDS, AbstractRuleParams
from headscope.core.model.head_model import HeadModel
from headscope.core.statistics.significance import sign_flips
from headscope.errors import Invalid, Refused
from micro.mediator import mediator_model
from micro.rules import ABSTRACTION, INDUCTION, RETRIEVAL, SHOTS, rule_model

PARAMS = AbstractRuleParams(shots=SHOTS, pairs=9, candidates=12, least=4)
PLANTED = {"abstraction": ABSTRACTION, "induction": INDUCTION, "retrieval": RETRIEVAL}


def run(model: HeadModel, params: AbstractRuleParams = PARAMS) -> AbstractRulesResult:
    return compute(ABSTRACT_RULES, Spec(params, model.info), model)


@pytest.fixture(scope="module")
def planted() -> AbstractRulesResult:
    return run(rule_model())


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_the_planted_head_of_each_kind_alone_is_found(planted: AbstractRulesResult, kind: str) -> None:
    assert np.argwhere(planted.significant[kind] > 0).tolist() == [list(PLANTED[kind])]
    scores = planted.score[kind].copy()
    # From sure of one answer to sure of the other: twice 10 logits; half symbols leave a little.
    assert scores[PLANTED[kind]] == pytest.approx(20, rel=0.05)
    scores[PLANTED[kind]] = 0
    assert np.abs(scores).max() < 1e-3


def test_p_values_and_means_are_of_the_pairs_kept(planted: AbstractRulesResult) -> None:
    assert planted.kept == {"rule": 9, "items": 9}
    assert planted.tried == {"rule": 9, "items": 9}
    assert planted.base_aba["rule"].tolist() == [1, 0, 1, 0, 1, 0, 1, 0, 1]
    for kind in KINDS:
        scores = planted.scores[kind.name]
        assert scores.shape == (9, 3, 4)
        np.testing.assert_allclose(planted.score[kind.name], scores.mean(0), rtol=1e-5, atol=1e-6)
        p = sign_flips(scores.reshape(9, -1), 5000, 0)
        np.testing.assert_allclose(planted.p_max[kind.name], p.max.reshape(3, 4), rtol=1e-6)
        assert planted.p[kind.name][PLANTED[kind.name]] == pytest.approx(1 / 512)
    headline = ABSTRACT_RULES.headline(planted)
    assert headline["strongest_for_symbol_abstraction"] == "0.0"
    assert headline["share_kept"] == 1
    assert list(headline) == list(ABSTRACT_RULES.quantities)


def test_pieces_cut_smaller_give_the_same_result(
    planted: AbstractRulesResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 1.0)
    pieces = ABSTRACT_RULES.plan(Spec(PARAMS, rule_model().info))
    assert [piece.key for piece in pieces] == [
        f"{kind}/{swapped}/{n}-{n}"
        for swapped in ("rule", "items")
        for kind, count in (("screen", 12), ("scores", 9))
        for n in range(count)
    ]
    cut = run(rule_model())
    for name, array in planted.arrays.items():
        np.testing.assert_allclose(cut.arrays[name], array, rtol=1e-5, atol=1e-5)


def test_no_head_is_said_and_holm_s_limit_too(planted: AbstractRulesResult) -> None:
    strict = PARAMS.model_copy(update={"correction": "holm", "pairs": 4})
    result = run(rule_model(), strict)
    assert not any(result.significant[kind.name].any() for kind in KINDS)
    notes = " ".join(result.notes)
    assert "No symbol abstraction head: the largest score is +20" in notes
    assert "after Holm no p can fall below 0.75 with 12 heads and 16 patterns" in notes
    assert "No head has a p below 0.05" in figures.build(result, "abstraction")["layout"]["meta"]["reading"]
    assert planted.notes == []
    for name in figures.names("mediation-abstract-rules"):
        assert "framed" in figures.build(planted, name)["layout"]["meta"]["reading"] or name == "heads"
        assert len(figures.table(planted, name)["rows"]) == 12


def test_too_few_right_pairs_are_refused_with_the_numbers() -> None:
    with pytest.raises(
        Refused, match=r"right on both contexts in 0 of 12 pairs \(0.0 %\).* 4 are needed"
    ) as caught:
        run(rule_model(), PARAMS.model_copy(update={"shots": 1}))
    assert caught.value.code == "too-few-right"


def test_too_few_items_are_refused_before_any_run() -> None:
    model = mediator_model()
    with pytest.raises(Invalid, match="must be one token each"):
        ABSTRACT_RULES.estimate(Spec(PARAMS, model.info), tokenizer=model.tokenizer)


def test_it_estimates_reports_and_can_be_stopped() -> None:
    model = rule_model()
    asked = Spec(PARAMS, model.info)
    estimate = ABSTRACT_RULES.estimate(asked, tokenizer=model.tokenizer)
    assert estimate.seconds > 0
    assert "9 pairs of 16 tokens" in estimate.basis
    screen, scores = ABSTRACT_RULES.plan(asked)[:2]
    assert scores.needs == (screen.key,)
    seen: list[Progress] = []
    checks = 0

    def checkpoint() -> None:
        nonlocal checks
        checks += 1

    kept = {screen.key: screen.compute(Context(model, {}, checkpoint, seen.append))}
    assert checks == 9
    scores.compute(Context(model, kept, checkpoint, seen.append))
    assert checks >= 27
    assert seen[-1].fraction == 1
