"""Steering maps: where the model can't do the task no word says that a head is needed or harmful."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analyses.specs import TASK
from figures.results import compared as runs_to_compare
from figures.results import result
from figures.samples import SAMPLES
from headscope.analyses import comparisons, figures
from headscope.analyses.agreement import AGREEMENT
from headscope.analyses.base import Spec
from headscope.analyses.chg.gates import offered
from headscope.analyses.chg.result import QUANTITIES, ChgResult, headline
from headscope.analyses.export import export
from headscope.analyses.headline import told
from headscope.analyses.offered_gates import AskedGates
from headscope.errors import Refused
from services.results import changed

WORDS = ("needed", "harmful")


def steering(chance: float | None = 0.05, right: float = 0.2) -> ChgResult:
    """The usual sample, of a model that answers few rows right as it is."""
    whole = result()
    accuracy = whole.heldout_accuracy.copy()
    accuracy[0] = right
    return replace(whole, heldout_accuracy=accuracy, chance=chance)


def said(value: Any) -> str:
    """All that a figure or table says, but for the names of colours and roles in machine's terms."""
    return json.dumps(value, ensure_ascii=False, default=str).lower()


def test_the_rule_decides_what_a_map_is() -> None:
    assert result().vocabulary.kind == "roles"
    assert steering().vocabulary.kind == "steering"
    assert steering(right=0.6, chance=0.55).vocabulary.kind == "steering"  # 24 of 40: no surer than guessing
    assert steering(right=0.6, chance=None).vocabulary.kind == "roles"  # an older result: the bound decides
    pair = replace(steering(right=0.6, chance=None), judged="pair")
    assert (pair.ability.chance, pair.vocabulary.kind) == (0.5, "steering")


@pytest.mark.parametrize("name", figures.names("chg"))
def test_no_figure_and_no_table_uses_the_words_of_roles(name: str) -> None:
    for mode in ("every", "always", "any"):
        drawn = figures.build(steering(), name, mode=mode)
        for trace in drawn["data"]:
            trace.pop("legendgroup", None)  # for the drawing, never shown
        for by_role in ("intervals", "replication"):  # keys for programs
            drawn["layout"]["meta"].pop(by_role, None)
        for what in (drawn, figures.table(steering(), name, mode=mode)):
            assert not [word for word in WORDS if word in said(what)]


def test_the_grid_says_what_it_is_and_why() -> None:
    meta = figures.build(steering(), "roles")["layout"]["meta"]
    assert meta["title"].startswith("Steering map")
    assert meta["reading"].startswith("Only 3 fits: a role that all 3 give may be missing in the next. ")
    assert "The model answers 20.0 % right (95 %: 9.1 to 35.6 %; chance 5.0 %)" in meta["reading"]
    assert meta["vocabulary"]["roles"] == [
        "undecided", "lifts when open", "lifts when shut", "both", "either way",
    ]  # fmt: skip
    assert meta["ability"]["can_do"] is False
    able = figures.build(result(), "roles")["layout"]["meta"]
    assert able["vocabulary"]["roles"][1] == "needed"
    assert able["ability"]["can_do"] is True


def test_the_headline_has_other_names_and_the_same_numbers() -> None:
    able = replace(steering(), heldout_accuracy=np.ones((4, 3)))
    mine, roles = headline(steering()), headline(able)
    assert mine["always_lifts_open"] == roles["always_needed"]
    assert mine["any_lifts_shut"] == roles["any_harmful"]
    assert set(mine) <= set(QUANTITIES)
    assert not [word for word in WORDS if word in said([each.label for each in told("chg", mine)])]


def test_a_headline_that_was_stored_before_is_told_anew() -> None:
    stored = {"always_needed": 0.1, "any_harmful": 0.4, "accuracy_ungated": 0.2, "accuracy_plus": 0.9}
    labels = [each.label for each in told("chg", stored)]
    assert labels[:2] == ["Always lifts when open", "Lifts when shut in some seed"]
    assert told("chg", {**stored, "accuracy_ungated": 0.9})[0].label == "Always needed"


def test_exports_and_gates_speak_alike() -> None:
    run = {"id": "0" * 20}
    page = export(steering(), "html", run).content.decode()
    body = page[page.index("<main>") : page.index("</main>")].lower()
    assert "lifts when open" in body
    assert not [word for word in WORDS if word in body.replace("--needed", "").replace("--harmful", "")]
    assert "share_lifts_open" in export(steering(), "csv", run).content.decode().splitlines()[0]
    presets = offered(steering(), AskedGates(run="0" * 20, seed=None, threshold=0.5))
    assert not [one for one in presets for word in WORDS if word in (one.title + one.reading).lower()]
    assert presets[2].title == "Only heads that lift when open"


def test_a_comparison_says_which_are_steering_maps() -> None:
    first, *others = runs_to_compare(one_model=False)
    few = {**first.arrays, "heldout_accuracy": first.arrays["heldout_accuracy"] * np.float32(0.2)}
    mixed = [changed(first, arrays=few), *others]
    drawn = comparisons.build("shares", mixed)
    assert "needed / lifts when open" in said(drawn)
    notes = drawn["layout"]["meta"]["notes"]
    assert any("is a steering map: the model answers" in note for note in notes)
    alone = comparisons.build("ecdf", mixed[:1])
    assert not [word for word in WORDS if word in said(alone["layout"]["meta"])]


def test_agreement_refuses_it_and_says_what_to_do() -> None:
    run = steering()
    about = {"name": TASK.name, "content_hash": TASK.content_hash}
    given = {"gating": replace(run, task=about), "relatives": SAMPLES["relatives"]()}
    spec: Spec[Any] = Spec(AGREEMENT.params.model_validate({"gating": "0" * 20}), run.model, TASK, given)
    with pytest.raises(Refused, match=r"is a steering map: the model answers 20\.0 % right") as error:
        AGREEMENT.plan(spec)
    assert error.value.code == "steering-map"
    assert "shots=auto" in error.value.remedy
