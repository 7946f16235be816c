"""Contrastive gating: planted heads of two tasks, both ways and pushes, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analyses.specs import SMALL, asked, cut_small, span
from headscope.analyses import figures, in_place
from headscope.analyses.base import Kept, Result, Spec
from headscope.analyses.cchg import CCHG
from headscope.analyses.cchg.gates import offered
from headscope.analyses.cchg.result import CchgResult, headline
from headscope.analyses.cchg.schema import CchgParams
from headscope.analyses.export import export
from headscope.analyses.offered_gates import AskedGates
from headscope.analyses.references import RunRef, check_needed
from headscope.errors import Cancelled, Invalid, NotFound, Refused
from micro.two_tasks import FIRST_HEAD, IDLE, LOWER, SECOND_HEAD, UPPER, Asked, two_task_model
from services.results import made

PARAMS = CchgParams(
    retain=("lower",), forget=("upper",), held_out_forget=("more",), push="both", seeds=2, steps=40,
    batch_size=8, lr_start=0.5, lr_end=0.1, n_test=8, gating="earlier",
)  # fmt: skip
MORE = replace(UPPER, name="more", content_hash="3" * 64)


def plain_run() -> Result:
    """A gating run of the first task: only its own head is needed."""
    minus = np.full((2, 1, 3), 0.02, np.float32)
    minus[:, 0, 0] = 0.98
    losses = np.zeros((2, 1), np.float32)
    scores = np.ones((4, 2), np.float32)
    arrays = {
        "g_minus": minus, "g_plus": np.full_like(minus, 0.98), "g_zero": minus,
        "loss_zero": losses, "loss_plus": losses, "loss_minus": losses,
        "heldout_accuracy": scores, "heldout_log_probability": scores,
    }  # fmt: skip
    return made("chg", 1, {}, two_task_model().info, {"name": "lower"}, (0, 1), arrays)


def inputs(**changes: Any) -> dict[str, Any]:
    return {
        "retain": (LOWER,), "forget": (UPPER,), "held_out_forget": (MORE,), "gating": plain_run(), **changes,
    }  # fmt: skip


def spec(params: CchgParams = PARAMS, **changes: Any) -> Spec[CchgParams]:
    return Spec(params, two_task_model().info, None, inputs(**changes))


def run(params: CchgParams = PARAMS, **changes: Any) -> CchgResult:
    return in_place.compute(CCHG, spec(params, **changes), two_task_model())


@pytest.fixture(scope="module")
def result() -> CchgResult:
    return run()


@pytest.mark.parametrize("push", ["open", "shut"])
def test_the_forgotten_tasks_head_is_closed_and_the_retained_ones_stays_open(
    result: CchgResult, push: str
) -> None:
    for way, kept, closed in (("named", FIRST_HEAD, SECOND_HEAD), ("exchanged", SECOND_HEAD, FIRST_HEAD)):
        gates = result.g[f"{way}_{push}"]
        assert (gates[:, kept[0], kept[1]] > 0.8).all()
        assert (gates[:, closed[0], closed[1]] < 0.2).all()
        idle = gates[:, IDLE[0], IDLE[1]]
        assert ((idle > 0.5) if push == "open" else (idle < 0.5)).mean() > 0.5


def test_the_maps_of_two_pushes_have_titles_of_their_own(result: CchgResult) -> None:
    named = ("gates", "exchanged", "gates-shut", "exchanged-shut")
    titles = [figures.build(result, name)["layout"]["meta"]["title"] for name in named]
    assert len(set(titles)) == 4
    assert titles[0].endswith(", pushed open")
    assert titles[2].endswith(", pushed shut")
    assert "λ −0.1" in figures.build(result, "gates-shut")["layout"]["meta"]["reading"]


def test_accuracy_says_what_is_kept_and_what_is_lost_on_tasks_never_fitted_too(result: CchgResult) -> None:
    assert [task["name"] for task in result.tasks] == ["lower", "upper", "more"]
    assert result.accuracy_ungated.tolist() == [1, 1, 1]
    np.testing.assert_array_equal(result.accuracy["named_open"][:, 0], 1)
    assert (result.log_probability["named_open"][:, 1:] < -2).all()
    rows = figures.table(result, "accuracy")["rows"]
    assert len(rows) == 4 * 3
    roles = {(row[0].split(",")[0], row[1]): row[2] for row in rows}
    assert roles["named", "more"] == roles["named", "upper"] == roles["exchanged", "lower"] == "forgotten"
    assert roles["exchanged", "more"] == "retained"


def test_what_sets_apart_is_counted_by_hand(result: CchgResult) -> None:
    outcome = result.fits[0]
    accuracy = result.accuracy["named_open"]
    assert outcome["kept"] == pytest.approx(accuracy[:, 0].mean())
    assert outcome["left"] == pytest.approx(accuracy[:, 1].mean())
    assert outcome["seeds_apart"] == int(((accuracy[:, 0] >= 0.9) & (accuracy[:, 1] < 0.5)).sum())
    exchanged = result.fits[1]
    assert (exchanged["retain"], exchanged["forget"]) == (["upper"], ["lower"])
    headline = CCHG.headline(result)
    assert headline["retained_keeps"] == outcome["kept"]
    assert list(headline) == list(CCHG.quantities)


def test_the_plain_gates_stand_beside(result: CchgResult) -> None:
    assert result.plain["shut"].tolist() == [pytest.approx([0.98, 0.02, 0.02])]
    table = figures.table(result, "gates")
    assert [column["name"] for column in table["columns"]][-2:] == ["plain_open", "plain_shut"]
    assert "absent" not in figures.build(result, "plain")["layout"]["meta"]


def test_one_push_has_no_map_of_the_other_and_says_so() -> None:
    params = PARAMS.model_copy(update={"push": "shut", "steps": 2, "gating": None, "seeds": 1})
    result = run(params, gating=None)
    assert set(result.g) == {"named_shut", "exchanged_shut"}
    for name in ("gates-shut", "exchanged-shut", "plain"):
        assert figures.build(result, name)["layout"]["meta"]["absent"]
    assert result.fits[0]["regularisation"] == -0.1
    assert any("No causal head gating run" in note for note in result.notes)


def test_seeds_in_one_run_equal_seeds_of_their_own() -> None:
    short = PARAMS.model_copy(update={"push": "open", "steps": 5})
    both, alone = run(short), run(short.model_copy(update={"seeds": 1, "first_seed": 1}))
    for name in ("g_named_open", "g_exchanged_open", "accuracy_named_open"):
        np.testing.assert_allclose(alone.arrays[name][0], both.arrays[name][1], atol=1e-6)


def test_each_fit_of_the_picture_has_its_tasks_below_its_name(result: CchgResult) -> None:
    figure = figures.build(result, "accuracy")
    axis = figure["layout"]["yaxis"]
    shown = dict(zip(axis["tickvals"], axis["ticktext"], strict=True))
    places = [place for trace in figure["data"] for place in trace["y"]]
    assert set(places) < set(shown)
    fits = [place for place in shown if place not in places]
    assert [shown[fit] for fit in fits] == [f"<b>{fit}</b>" for fit in fits]
    # The model as it is has one bar for each task and fit, each at a place of its own.
    assert len(set(figure["data"][0]["y"])) == len(figure["data"][0]["y"])
    for fit in fits:
        below = axis["tickvals"].index(fit) + 1
        assert axis["tickvals"][below].startswith(f"{fit}: ")


def test_figures_tables_and_exports_of_a_run(result: CchgResult) -> None:
    for name in figures.names("cchg"):
        figure = figures.build(result, name)
        assert figure["layout"]["meta"]["reading"]
        assert figures.table(result, name)["rows"]
    for kind in ("json", "csv", "npz"):
        assert export(result, kind, {}).content
    assert CchgResult.from_json(result.to_json()).values == result.values


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"forget": (LOWER,)}, "'lower' stands in retain and in forget"),
        ({"forget": (replace(LOWER, name="copy"),)}, "'copy', which is the same as 'lower'"),
        ({"held_out_retain": (LOWER,)}, "in retain and in held_out_retain"),
        ({"retain": (LOWER, LOWER)}, "twice in retain"),
    ],
)
def test_a_task_in_two_places_is_refused_when_asked_for(changes: dict[str, Any], words: str) -> None:
    asks: tuple[Callable[[Spec[CchgParams]], object], ...] = (CCHG.estimate, CCHG.plan)
    for ask in asks:
        with pytest.raises(Invalid, match=words) as error:
            ask(spec(**changes))
        assert error.value.code == "same-task"


@pytest.mark.parametrize("missing", ["retain", "forget"])
def test_a_set_without_tasks_is_refused(missing: str) -> None:
    with pytest.raises(Invalid, match=f"a task for {missing}") as error:
        check_needed(CCHG.title, CCHG.references, inputs(**{missing: ()}))
    assert error.value.code == "task-missing"


def test_a_run_beside_it_of_another_analysis_is_refused() -> None:
    reference = CCHG.references["gating"]
    assert isinstance(reference, RunRef)
    reference.check(plain_run(), None)
    with pytest.raises(Invalid, match="induction") as error:
        reference.check(replace(plain_run(), analysis="induction"), None)
    assert error.value.code == "not-gating"


def test_a_task_that_the_model_cant_do_ends_the_run_with_the_number() -> None:
    class Wrong(Asked):
        def examples(self, *args: Any, **more: Any) -> Any:
            found = super().examples(*args, **more)
            items = [replace(each, tokens=(*each.tokens[:2], 11 - each.tokens[1])) for each in found]
            return replace(found, items=tuple(items * 3))

    wrong = Wrong(name="wrong", content_hash="9" * 64)
    said = r"micro answers 0.0% of 24 held-out examples of wrong; guessing gets 25.0%"
    with pytest.raises(Refused, match=said):
        run(PARAMS.model_copy(update={"retain": ("wrong",)}), retain=(wrong,))


def test_the_estimate_counts_every_fit() -> None:
    one = PARAMS.model_copy(update={"push": "open", "steps": 100})
    both = one.model_copy(update={"push": "both"})
    info = replace(two_task_model().info, n_params=10**8, n_params_non_embedding=10**8)
    seconds = [CCHG.estimate(replace(spec(params), model=info)).seconds for params in (one, both)]
    assert 1.5 < seconds[1] / seconds[0] <= 2.01


def test_gates_to_try_are_those_of_each_fit_whole_and_rounded(result: CchgResult) -> None:
    found = {preset.name: preset for preset in offered(result, AskedGates())}
    assert len(found) == 8
    titles = [preset.title for preset in found.values()]
    assert len(set(titles)) == 8
    assert found["named-shut"].title == "lower without upper, pushed shut"
    mean = result.g["named_open"].mean(axis=0)
    np.testing.assert_allclose(found["named-open"].gates, mean, atol=1e-6)
    np.testing.assert_array_equal(found["named-open-rounded"].gates, mean >= 0.5)
    one = {preset.name: preset for preset in offered(result, AskedGates(seed=1))}
    np.testing.assert_array_equal(one["exchanged-shut"].gates, result.g["exchanged_shut"][1])
    with pytest.raises(NotFound, match="Its seeds are 0, 1"):
        offered(result, AskedGates(seed=7))


# -- joined from pieces drawn at random -------------------------------------------------------------

BEFORE = np.array([0.8, 0.5, 0.4])
"""Accuracy of the three tasks without gates: retained, forgotten, held out."""


def drawn(accuracy: Any, **params: Any) -> tuple[CchgResult, dict[str, np.ndarray]]:
    """What is made of these accuracies under the gates [seed, task], the same for every fit."""
    under = np.asarray(accuracy, float)
    given = {"seeds": len(under), "steps": 7, "push": "open", **params}
    spec_ = asked("cchg", SMALL, **given)
    source, n = np.random.default_rng(6), len(under)
    truth = {"logits": source.normal(0, 2, (n, 3, 4)), "retained": source.normal(size=(n, given["steps"]))}
    truth["logits"][np.isnan(under).any(axis=1)] = np.nan
    done: dict[str, Kept] = {}
    before: dict[str, int] = {}
    for piece in CCHG.plan(spec_):
        kind, *words = piece.key.split("/")
        if kind == "plain":
            done[piece.key] = {f"plain_{push}": np.full((3, 4), 0.5, np.float32) for push in ("open", "shut")}
        elif kind == "task":
            k = int(words[0])
            done[piece.key] = {
                "accuracy": BEFORE[[k]], "log_probability": np.log(BEFORE[[k]]),
                "about": {
                    "name": "abc"[k], "title": "abc"[k], "content_hash": str(k), "form_of": "",
                    "judged": "top", "n": 40, "n_left_out": 5 * (k == 1), "chance": 0.1,
                    "verdict": "cannot" if k == 2 else "can",
                },
            }  # fmt: skip
        elif kind == "scored":
            of = under[span(words[2]), int(words[1])]
            done[piece.key] = {"accuracy": of, "log_probability": np.log(of)}
        else:
            some, stop, group = span(words[0]), int(words[1]), piece.key.rpartition("/")[0]
            curve = truth["retained"][some, before.get(group, 0) : stop]
            done[piece.key] = {"logits": truth["logits"][some], "retained": curve, "forgotten": -curve}
            before[group] = stop
    return CCHG.assemble(spec_, done), truth


UNDER = np.array([[0.8, 0.1, 0.1], [0.7, 0.2, 0.3], [0.76, 0.24, 0.4]])
"""The first and third seed set the tasks apart: 0.7 / 0.8 is less than is to be kept."""


@pytest.mark.parametrize("cut", [False, True])
def test_how_far_the_sets_come_apart_is_counted_by_hand(cut: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if cut:
        cut_small(monkeypatch)
    found, truth = drawn(UNDER)
    named, exchanged = found.fits
    assert named["kept"] == pytest.approx((UNDER[:, 0] / 0.8).mean(), rel=1e-6)
    assert named["left"] == pytest.approx((UNDER[:, 1] / 0.5).mean(), rel=1e-6)
    assert (named["seeds_apart"], named["of_seeds"]) == (2, 3)
    assert exchanged["kept"] == pytest.approx(named["left"])
    assert exchanged["left"] == pytest.approx(named["kept"])
    assert exchanged["seeds_apart"] == 0
    assert headline(found) == {
        "holds_for": "one surface form",
        "retained_keeps_elsewhere": None,
        "forgotten_keeps_elsewhere": None,
        "retained_keeps": named["kept"],
        "forgotten_keeps": named["left"],
        "seeds_that_set_apart": 2,
        "exchanged_retained_keeps": exchanged["kept"],
        "exchanged_forgotten_keeps": exchanged["left"],
    }
    gates = 1 / (1 + np.exp(-truth["logits"]))
    for key in ("named_open", "exchanged_open"):
        np.testing.assert_allclose(found.g[key], gates, rtol=1e-5)
        np.testing.assert_allclose(found.retained[key], truth["retained"], rtol=1e-6)
        np.testing.assert_allclose(found.forgotten[key], -truth["retained"], rtol=1e-6)
        np.testing.assert_allclose(found.accuracy[key], UNDER, rtol=1e-6)
    assert [(task["set"], task["held_out"]) for task in found.tasks] == [
        ("retain", False), ("forget", False), ("forget", True),
    ]  # fmt: skip


def test_each_caveat_of_contrastive_gating_is_told_when_it_is_due() -> None:
    found, _ = drawn(UNDER)
    form, skipped, cannot, less, noisy = found.notes
    assert form.startswith("Every prompt of a task stood in one surface form")
    assert cannot == "The model can't do the held-out task c: its numbers say nothing."
    assert skipped == "5 rows of b are longer than the context and were skipped."
    assert less == "7 updates of 64 examples, where the paper uses 500 of 64."
    assert noisy == "3 seeds: a single fit is noisy, compare over several."
    _, nothing, *_ = drawn(np.full((1, 3), 0.4))[0].notes
    assert nothing.startswith("No fit set the tasks apart: in none did what is retained keep 90% of its")
    enough, _ = drawn(np.tile(UNDER[0], (10, 1)), steps=500)
    assert list(enough.notes) == [form, skipped, cannot]
    without = asked("cchg", SMALL, gating=None)
    assert "plain" not in [piece.key for piece in CCHG.plan(without)]


def test_a_seed_that_failed_counts_nowhere_and_is_named() -> None:
    found, truth = drawn([*UNDER[:2].tolist(), [np.nan] * 3], first_seed=5)
    assert found.failed_seeds == {"named_open": [7], "exchanged_open": [7]}
    assert "1 of 3 seeds of named_open failed (7): their loss was not finite." in found.notes
    assert found.fits[0]["of_seeds"] == 2
    assert found.fits[0]["kept"] == pytest.approx((UNDER[:2, 0] / 0.8).mean(), rel=1e-6)
    presets = {each.name: each for each in offered(found, AskedGates())}
    gates = 1 / (1 + np.exp(-truth["logits"][:2]))
    np.testing.assert_allclose(presets["named-open"].gates, gates.mean(axis=0), rtol=1e-5)
    np.testing.assert_array_equal(presets["named-open-rounded"].gates, gates.mean(axis=0) >= 0.5)
    with pytest.raises(NotFound, match="5, 6"):
        offered(found, AskedGates(seed=7))


def test_the_table_of_tasks_says_what_is_left() -> None:
    found, _ = drawn(UNDER)
    table = figures.table(found, "accuracy")
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
    assert [row["set"] for row in rows] == ["retained", "forgotten", "forgotten", "forgotten", "retained",
                                           "retained"]  # fmt: skip
    for row, k in zip(rows, [0, 1, 2] * 2, strict=True):
        assert row["accuracy_before"] == pytest.approx(BEFORE[k], rel=1e-6)
        assert row["accuracy_after"] == pytest.approx(UNDER[:, k].mean(), rel=1e-6)
        assert row["left"] == pytest.approx(UNDER[:, k].mean() / BEFORE[k], rel=1e-6)
        assert row["accuracy_low"] == pytest.approx(UNDER[:, k].min(), rel=1e-6)
        assert row["log_probability_after"] == pytest.approx(np.log(UNDER[:, k]).mean(), rel=1e-5)
    assert {column["name"]: column["unit"] for column in table["columns"]}["left"] == "share"


def test_it_stops_at_a_checkpoint() -> None:
    def checkpoint() -> None:
        raise Cancelled("Stopped.", "Start it again.")

    with pytest.raises(Cancelled):
        in_place.compute(CCHG, spec(), two_task_model(), checkpoint=checkpoint)
