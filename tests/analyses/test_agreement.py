"""Agreement: planted disagreements with their explanations, the shipped model's head 0.3, bad input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from headscope.analyses import figures
from headscope.analyses.agreement.compute import Agreement
from headscope.analyses.agreement.disagreement import disputed, sides, standing
from headscope.analyses.agreement.explain import explanations
from headscope.analyses.agreement.facts import Explanation, Facts
from headscope.analyses.agreement.methods import Seen, by_size, compared
from headscope.analyses.agreement.refit import needing, refit
from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.agreement.stand_ins import summary
from headscope.analyses.agreement.statistics import NUMBERS, correlations, statistics
from headscope.analyses.base import Analysis, Arrays, Context, Input, Result
from headscope.analyses.export import export
from headscope.analyses.held_out import held_out
from headscope.analyses.relatives.compute import Relatives
from headscope.analyses.relatives.schema import RelativesParams
from headscope.core.model import HeadModel, load_model
from headscope.errors import Invalid
from headscope.gallery import shipped
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.task import Task
from headscope.validation.model import as_model
from headscope.validation.planted import build
from micro.planted import HARMFUL, NEEDED, PLAN, REDUNDANT, PlantedTask

TASK = PlantedTask()
PARAMS = AgreementParams(gating="g", relatives="r", refits=0, n_examples=6)


def computed(
    analysis: Analysis[Any], params: Any, model: HeadModel, task: Task, inputs: Mapping[str, Input]
) -> Result:
    more = {"inputs": inputs} if analysis.references else {}
    done: dict[str, Arrays] = {}
    for piece in analysis.plan(params, model.info, **more):
        done[piece.key] = analysis.compute(piece, params, Context(model, task, done, inputs=inputs))
    return analysis.assemble(params, model.info, task, done)


FIT = {"steps": 40, "batch_size": 8, "n_train": 16}
"""Settings of the gating run, as far as they matter to a fit of the planted model."""


def gating(
    model: HeadModel,
    task: Task,
    needed: Sequence[Mapping[tuple[int, int], float]],
    fit: Mapping[str, Any] | None = None,
) -> Result:
    """A gating run with these facilitations, a mapping a seed; all else is shut when pushed."""
    g_minus = np.full((len(needed), model.info.n_layers, model.info.n_heads), 0.02, np.float32)
    for seed, scores in enumerate(needed):
        for (layer, head), value in scores.items():
            g_minus[seed, layer, head] = value
    g_plus = np.ones_like(g_minus)
    for layer, head in HARMFUL:
        g_plus[:, layer, head] = g_minus[:, layer, head] = 0.01
    identity = {"name": task.name, "content_hash": task.content_hash}
    arrays = {"g_minus": g_minus, "g_plus": g_plus, "g_zero": g_minus}
    params = {"split_seed": 0, "shots": None, **(fit or {})}
    return Result("chg", 2, params, model.info, identity, tuple(range(len(needed))), arrays)


@pytest.fixture(scope="module")
def planted() -> Result:
    """As the fits find it: the needed pair always, one of the redundant pair in each seed."""
    model = as_model(build(PLAN), PLAN, "planted")
    one, other = REDUNDANT
    sure = dict.fromkeys(NEEDED, 0.99)
    run = gating(model, TASK, [{**sure, one: 0.9}, {**sure, other: 0.9}], FIT)
    relatives = computed(Relatives(), RelativesParams(n_examples=8, points=4), model, TASK, {})
    params = PARAMS.model_copy(update={"refits": 2})
    return computed(Agreement(), params, model, TASK, {"gating": run, "relatives": relatives})


def told(result: Result, head: tuple[int, int]) -> dict[str, Any]:
    found: list[dict[str, Any]] = result.values["disagreements"]
    return next(each for each in found if each["head"] == f"{head[0]}.{head[1]}")


def kinds(each: Mapping[str, Any]) -> list[str]:
    return [why["kind"] for why in each["why"]]


def test_each_of_a_redundant_pair_is_listed_with_the_other_as_its_stand_in(planted: Result) -> None:
    for head, other in (REDUNDANT, REDUNDANT[::-1]):
        each = told(planted, head)
        assert "gating" in each["found"]
        assert "left_out" in each["missed"]
        assert each["seeds"] == 0.5
        assert "redundant" in kinds(each)
        text = next(why["text"] for why in each["why"] if why["kind"] == "redundant")
        assert text.startswith(f"{other[0]}.{other[1]} can stand in for it")
        assert each["measured"]["partner"] == list(other)
        assert "in-company" in kinds(each)  # the fit that needs it has shut the other


def test_fitted_again_without_one_of_the_pair_the_other_opens(planted: Result) -> None:
    for head, other in (REDUNDANT, REDUNDANT[::-1]):
        each = told(planted, head)
        assert "taken-over" in kinds(each)
        assert each["measured"]["stand_ins"] == list(other)
        assert each["measured"]["shut"] < 0.1
        assert each["measured"]["opened"] > 0.5
        assert each["measured"]["closing"] > 1  # both of the pair are shut then
        assert each["measured"]["refitted"] < 0.1 * each["measured"]["closing"]
        text = next(why["text"] for why in each["why"] if why["kind"] == "taken-over")
        assert f"{other[0]}.{other[1]} (gate" in text
        assert each["measured"]["relief"] > 0.5 * each["measured"]["closing"]


def test_a_head_is_fitted_without_only_in_seeds_that_need_it() -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    one, other = REDUNDANT
    run = gating(model, TASK, [{one: 0.6}, {one: 0.9, other: 0.2}, {}], FIT)
    assert needing(run, one, 0.5) == [1, 0]
    assert needing(run, other, 0.5) == []
    relatives = computed(Relatives(), RelativesParams(n_examples=2, points=1), model, TASK, {})
    params = PARAMS.model_copy(update={"refits": 1, "n_examples": 2, "most": 8})
    result = computed(Agreement(), params, model, TASK, {"gating": run, "relatives": relatives})
    assert "refitted" in told(result, one)["measured"]
    assert all(
        "refitted" not in each["measured"]
        for each in result.values["disagreements"]
        if "gating" not in each["found"]
    )


def test_the_closed_head_stays_closed_and_a_fit_without_it_repeats(planted: Result) -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    run = gating(model, TASK, [{REDUNDANT[0]: 0.9}], {**FIT, "steps": 6})
    context = Context(model, TASK, {}, inputs={})
    examples = held_out(run, 2, context)
    first, second = (refit(REDUNDANT[0], 0, run, examples, context) for _ in range(2))
    assert first["after"][REDUNDANT[0]] == 0
    np.testing.assert_array_equal(first["after"], second["after"])


def test_all_that_find_it_agree_on_the_planted_pair(planted: Result) -> None:
    for name in ("gating", "left_out"):
        assert all(planted.arrays[f"{name}_found"][head] for head in NEEDED)
    assert planted.values["methods"][:2] == ["gating", "left_out"]
    assert "direct" not in planted.values["methods"]  # no norm to read: not measured, and said by relatives


def test_without_a_norm_direct_attribution_is_left_out_with_a_note() -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    result = computed(Relatives(), RelativesParams(n_examples=2, points=1), model, TASK, {})
    assert np.isnan(result.arrays["direct"]).all()
    assert any("No direct logit attribution" in note for note in result.values["notes"])


@pytest.fixture(scope="module")
def two_layer() -> Result:
    """The shipped model and its shipped gating run on induction."""
    found = [shipped.read(path) for path in shipped.files(shipped.FOLDER)]
    run = next(
        each.result
        for each in found
        if (each.result.analysis, each.result.model.name) == ("chg", "headscope-2l")
        and (each.result.task or {}).get("name") == "induction"
    )
    model = load_model(Catalogue(Settings()).folder("headscope-2l"), name="headscope-2l", device="cpu")
    task = TaskCatalogue([]).get("induction")
    relatives = computed(Relatives(), RelativesParams(n_examples=4), model, task, {})
    params = AgreementParams(gating="g", relatives="r", n_examples=2, most=1, refits=0)
    return computed(Agreement(), params, model, task, {"gating": run, "relatives": relatives})


def test_the_shipped_models_previous_token_head_is_explained(two_layer: Result) -> None:
    each = two_layer.values["disagreements"][0]
    assert each["head"] == "0.3"
    assert {"left_out", "path"} <= set(each["found"])
    assert {"direct", "slope"} <= set(each["missed"])
    if "gating" in each["missed"]:
        assert "saturated-gate" in kinds(each)
    assert {"other-positions", "indirect", "flat-slope"} <= set(kinds(each))
    assert "unknown" not in kinds(each)
    assert each["measured"]["closed"] > 5
    assert each["measured"]["at_answers"] < 0.25 * each["measured"]["closed"]
    assert each["measured"]["through"] == [1, 5]
    indirect = next(why["text"] for why in each["why"] if why["kind"] == "indirect")
    assert "1.5 alone held" in indirect
    effects = two_layer.arrays["left_out"]
    assert effects.max() == effects[0, 3]
    assert two_layer.arrays["path"].max() == two_layer.arrays["path"][0, 3]


def test_its_figures_tables_and_exports(two_layer: Result) -> None:
    first = figures.build(two_layer, "disagreements")["layout"]["meta"]
    assert first["disagreements"][0]["head"] == "0.3"
    table = figures.table(two_layer, "disagreements")
    names = [column["name"] for column in table["columns"]]
    assert "It acts at earlier tokens" in table["rows"][0][names.index("why")]
    assert len(export(two_layer, "csv").content.decode().splitlines()) == 1 + 16
    assert b"Where the methods disagree" in export(two_layer, "html").content
    headline = Agreement().headline(two_layer)
    assert headline["most_disputed_head"] == "0.3"
    assert -1 <= headline["rank_correlation_left_out"] <= 1


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
    first = Seen(np.array([[4.0, 1.0, 0.0]]), np.array([[True, True, False]]))
    second = Seen(np.array([[1.0, 10.0, np.nan]]), np.array([[False, True, False]]))
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
    return explanations(Facts((0, 0), found, missed, seen, evidence, 0.1))


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
    assert "why along the path misses it" in told.text
    (told,) = why(["left_out"], ["path"], evidence, {"path": 0.3})
    assert told.kind == "too-few-examples"
    assert "along the path 0.2 ± 0.3 nats" in told.text
    (told,) = why(["left_out"], ["mediation"], evidence)
    assert told.kind == "not-what-differs"
    assert "mediation 0.2" in told.text


def test_what_gating_keeps_for_little_and_what_nearly_counts() -> None:
    evidence = {"closed": [0.01], "in_minus": [0.05], "kept_from": [0.02]}
    (told,) = why(["gating"], ["left_out"], evidence)
    assert told.kind == "kept-for-little"
    assert "for 0.02 nats or more: under its gates closing this one costs 0.05 nats" in told.text
    assert [each.kind for each in why(["gating"], [], {**evidence, "kept_from": [0.06]})] == ["unknown"]
    (told,) = why(["importance"], ["left_out"], {"closed": [0.07]})
    assert told.kind == "nearly"


def test_the_push_pays_a_head_for_being_shut(planted: Result) -> None:
    each = told(planted, REDUNDANT[0])
    assert each["measured"]["kept_from"] == pytest.approx(0.1 * 8 / 8)


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


def test_runs_that_dont_belong_together_are_refused(planted: Result) -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    run = gating(model, TASK, [dict.fromkeys(NEEDED, 0.99)])
    other = replace(run, analysis="relatives", task={"name": "else", "content_hash": "0"})
    changed = replace(run, analysis="relatives", task={"name": TASK.name, "content_hash": "0"})
    wrong: dict[str, tuple[str, dict[str, Input]]] = {
        "no gating": ("run-missing", {"relatives": other}),
        "nothing else": ("nothing-to-compare", {"gating": run}),
        "another kind": ("other-analysis", {"gating": run, "probe": other}),
        "another task": ("other-task", {"gating": run, "relatives": other}),
        "changed": ("other-task", {"gating": run, "relatives": changed}),
        "rules": ("other-task", {"gating": run, "rules": replace(run, analysis="mediation-abstract-rules")}),
    }
    for words, (code, inputs) in wrong.items():
        with pytest.raises(Invalid) as refused:
            compared(inputs, PARAMS, TASK)
        assert refused.value.code == code, words
    with pytest.raises(Invalid, match=r"'else'.*'planted'"):
        compared({"gating": run, "relatives": other}, PARAMS, TASK)


def test_shipped_runs_of_mediation_and_rules_are_read_as_they_are() -> None:
    found = {
        run.request.analysis: run.result for run in map(shipped.read, shipped.files()) if is_smollm2(run)
    }
    mediation, rules = (found[name] for name in ("mediation-function-vectors", "mediation-abstract-rules"))
    shape = mediation.arrays["effect"].shape[1:]
    even = np.full((1, *shape), 0.5, np.float32)

    def compare(task: Mapping[str, Any], name: str, run: Result) -> Mapping[str, Seen]:
        gates = {"g_minus": even, "g_plus": even, "g_zero": even}
        fit = Result("chg", 2, {}, run.model, task, (0,), gates)
        return compared({"gating": fit, name: run}, PARAMS, None)

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


def test_a_method_that_finds_no_head_is_said_so() -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    run = gating(model, TASK, [dict.fromkeys(NEEDED, 0.3)])
    flat = {
        name: np.zeros((2, 4), np.float32) for name in ("left_out", "path", "slope", "importance", "direct")
    }
    nothing = Result(
        "relatives",
        1,
        {},
        model.info,
        run.task,
        (0,),
        {**flat, **{f"{name}_se": flat[name] for name in flat}},
    )
    result = computed(Agreement(), PARAMS, model, TASK, {"gating": run, "relatives": nothing})
    assert result.values["disagreements"] == []
    assert "Left out finds no head" in " ".join(result.values["notes"])
    for name in figures.names("agreement"):
        assert figures.build(result, name)["layout"]["meta"]["reading"]
        assert figures.table(result, name)["rows"]
    assert (
        "no head that one of these methods finds"
        in figures.build(result, "disagreements")["layout"]["meta"]["reading"]
    )


def test_the_estimate_grows_with_the_heads_to_explain(planted: Result) -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    given = {
        "gating": gating(model, TASK, [dict.fromkeys(NEEDED, 0.99)]),
        "relatives": _relatives_of(planted),
    }
    info = replace(model.info, n_layers=30, n_heads=9, n_params_non_embedding=10**8)
    few, many = (
        Agreement().estimate(PARAMS.model_copy(update={"most": most}), info, TASK, inputs=given)
        for most in (1, 8)
    )
    assert many.seconds > few.seconds
    assert "8 heads explained" in many.basis


def _relatives_of(result: Result) -> Result:
    names = ("left_out", "path", "slope", "importance")
    arrays = {name: result.arrays[name] for name in names} | {
        f"{name}_se": result.arrays[name] * 0 for name in names
    }
    arrays |= {"direct": result.arrays["left_out"], "direct_se": result.arrays["left_out"] * 0}
    return replace(result, analysis="relatives", arrays=arrays)
