"""Path expansion as an analysis: the bundled model's induction circuit is the virtual head 0.3 -> 1.5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from analyses.circuit_runs import run, two_layer
from core.circuits.conftest import load, save
from headscope.analyses import ANALYSES, figures
from headscope.analyses.base import Context, Result
from headscope.core.model import HeadModel
from headscope.errors import Invalid, Refused
from headscope.tasks.prompts import prompt_set

PATHS: Any = ANALYSES["paths"]
TEXT = "ROMEO: the rose, the ro"


@pytest.fixture(scope="module")
def model() -> HeadModel:
    return two_layer()


@pytest.fixture(scope="module")
def result(model: HeadModel) -> Result:
    return run("paths", model, text=TEXT, rows=2)


def test_terms_sum_to_the_models_own_logit(model: HeadModel, result: Result) -> None:
    logits = model.logits(torch.tensor([model.tokenizer.encode(TEXT)]))[0, -1]
    values = result.values
    assert values["token"] == int(logits.argmax())
    assert values["logit"] == pytest.approx(float(logits.max()), abs=1e-4)
    assert values["total"] == pytest.approx(float(logits.max()), abs=1e-4)
    assert float(result.arrays["value"].sum()) == pytest.approx(values["logit"], abs=1e-3)
    assert values["n_terms"] == len(result.arrays["value"]) == (1 + 16 + 64) * 3
    assert values["longer"] == values["through_mlps"] == 0


def test_on_repeated_tokens_the_induction_circuit_matters_most(result: Result) -> None:
    rows = figures.table(result, "virtual")["rows"]
    assert rows[0][:2] == ["0.3", "1.5"]
    orders = result.arrays["orders"].mean(axis=0)
    assert orders[2] < orders[1] - 1, "one-head paths can't do induction"


def test_another_position_and_a_difference(model: HeadModel) -> None:
    params = {"text": TEXT, "at": 3, "token": 40, "against": 41, "rows": 1}
    found = run("paths", model, **params)
    logits = model.logits(torch.tensor([model.tokenizer.encode(TEXT)]))[0, 3]
    assert found.values["total"] == pytest.approx(float(logits[40] - logits[41]), abs=1e-4)
    assert "against" in figures.build(found, "terms")["layout"]["meta"]["reading"]


def test_kept_prompts_take_the_place_of_random_tokens(model: HeadModel) -> None:
    kept = prompt_set(["First Citizen: speak, speak.", "the the the", "a third one"])
    params = PATHS.params.model_validate({"prompts": kept.id, "rows": 2})
    inputs = {"prompts": kept}
    keys = [piece.key for piece in PATHS.plan(params, model.info, inputs)]
    assert keys == ["terms", "row/0", "row/1"]
    piece = PATHS.plan(params, model.info, inputs)[2]
    found = PATHS.compute(piece, params, Context(model, None, inputs=inputs))
    ids = torch.tensor([model.tokenizer.encode(kept.texts[1])])
    loss = torch.nn.functional.cross_entropy(model.logits(ids)[0, :-1], ids[0, 1:])
    assert float(found["orders"][-1]) == pytest.approx(float(loss), abs=1e-4)
    assert tuple(PATHS.seeds(params)) == ()


def test_a_model_with_mlps_names_what_went_through_them(tmp_path_factory: pytest.TempPathFactory) -> None:
    model = load(save("llama", tmp_path_factory.mktemp("llama")))
    found = run("paths", model, text="w3 w14 w15 w9", rows=1, length=6)
    ids = torch.tensor([model.tokenizer.encode("w3 w14 w15 w9")])
    assert found.values["total"] == pytest.approx(float(model.logits(ids)[0, -1].max()), abs=2e-3)
    assert found.values["through_mlps"] != 0
    names = [row[0] for row in figures.table(found, "terms")["rows"]]
    assert "through MLPs" in names
    assert found.arrays["heads"].shape == (1, 3, 4)


def test_figures_of_one_head_show_its_paths(result: Result) -> None:
    figure = figures.build(result, "terms", head="1.5")
    assert all("1.5" in word for word in figure["data"][0]["y"])
    assert figure["layout"]["meta"]["title"].endswith("1.5")
    pattern = result.arrays["pair_pattern"]
    np.testing.assert_allclose(pattern.sum(-1), 1, rtol=1e-4)


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"text": "a", "at": 5}, "unknown-position"),
        ({"token": 512}, "unknown-token"),
        ({"against": 9999}, "unknown-token"),
        ({"text": "word " * 400}, "too-long"),
    ],
)
def test_bad_requests_are_refused_before_anything_runs(
    model: HeadModel, params: dict[str, Any], code: str
) -> None:
    parsed = PATHS.params.model_validate(params)
    with pytest.raises(Invalid) as refused:
        PATHS.estimate(parsed, model.info, None, tokenizer=model.tokenizer)
    assert refused.value.code == code


def test_patterns_that_dont_fit_are_refused_with_numbers(
    model: HeadModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headscope.analyses.paths.compute.MOST_PATTERN_BYTES", 1000)
    with pytest.raises(Refused, match="GiB"):
        PATHS.estimate(PATHS.params(), model.info, None, tokenizer=model.tokenizer)
