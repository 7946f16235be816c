from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from headscope.analyses import ANALYSES
from headscope.analyses.base import Params
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.chg.schema import PRESETS, ChgParams
from headscope.analyses.request import Request, resolve, run_id
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid, NotFound
from micro.model import random_model
from micro.planted import PlantedTask

MODEL, TASK = random_model().info, PlantedTask()


def _resolve(
    model: ModelInfo = MODEL,
    task: PlantedTask = TASK,
    preset: str | None = "quick",
    params: dict[str, Any] | None = None,
) -> Request:
    return resolve("chg", model, task, preset, params)


def test_the_same_request_has_the_same_id_however_it_is_put() -> None:
    first = _resolve(params={"steps": 7, "seeds": 2})
    assert first.id == _resolve(params={"seeds": 2, "steps": 7}).id
    assert first.id == _resolve(preset=None, params={**PRESETS["quick"], "seeds": 2, "steps": 7}).id
    assert first.id == _resolve(params={"seeds": 2, "steps": 7, "clamp": 4}).id
    assert len(first.id) == 20
    assert int(first.id, 16) >= 0


def test_a_parameter_that_was_added_later_leaves_ids_alone_until_it_is_used() -> None:
    class Before(Params):
        steps: int = 3

    class After(Before):
        ADDED: ClassVar[frozenset[str]] = frozenset({"ablation"})
        ablation: str = "zero"

    assert After.identifying({"steps": 4, "ablation": "zero"}) == Before.identifying({"steps": 4})
    assert After.identifying({"steps": 4}) == {"steps": 4}, "as runs from before are stored"
    assert After.identifying({"steps": 3, "ablation": "mean"}) == {"steps": 3, "ablation": "mean"}


def test_the_id_is_stable_across_processes_and_releases() -> None:
    identity = {"analysis": "chg", "params": {"b": 0.1, "a": 1}, "task": None}
    assert run_id(identity) == "f01a595d507b19516a75"


@pytest.mark.parametrize(
    "change",
    [
        {"model": replace(MODEL, name="other")},
        {"model": replace(MODEL, revision="1" * 64)},
        {"model": replace(MODEL, tokenizer_hash="1" * 64)},
        {"model": replace(MODEL, weight_processing="folded")},
        {"task": replace(TASK, name="other")},
        {"task": replace(TASK, content_hash="decaf")},
        {"preset": "paper"},
        {"params": {"dtype": "bfloat16"}},
        *(
            {"params": {name: value}}
            for name, value in {"seeds": 4, "first_seed": 1, "steps": 31, "clip": 2.0}.items()
        ),
        *(
            {"params": {name: value}}
            for name, value in {"shots": 3, "split_seed": 1, "n_train": 9, "lr_end": 0.2}.items()
        ),
    ],
)
def test_the_id_changes_with_each_thing_that_decides_the_numbers(change: dict[str, Any]) -> None:
    assert _resolve(**change).id != _resolve().id


@pytest.mark.parametrize("attribute", ["version", "attention"])
def test_the_id_changes_with_the_analysis(attribute: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _resolve().id
    if attribute == "version":
        monkeypatch.setattr(ChgResult, "VERSION", 99)
    else:
        monkeypatch.setitem(ANALYSES, "chg", replace(ANALYSES["chg"], attention="eager"))
    assert _resolve().id != before


def test_a_request_is_complete() -> None:
    request = _resolve(params={"first_seed": 5})
    assert request.params["regularisation"] == 0.1
    assert set(request.params) == set(ChgParams.model_fields)
    assert request.seeds == (5, 6, 7)
    assert request.model.dtype == "float32"
    assert (request.task, request.task_hash, request.preset) == ("planted", "c0ffee", "quick")
    assert request.parsed == ChgParams.model_validate(request.params)
    json.dumps(request.params, allow_nan=False)


@pytest.mark.parametrize(
    ("params", "code", "words"),
    [
        ({"stepz": 1}, "unknown-parameter", "Known: seeds"),
        ({"steps": 0}, "invalid-parameter", "steps"),
        ({"steps": "many"}, "invalid-parameter", "steps"),
        ({"lr_start": float("nan")}, "invalid-parameter", "lr_start"),
        ({"dtype": "float16"}, "invalid-parameter", "dtype"),
    ],
)
def test_parameters_out_of_their_limits_are_refused_by_name(
    params: dict[str, Any], code: str, words: str
) -> None:
    with pytest.raises(Invalid) as error:
        _resolve(params=params)
    assert error.value.code == code
    assert words in str(error.value)


def test_an_unknown_preset_a_missing_task_and_an_unknown_analysis_are_refused() -> None:
    with pytest.raises(Invalid, match="Known: quick, paper"):
        _resolve(preset="fast")
    with pytest.raises(Invalid, match="needs a task"):
        resolve("chg", MODEL, None, None)
    with pytest.raises(NotFound, match="Known: chg"):
        resolve("gating", MODEL, TASK, None)


def test_every_preset_is_valid_and_every_parameter_is_described_for_the_form() -> None:
    for analysis in ANALYSES.values():
        for preset in analysis.presets.values():
            analysis.params.model_validate(preset)
        properties = analysis.params.model_json_schema()["properties"]
        assert all(entry["title"] and entry["description"] for entry in properties.values())


def test_the_paper_preset_and_the_defaults_are_the_papers() -> None:
    paper = ChgParams.model_validate(PRESETS["paper"])
    assert paper == ChgParams(check_closed=True), "a check after the fit, which leaves it as it is"
    assert (paper.steps, paper.batch_size, paper.seeds) == (500, 64, 10)
    assert (paper.phase0_lr_start, paper.phase0_lr_end, paper.lr_start, paper.lr_end) == (0.1, 0.01, 0.5, 0.1)
    assert (paper.regularisation, paper.clamp, paper.clip) == (0.1, 4.0, 1.0)


def test_requests_load_no_torch() -> None:
    heavy = "{'torch', 'transformers'} & set(sys.modules)"
    script = f"import sys, headscope.analyses.request; sys.exit(bool({heavy}))"
    subprocess.run([sys.executable, "-c", script], check=True)
