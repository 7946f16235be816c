"""Prompts and gates in the database, and what a run's parameters may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select

from headscope.analyses.references import GatesRef, PromptsRef, Reference, RunRef
from headscope.analyses.request import Request
from headscope.core.gating.gate_vector import gate_vector, vector_id
from headscope.core.model.info import ModelInfo
from headscope.errors import HeadscopeError
from headscope.store import artifacts, attempts, gates, prompts, runs
from headscope.store.references import look_up
from headscope.store.session import Store
from headscope.store.tables import Artifact
from headscope.tasks.prompts import prompt_set
from store.conftest import MODEL, result_with

Make = Callable[..., Request]
TABLE = np.linspace(0, 1, 6, dtype="f4").reshape(2, 3)


def test_texts_survive_as_they_are(store: Store) -> None:
    texts = ["a\r\n\tb", "\U0001f9d9\u200d", "\u0301 \u05d0\x85\u2028", " ", "x" * 200_000]
    with store.session() as session:
        kept = prompts.add(session, prompt_set(texts, "mine"))
        again = prompts.add(session, prompt_set(texts))
    assert (kept.new, again.new, again.row.name) == (True, False, "mine")
    with store.session() as session:
        found = prompts.load(session, kept.row.id)
        assert found == prompt_set(texts, "mine")
        assert found.texts == tuple(texts)


def test_a_deleted_prompt_leaves_nothing_and_takes_nothing_else(store: Store) -> None:
    with store.session() as session:
        one, other = (prompts.add(session, prompt_set([text])).row.id for text in ("a", "b"))
        prompts.remove(session, one)
    with store.session() as session:
        assert session.scalar(select(func.count()).select_from(Artifact)) == 1
        assert prompts.load(session, other).texts == ("b",)
        assert [row.id for row in prompts.everything(session)] == [other]
        with pytest.raises(HeadscopeError, match="There is no prompt"):
            prompts.remove(session, one)


def test_prompts_survive_the_clearing_up_after_runs(store: Store, request_for: Make) -> None:
    with store.session() as session:
        kept = prompts.add(session, prompt_set(["a"])).row.id
        artifacts.put_json(session, "of nobody")
        artifacts.drop_unused(session)
        assert session.scalar(select(func.count()).select_from(Artifact)) == 1
        assert prompts.load(session, kept).texts == ("a",)


def test_gates_survive_bit_by_bit(store: Store) -> None:
    table = np.array([[0.1, 1 / 3, 1.0], [-0.0, np.float32(1e-45), 0.5]], "f4")
    vector = gate_vector("mine", MODEL, table, "by hand")
    with store.session() as session:
        assert gates.add(session, vector).new
        assert not gates.add(session, replace(vector, name="ours")).new
    with store.session() as session:
        found = gates.load(session, vector.id)
        assert found.name == "ours"
        assert found.gates.tobytes() == np.abs(table).tobytes()
        assert [row.id for row in gates.everything(session, MODEL.name)] == [vector.id]
        assert gates.everything(session, "other") == []
        gates.remove(session, vector.id)
        with pytest.raises(HeadscopeError, match="There are no gates"):
            gates.load(session, vector.id)


def test_the_id_of_gates_is_model_weights_and_content() -> None:
    ids = {
        vector_id("tiny", "r1", TABLE),
        vector_id("tiny", "r2", TABLE),
        vector_id("other", "r1", TABLE),
        vector_id("tiny", "r1", TABLE.reshape(3, 2)),
        vector_id("tiny", "r1", TABLE / 2),
    }
    assert len(ids) == 5
    assert vector_id("tiny", "r1", TABLE.astype("f8")) in ids


# -- references ------------------------------------------------------------------------------------


def reading(references: Mapping[str, Reference]) -> Any:
    """All that ``look_up`` wants to know of an analysis."""
    return SimpleNamespace(references=references, title="Reading")


ALL = reading({"prompts": PromptsRef(), "gates": GatesRef(), "run": RunRef("planted")})


def finished_run(session: Any, request: Request, model: Any = MODEL) -> str:
    runs.create_or_get(session, request, queue="cpu")
    attempts.claim(session, request.id, 1, "w", machine="m", code_version="1")
    result = replace(result_with(np.ones((2, 2, 3), "f4")), model=model)
    attempts.finish(session, request.id, 1, "w", result.to_json(), result.arrays, {})
    return request.id


def test_parameters_lead_to_what_they_name(store: Store, request_for: Make) -> None:
    with store.session() as session:
        kept = prompts.add(session, prompt_set(["a", "b"])).row.id
        vector = gates.add(session, gate_vector("mine", MODEL, TABLE)).row.id
        run = finished_run(session, request_for())
    with store.session() as session:
        params = {"prompts": kept, "gates": vector, "run": run, "seeds": 3}
        found: Any = look_up(session, ALL, params, replace(MODEL, dtype="bfloat16"), None)
        assert found["prompts"].texts == ("a", "b")
        np.testing.assert_array_equal(found["gates"].gates, TABLE)
        np.testing.assert_array_equal(found["run"].arrays["g_plus"], np.ones((2, 2, 3)))
        assert set(look_up(session, ALL, {**params, "gates": None}, MODEL, None)) == {"prompts", "run"}
        assert look_up(session, reading({}), params, MODEL, None) == {}


@pytest.mark.parametrize("other", [replace(MODEL, name="other"), replace(MODEL, revision="r2")])
def test_gates_and_runs_of_other_weights_are_refused(
    store: Store, request_for: Make, other: ModelInfo
) -> None:
    with store.session() as session:
        vector = gates.add(session, gate_vector("mine", MODEL, TABLE)).row.id
        run = finished_run(session, request_for())
    for name, value in (("gates", vector), ("run", run)):
        with store.session() as session, pytest.raises(HeadscopeError) as error:
            look_up(session, ALL, {name: value}, other, None)
        assert (error.value.status, error.value.code) == (422, "other-model")
        assert error.value.message.startswith(f"{name}: ")


def test_unknown_and_unfinished_things_are_named(store: Store, request_for: Make) -> None:
    with store.session() as session:
        runs.create_or_get(session, request_for(), queue="cpu")
    for name, value, status, code in (
        ("prompts", "none", 404, "unknown-prompt"),
        ("gates", "none", 404, "unknown-gates"),
        ("run", "none", 404, "unknown-run"),
        ("run", request_for().id, 409, "run-not-done"),
    ):
        with store.session() as session, pytest.raises(HeadscopeError) as error:
            look_up(session, ALL, {name: value}, MODEL, None)
        assert (error.value.status, error.value.code) == (status, code)
        assert value in error.value.message
