"""Abstract rules: in a model set by hand each kind's head alone is found; too few right pairs are refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from analyses.specs import SMALL, asked, cut_small, span
from headscope.analyses import figures
from headscope.analyses.base import Context, Kept, Progress, Spec
from headscope.analyses.in_place import compute
from headscope.analyses.mediation_abstract_rules import ABSTRACT_RULES
from headscope.analyses.mediation_abstract_rules.result import AbstractRulesResult, headline
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


# -- joined from pieces drawn at random -------------------------------------------------------------


def drawn(
    kept: int = 6, lift: float = 3.0, **params: Any
) -> tuple[AbstractRulesResult, dict[str, np.ndarray]]:
    """What is made of so many pairs each way, on three layers of four heads; 1.2 is of every kind."""
    asked_for = {"pairs": 6, "candidates": 9, "least": 2, **params}
    wanted = asked("mediation-abstract-rules", SMALL, **asked_for)
    source = np.random.default_rng(8)
    truth = {kind.name: source.normal(0, 1, (kept, 3, 4)) for kind in KINDS}
    for scores in truth.values():
        scores[:, 1, 2] += lift
    done: dict[str, Kept] = {}
    for piece in ABSTRACT_RULES.plan(wanted):
        way, swapped, words = piece.key.split("/")
        some = span(words)
        if way == "screen":
            done[piece.key] = {"right": (np.arange(9) < kept)[some]}
        else:
            of = {kind.name: truth[kind.name][some] for kind in KINDS if kind.swapped == swapped}
            aba = (np.arange(kept) % 2 == 0).astype(np.uint8)[some]
            done[piece.key] = {**of, "base_aba": aba}
    return ABSTRACT_RULES.assemble(wanted, done), truth


def by_all_signs(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p of each head, and p of the largest over heads, by every pattern of signs; loops."""
    flat = scores.reshape(len(scores), -1)
    means = np.array(
        [(np.array(signs)[:, None] * flat).mean(axis=0) for signs in product((1, -1), repeat=len(flat))]
    )
    seen = flat.mean(axis=0)
    single = np.array([(means[:, head] >= seen[head] - 1e-12).mean() for head in range(flat.shape[1])])
    largest = np.array([(means.max(axis=1) >= mean - 1e-12).mean() for mean in seen])
    return single, largest


@pytest.mark.parametrize("cut", [False, True])
def test_p_values_are_shares_of_all_patterns_of_signs(cut: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if cut:
        cut_small(monkeypatch)
    found, truth = drawn()
    for kind in KINDS:
        scores = truth[kind.name]
        np.testing.assert_allclose(found.score[kind.name], scores.mean(axis=0), rtol=1e-5)
        error = scores.std(axis=0, ddof=1) / np.sqrt(6)
        np.testing.assert_allclose(found.error[kind.name], error, rtol=1e-5)
        single, largest = by_all_signs(scores)
        np.testing.assert_allclose(found.p[kind.name].reshape(-1), single, rtol=1e-6)
        np.testing.assert_allclose(found.p_max[kind.name].reshape(-1), largest, rtol=1e-6)
        np.testing.assert_array_equal(found.significant[kind.name].reshape(-1), largest < 0.05)
        assert found.significant[kind.name][1, 2] == 1
    assert found.base_aba["rule"].tolist() == [1, 0, 1, 0, 1, 0]
    assert found.kept == {"rule": 6, "items": 6}
    assert found.tried == {"rule": 9, "items": 9}


def test_the_headline_names_the_strongest_of_each_kind() -> None:
    found, _ = drawn()
    numbers = headline(found)
    for kind in KINDS:
        assert numbers[f"strongest_for_{kind.key}"] == "1.2"
        assert numbers[f"{kind.key}_heads"] == int(found.significant[kind.name].sum())
    assert numbers["pairs_kept"] == 12
    assert numbers["share_kept"] == pytest.approx(12 / 18)


def test_the_correction_asked_for_decides_who_counts() -> None:
    by = {name: drawn(correction=name)[0].significant["retrieval"].sum() for name in ("max", "holm", "none")}
    assert by["none"] >= by["max"] >= 1
    assert by["holm"] == 0, "12 heads of 64 patterns: the least p is 12/64"
    found, _ = drawn(correction="holm")
    (least,) = (note for note in found.notes if note.startswith("Retrieval: after Holm"))
    assert "no p can fall below 0.19 with 12 heads and 64 patterns of signs" in least


def test_each_caveat_of_abstract_rules_is_told_when_it_is_due() -> None:
    assert drawn()[0].notes == []
    notes = drawn(lift=0.0)[0].notes
    assert [note.split(":")[0] for note in notes] == [f"No {kind.words} head" for kind in KINDS]
    assert all("over 6 pairs, the level 0.05" in note for note in notes)
    fewer = [note for note in drawn(kept=5, alpha=0.5)[0].notes if "where 6 were asked for" in note]
    assert fewer == [
        "5 pairs for symbol abstraction and symbolic induction heads, where 6 were asked for: the model is "
        "right on both contexts in 5 of 9.",
        "5 pairs for retrieval heads, where 6 were asked for: the model is right on both contexts in 5 of 9.",
    ]


def test_the_table_of_a_kind_is_its_part_of_the_whole_runs() -> None:
    found, _ = drawn()
    whole = figures.table(found, "heads")
    names = [column["name"] for column in whole["columns"]]
    for kind in KINDS:
        table = figures.table(found, kind.name)
        assert [column["unit"] for column in table["columns"][3:5]] == ["logits", "logits"]
        start = names.index(kind.name)
        assert [row[3:] for row in table["rows"]] == [row[start : start + 6] for row in whole["rows"]]
        values = np.array([row[3] for row in table["rows"]]).reshape(3, 4)
        np.testing.assert_allclose(values, found.score[kind.name], rtol=1e-6)


def test_the_reading_of_a_kinds_map_counts_its_heads() -> None:
    found, _ = drawn(alpha=0.1)
    for kind in KINDS:
        count = int(found.significant[kind.name].sum())
        said = figures.build(found, kind.name)["layout"]["meta"]["reading"]
        have = "has" if count == 1 else "have"
        assert f"{count} of 12 heads, framed, {have} a p below 0.1, corrected by the largest score." in said
        assert "right on both contexts in 6 of 9 pairs" in said
    assert (
        "No head has a p below" in figures.build(drawn(lift=0)[0], "retrieval")["layout"]["meta"]["reading"]
    )
