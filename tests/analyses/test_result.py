from __future__ import annotations

import json

import numpy as np
import pytest

from headscope.analyses.base import Result
from headscope.errors import Invalid
from micro.model import random_model
from services.results import made


def _result(**arrays: np.ndarray) -> Result:
    return made(
        "planted", 1, {"seeds": 2}, random_model().info, {"name": "planted"}, (0, 1), arrays, {"n_train": 3}
    )


def test_a_result_survives_json_with_nan_in_its_arrays() -> None:
    gates = np.array([[0.5, np.nan], [np.inf, 1.0]], np.float32)
    result = _result(g_plus=gates)
    back = Result.from_json(json.loads(json.dumps(result.to_json(), allow_nan=False)))
    np.testing.assert_array_equal(back.arrays["g_plus"], gates)
    assert (back.analysis, back.params, back.model, back.task) == (
        result.analysis,
        result.params,
        result.model,
        result.task,
    )
    assert (back.seeds, back.values) == (result.seeds, result.values)


def test_arrays_lie_at_the_top_as_typed_arrays() -> None:
    sent = _result(g_plus=np.zeros((2, 1, 3), np.float32)).to_json()
    assert sent["g_plus"]["dtype"] == "f4"
    assert sent["g_plus"]["shape"] == "2, 1, 3"
    assert set(sent) == {"analysis", "schema_version", "params", "model", "task", "seeds", "values", "g_plus"}


def test_an_array_may_not_take_a_fields_name() -> None:
    with pytest.raises(Invalid, match="values"):
        _result(values=np.zeros(1)).to_json()


def test_a_damaged_result_is_refused() -> None:
    sent = _result(g_plus=np.zeros(3)).to_json()
    for damaged in (
        {key: value for key, value in sent.items() if key != "model"},
        {**sent, "model": {"name": "micro"}},
        {**sent, "g_plus": [0, 0, 0]},
    ):
        with pytest.raises(Invalid):
            Result.from_json(damaged)
