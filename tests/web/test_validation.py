"""Validation over HTTP: what ships, in words and as figures."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from headscope.figures.theme import palette
from headscope.validation import cells, replicated
from headscope.validation.replicated import ROLES
from headscope.validation.shipped import GOALS, MEASURES, VALIDATIONS, figure

URL = "/api/v1/validation"


def test_every_table_that_ships_travels(client: TestClient) -> None:
    told = client.get(URL).json()
    assert [one["name"] for one in told] == list(VALIDATIONS)
    for one in told:
        assert one["command"].startswith("headscope validate ")
        assert [measure["name"] for measure in one["measures"]] == list(cells.MEASURES) == list(MEASURES)
        *each, together = one["cells"]
        assert together["name"] == "together"
        assert together["draws"] == sum(cell["draws"] for cell in each)
        assert one["passed"] == (not any(cell["missed"] for cell in one["cells"]))


@pytest.mark.parametrize("name", list(VALIDATIONS))
def test_a_figure_has_a_dot_for_each_number_inside_its_interval(client: TestClient, name: str) -> None:
    drawn = client.get(f"{URL}/{name}/figure").json()
    assert drawn["layout"]["meta"]["title"] == VALIDATIONS[name].title
    content = VALIDATIONS[name].content["cells"]
    dots = sum(found["auroc"]["n"] > 0 for cell in content for found in cell["found"].values())
    assert sum(len(trace["x"]) for trace in drawn["data"]) == dots
    for trace in drawn["data"]:
        assert min(trace["error_x"]["array"] + trace["error_x"]["arrayminus"]) >= 0


def test_the_planted_models_meet_the_goals() -> None:
    *each, _ = VALIDATIONS["planted"].content["cells"]
    assert len(each) == 6
    for cell in each:
        assert cell["draws"] >= 20
        for measure, least in GOALS.items():
            assert cell["found"][measure]["auroc"]["mean"] >= least


def test_both_themes_draw_the_same_numbers() -> None:
    light, dark = (figure(VALIDATIONS["planted"], palette(theme)) for theme in ("light", "dark"))
    assert [trace["x"] for trace in light["data"]] == [trace["x"] for trace in dark["data"]]
    assert light["data"][0]["marker"] != dark["data"][0]["marker"]


def test_pairs_of_sets_travel_with_their_figure(client: TestClient) -> None:
    told = client.get(f"{URL}/roles").json()
    pairs = replicated.shipped()
    assert [(one["model"], one["task"]) for one in told] == [(pair.model, pair.task) for pair in pairs]
    for one in told:
        assert one["command"].startswith("headscope validate roles --model ")
        assert [role["role"] for role in one["roles"]] == list(ROLES)
        assert one["passed"] == all(role["kept"] is None or role["kept"] >= 0.9 for role in one["roles"])
    drawn = client.get(f"{URL}/roles/figure").json()
    dots = sum(len(trace.get("text", ())) for trace in drawn["data"])
    assert dots == sum(len(pair.roles[role]["rows"]) for pair in pairs for role in ROLES)


def test_another_name_is_not_found(client: TestClient) -> None:
    answer = client.get(f"{URL}/luck/figure")
    assert answer.status_code == 404
    assert answer.json()["code"] == "unknown-validation"
