"""Agreement: planted disagreements with their explanations, the shipped model's head 0.3, bad input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from figures.relative_samples import agreement as sample
from headscope.analyses import figures
from headscope.analyses.agreement import AGREEMENT
from headscope.analyses.agreement.methods import compared
from headscope.analyses.agreement.refit import needing, refit
from headscope.analyses.agreement.result import AgreementResult, headline
from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.base import Context, Input, Result, Spec
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.export import export
from headscope.analyses.held_out import held_out
from headscope.analyses.in_place import compute
from headscope.analyses.relatives import RELATIVES
from headscope.analyses.relatives.result import MEASURES, RelativesResult
from headscope.analyses.relatives.schema import RelativesParams
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.errors import Invalid
from headscope.gallery import shipped
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.task import Task
from headscope.validation.model import as_model
from headscope.validation.planted import build
from micro.planted import HARMFUL, NEEDED, PLAN, REDUNDANT, PlantedTask
from services.results import changed, made

TASK = PlantedTask()
PARAMS = AgreementParams(gating="g", relatives="r", refits=0, n_examples=6)


def agreement(params: AgreementParams, model: HeadModel, task: Task, **inputs: Input) -> AgreementResult:
    return compute(AGREEMENT, Spec(params, model.info, task, inputs), model)


def relatives_of(model: HeadModel, task: Task, **params: int) -> RelativesResult:
    return compute(RELATIVES, Spec(RelativesParams(**params), model.info, task), model)


FIT = {"steps": 40, "batch_size": 8, "n_train": 16}
"""Settings of the gating run, as far as they matter to a fit of the planted model."""


def gating(
    model: HeadModel,
    task: Task,
    needed: Sequence[Mapping[tuple[int, int], float]],
    fit: Mapping[str, Any] | None = None,
) -> ChgResult:
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
    run = made("chg", 2, params, model.info, identity, tuple(range(len(needed))), arrays)
    assert isinstance(run, ChgResult)
    return run


@pytest.fixture(scope="module")
def planted() -> AgreementResult:
    """As the fits find it: the needed pair always, one of the redundant pair in each seed."""
    model = as_model(build(PLAN), PLAN, "planted")
    one, other = REDUNDANT
    sure = dict.fromkeys(NEEDED, 0.99)
    run = gating(model, TASK, [{**sure, one: 0.9}, {**sure, other: 0.9}] * 4, FIT)
    relatives = relatives_of(model, TASK, n_examples=8, points=4)
    params = PARAMS.model_copy(update={"refits": 2})
    return agreement(params, model, TASK, gating=run, relatives=relatives)


def test_an_integral_that_missed_the_gain_is_no_evidence() -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    run = gating(model, TASK, [dict.fromkeys(NEEDED, 0.99)] * 4, FIT)
    effects = relatives_of(model, TASK, n_examples=4, refine=True)
    missed = changed(effects, values={**effects.values, "path_sum": 1.5 * effects.gain})
    for relatives, counted in ((effects, True), (missed, False)):
        found = agreement(PARAMS, model, TASK, gating=run, relatives=relatives)
        assert ("path" in found.methods) is counted
        assert any("did not converge" in note for note in found.notes) is not counted


def told(result: AgreementResult, head: tuple[int, int]) -> Mapping[str, Any]:
    return next(each for each in result.disagreements if each["head"] == f"{head[0]}.{head[1]}")


def kinds(each: Mapping[str, Any]) -> list[str]:
    return [why["kind"] for why in each["why"]]


def test_each_of_a_redundant_pair_is_listed_with_the_other_as_its_backup(planted: AgreementResult) -> None:
    for head, other in (REDUNDANT, REDUNDANT[::-1]):
        each = told(planted, head)
        assert "gating" in each["found"]
        assert "left_out" in each["missed"]
        assert each["seeds"] == 0.5
        assert "redundant" in kinds(each)
        text = next(why["text"] for why in each["why"] if why["kind"] == "redundant")
        assert text.startswith(f"{other[0]}.{other[1]} is a backup for it")
        assert each["measured"]["partner"] == list(other)
        assert "in-company" in kinds(each)  # the fit that needs it has shut the other


def test_fitted_again_without_one_of_the_pair_the_other_opens(planted: AgreementResult) -> None:
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
    run = gating(model, TASK, [{one: 0.6}, {one: 0.9, other: 0.2}, {one: 0.7}, {}], FIT)
    assert needing(run, one, 0.5) == [1, 2, 0]
    assert needing(run, other, 0.5) == []
    relatives = relatives_of(model, TASK, n_examples=2, points=1)
    params = PARAMS.model_copy(update={"refits": 1, "n_examples": 2, "most": 8})
    result = agreement(params, model, TASK, gating=run, relatives=relatives)
    assert "refitted" in told(result, one)["measured"]
    assert all(
        "refitted" not in each["measured"] for each in result.disagreements if "gating" not in each["found"]
    )


def test_the_closed_head_stays_closed_and_a_fit_without_it_repeats(planted: AgreementResult) -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    run = gating(model, TASK, [{REDUNDANT[0]: 0.9}], {**FIT, "steps": 6})
    examples = held_out(TASK, run, 2, model)
    first, second = (refit(REDUNDANT[0], 0, run, examples, TASK, Context(model)) for _ in range(2))
    assert first["after"][REDUNDANT[0]] == 0
    np.testing.assert_array_equal(first["after"], second["after"])


def test_all_that_find_it_agree_on_the_planted_pair(planted: AgreementResult) -> None:
    for name in ("gating", "left_out"):
        assert all(planted.found[name][head] for head in NEEDED)
    assert planted.methods[:2] == ["gating", "left_out"]
    assert "direct" in planted.methods


def test_explanations_on_few_rows_are_said_to_tell_little(planted: AgreementResult) -> None:
    said = "6 held-out rows are too few to tell what explains a dispute: 20 are needed."
    assert said in planted.notes


def test_a_relative_that_was_not_measured_is_no_method() -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    run = gating(model, TASK, [{REDUNDANT[0]: 0.9}], FIT)
    setattr(model, "parts", replace(model.parts, final_norm=None))  # noqa: B010  read-only to mypy
    relatives = relatives_of(model, TASK, n_examples=2, points=1)
    assert np.isnan(relatives.direct).all()
    params = PARAMS.model_copy(update={"refits": 0, "n_examples": 2, "most": 1})
    assert "direct" not in agreement(params, model, TASK, gating=run, relatives=relatives).methods


@pytest.fixture(scope="module")
def two_layer() -> AgreementResult:
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
    relatives = relatives_of(model, task, n_examples=4, refine=True)
    params = AgreementParams(gating="g", relatives="r", n_examples=2, most=1, refits=0)
    return agreement(params, model, task, gating=run, relatives=relatives)


def test_the_shipped_models_previous_token_head_is_explained(two_layer: AgreementResult) -> None:
    each = two_layer.disagreements[0]
    assert each["head"] == "0.3"
    assert {"left_out", "path"} <= set(each["found"])
    assert "direct" in each["missed"]
    if "gating" in each["missed"]:
        assert "saturated-gate" in kinds(each)
    assert {"other-positions", "indirect"} <= set(kinds(each))
    assert "unknown" not in kinds(each)
    assert each["measured"]["closed"] > 5
    assert each["measured"]["at_answers"] < 0.25 * each["measured"]["closed"]
    assert each["measured"]["through"] == [1, 5]
    indirect = next(why["text"] for why in each["why"] if why["kind"] == "indirect")
    assert "1.5 alone held" in indirect
    effects = two_layer.effects["left_out"]
    assert effects.max() == effects[0, 3]
    assert two_layer.effects["path"].max() == two_layer.effects["path"][0, 3]


def test_its_figures_tables_and_exports(two_layer: AgreementResult) -> None:
    first = figures.build(two_layer, "disagreements")["layout"]["meta"]
    assert first["disagreements"][0]["head"] == "0.3"
    table = figures.table(two_layer, "disagreements")
    names = [column["name"] for column in table["columns"]]
    assert "It acts at earlier tokens" in table["rows"][0][names.index("why")]
    assert len(export(two_layer, "csv").content.decode().splitlines()) == 1 + 16
    assert b"Where the methods disagree" in export(two_layer, "html").content
    numbers = headline(two_layer)
    assert numbers["most_disputed_head"] == "0.3"
    assert -1 <= numbers["rank_correlation_left_out"] <= 1


def test_the_push_pays_a_head_for_being_shut(planted: AgreementResult) -> None:
    each = told(planted, REDUNDANT[0])
    assert each["measured"]["kept_from"] == pytest.approx(0.1 * 8 / 8)


def test_runs_that_dont_belong_together_are_refused(planted: AgreementResult) -> None:
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
            compared(Spec(PARAMS, model.info, TASK, inputs))
        assert refused.value.code == code, words
    with pytest.raises(Invalid, match=r"'else'.*'planted'"):
        compared(Spec(PARAMS, model.info, TASK, {"gating": run, "relatives": other}))


def test_a_method_that_finds_no_head_is_said_so() -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    run = gating(model, TASK, [dict.fromkeys(NEEDED, 0.3)])
    result = agreement(PARAMS, model, TASK, gating=run, relatives=without_effects(run))
    assert result.disagreements == []
    assert "Leave-one-out finds no head" in " ".join(result.notes)
    for name in figures.names("agreement"):
        assert figures.build(result, name)["layout"]["meta"]["reading"]
        assert figures.table(result, name)["rows"]
    assert (
        "no head that one of these methods surely finds"
        in figures.build(result, "disagreements")["layout"]["meta"]["reading"]
    )


def test_the_estimate_grows_with_the_heads_to_explain() -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    run = gating(model, TASK, [dict.fromkeys(NEEDED, 0.99)])
    given: dict[str, Input] = {"gating": run, "relatives": without_effects(run)}
    info = replace(model.info, n_layers=30, n_heads=9, n_params_non_embedding=10**8)
    few, many = (
        AGREEMENT.estimate(Spec(PARAMS.model_copy(update={"most": most}), info, TASK, given))
        for most in (1, 8)
    )
    assert many.seconds > few.seconds
    assert "8 heads explained" in many.basis


def without_effects(run: ChgResult) -> Result:
    """A run of relatives by which no head does anything."""
    nothing = np.zeros((run.model.n_layers, run.model.n_heads), np.float32)
    arrays = {name: nothing for measure in MEASURES for name in (measure.name, f"{measure.name}_se")}
    values = {"n_examples": 1, "loss": 0.0, "loss_closed": 0.0, "path_sum": 0.0, "notes": []}
    return made("relatives", 1, {}, run.model, run.task, (0,), arrays, values)


# -- a result made up -------------------------------------------------------------------------------


def test_a_heads_row_says_what_each_method_found() -> None:
    found = sample()
    assert isinstance(found, AgreementResult)
    whole = AGREEMENT.whole
    table = figures.table(found, whole.name)
    assert len(table["rows"]) == 8
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
    by_place = {(row["layer"], row["head"]): row for row in rows}
    score = found.arrays["facilitation_mean"]
    told = next(name for name in names if "facilitation" in name)
    for place, row in by_place.items():
        assert row[told] == pytest.approx(float(score[place]), rel=1e-5)


def test_heads_in_dispute_are_the_most_disputed_first() -> None:
    found = sample()
    assert isinstance(found, AgreementResult)
    strength = found.arrays["strength"]
    assert (np.diff(strength) <= 1e-6).all()
    assert len(strength) == len(found.arrays["heads"]) == found.values["n_disputed"]
    by_head = [each["head"] for each in found.values["disagreements"]]
    assert by_head == [f"{layer}.{head}" for layer, head in found.arrays["heads"][:2].tolist()]
    numbers = AGREEMENT.headline(found)
    assert set(numbers) <= set(AGREEMENT.quantities)


def by_mean(model: HeadModel, needed: list[Mapping[tuple[int, int], float]], kind: str = "mean") -> ChgResult:
    return gating(model, TASK, needed, {**FIT, "ablation": kind})


def test_roles_that_survive_another_ablation_are_counted_with_what_chance_would_give() -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    run = gating(model, TASK, [dict.fromkeys((*NEEDED, REDUNDANT[0]), 0.99)] * 2, FIT)
    other = by_mean(model, [dict.fromkeys(NEEDED, 0.99)] * 2)
    relatives = relatives_of(model, TASK, n_examples=4, points=2)
    found = agreement(PARAMS, model, TASK, gating=run, relatives=relatives, by_mean=other)
    needed, harmful = found.survival
    assert (needed["here"], needed["there"], needed["both"]) == (3, 2, 2)
    assert needed["expected"] == 3 * 2 / 8
    assert (harmful["here"], harmful["there"], harmful["both"]) == (len(HARMFUL),) * 3
    rows = figures.table(found, "ablations")["rows"]
    roles = {row[0]: (row[1], row[4]) for row in rows}
    assert roles[f"{REDUNDANT[0][0]}.{REDUNDANT[0][1]}"] == ("needed", "neither")
    assert set(roles) == {f"{layer}.{head}" for layer, head in (*NEEDED, REDUNDANT[0], *HARMFUL)}
    reading = figures.build(found, "ablations")["layout"]["meta"]["reading"]
    assert "2 of 3 needed heads are so by mean too (0.75 expected" in reading


def test_without_another_ablation_the_figure_says_how_to_have_one(planted: AgreementResult) -> None:
    assert planted.survival == ()
    assert "by_mean" in figures.build(planted, "ablations")["layout"]["meta"]["reading"]
    assert figures.table(planted, "ablations")["rows"] == [["none"]]


def test_a_run_of_another_ablation_than_its_place_says_is_refused() -> None:
    model = as_model(build(PLAN), PLAN, "planted")
    run = gating(model, TASK, [dict.fromkeys(NEEDED, 0.99)], FIT)
    relatives = relatives_of(model, TASK, n_examples=4, points=2)
    with pytest.raises(Invalid) as caught:
        agreement(PARAMS, model, TASK, gating=run, relatives=relatives, by_mean=run)
    assert caught.value.code == "other-ablation"
