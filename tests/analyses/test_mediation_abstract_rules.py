"""Abstract rules: in a model set by hand each kind's head alone is found; too few right pairs are refused."""

from __future__ import annotations

import numpy as np
import pytest

from headscope.analyses import figures
from headscope.analyses.base import Arrays, Context, Progress, Result
from headscope.analyses.mediation_abstract_rules.compute import AbstractRules
from headscope.analyses.mediation_abstract_rules.schema import KINDS, AbstractRuleParams
from headscope.core.model.head_model import HeadModel
from headscope.core.statistics.significance import sign_flips
from headscope.errors import Invalid, Refused
from micro.mediator import mediator_model
from micro.rules import ABSTRACTION, INDUCTION, RETRIEVAL, SHOTS, rule_model

ANALYSIS = AbstractRules()
PARAMS = AbstractRuleParams(shots=SHOTS, pairs=9, candidates=12, least=4)
PLANTED = {"abstraction": ABSTRACTION, "induction": INDUCTION, "retrieval": RETRIEVAL}


def run(model: HeadModel, params: AbstractRuleParams) -> tuple[Result, dict[str, Arrays]]:
    done: dict[str, Arrays] = {}
    for piece in ANALYSIS.plan(params, model.info):
        context = Context(model, None, {key: done[key] for key in piece.needs})
        done[piece.key] = ANALYSIS.compute(piece, params, context)
    return ANALYSIS.assemble(params, model.info, None, done), done


@pytest.fixture(scope="module")
def planted() -> Result:
    result, _ = run(rule_model(), PARAMS)
    return result


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_the_planted_head_of_each_kind_alone_is_found(planted: Result, kind: str) -> None:
    assert np.argwhere(planted.arrays[f"{kind}_significant"] > 0).tolist() == [list(PLANTED[kind])]
    scores = planted.arrays[kind].copy()
    # From sure of one answer to sure of the other: twice 10 logits; half symbols leave a little.
    assert scores[PLANTED[kind]] == pytest.approx(20, rel=0.05)
    scores[PLANTED[kind]] = 0
    assert np.abs(scores).max() < 1e-3


def test_p_values_and_means_are_of_the_pairs_kept(planted: Result) -> None:
    assert planted.values["kept"] == {"rule": 9, "items": 9}
    assert planted.values["tried"] == {"rule": 9, "items": 9}
    assert planted.arrays["rule_base_aba"].tolist() == [1, 0, 1, 0, 1, 0, 1, 0, 1]
    for kind in KINDS:
        scores = planted.arrays[f"{kind.name}_scores"]
        assert scores.shape == (9, 3, 4)
        np.testing.assert_allclose(planted.arrays[kind.name], scores.mean(0), rtol=1e-5, atol=1e-6)
        p = sign_flips(scores.reshape(9, -1), 5000, 0)
        np.testing.assert_allclose(planted.arrays[f"{kind.name}_p_max"], p.max.reshape(3, 4), rtol=1e-6)
        assert planted.arrays[f"{kind.name}_p"][PLANTED[kind.name]] == pytest.approx(1 / 512)
    assert ANALYSIS.headline(planted)["strongest_for_symbol_abstraction"] == "0.0"
    assert ANALYSIS.headline(planted)["share_kept"] == 1


def test_pieces_cut_smaller_give_the_same_result(planted: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 1.0)
    cut, pieces = run(rule_model(), PARAMS)
    assert len(pieces) == 2 * (12 + 9)
    for name, array in planted.arrays.items():
        np.testing.assert_allclose(cut.arrays[name], array, rtol=1e-5, atol=1e-5)


def test_no_head_is_said_and_holm_s_limit_too(planted: Result) -> None:
    strict = PARAMS.model_copy(update={"correction": "holm", "pairs": 4})
    result, _ = run(rule_model(), strict)
    assert not any(result.arrays[f"{kind.name}_significant"].any() for kind in KINDS)
    notes = " ".join(result.values["notes"])
    assert "No symbol abstraction head: the largest score is +20" in notes
    assert "after Holm no p can fall below 0.75 with 12 heads and 16 patterns" in notes
    assert "No head has a p below 0.05" in figures.build(result, "abstraction")["layout"]["meta"]["reading"]
    assert planted.values["notes"] == []
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
        ANALYSIS.estimate(PARAMS, model.info, None, tokenizer=model.tokenizer)


def test_it_estimates_reports_and_can_be_stopped() -> None:
    model = rule_model()
    estimate = ANALYSIS.estimate(PARAMS, model.info, None, tokenizer=model.tokenizer)
    assert estimate.seconds > 0
    assert "9 pairs of 16 tokens" in estimate.basis
    works = ANALYSIS.plan(PARAMS, model.info)
    seen: list[Progress] = []
    asked = 0

    def checkpoint() -> None:
        nonlocal asked
        asked += 1

    context = Context(model, None, checkpoint=checkpoint, report=seen.append)
    screened = ANALYSIS.compute(works[0], PARAMS, context)
    assert asked == 9
    context = Context(model, None, {works[0].key: screened}, checkpoint=checkpoint, report=seen.append)
    ANALYSIS.compute(works[1], PARAMS, context)
    assert asked >= 27
    assert seen[-1].fraction == 1
