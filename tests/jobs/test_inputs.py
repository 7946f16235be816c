"""What a run's parameters name is handed to its analysis when it is planned and computed, on any machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

from headscope.analyses.base import Arrays, Context, Piece, Reference
from headscope.errors import HeadscopeError
from headscope.jobs.engine import run_foreground
from headscope.store import prompts, runs
from headscope.tasks.prompts import prompt_set
from jobs import tiny
from jobs.conftest import Bench


class ReadingParams(tiny.TinyParams):
    prompts: str


class Reading(tiny.Tiny):
    """A piece a prompt; each answers its prompt's length."""

    references: ClassVar[Mapping[str, Reference]] = {"prompts": "prompts"}
    params: type[ReadingParams] = ReadingParams

    def plan(self, params: Any, model: object, *, inputs: Mapping[str, Any]) -> Sequence[Piece]:  # type: ignore[override]
        return [Piece(f"p{k}", f"prompt {k}") for k in range(len(inputs["prompts"].texts))]

    def compute(self, piece: Piece, params: Any, context: Context) -> Arrays:
        found: Any = context.inputs["prompts"]
        return {"g": np.array([len(found.texts[int(piece.key[1:])])], "f4")}


def compute(bench: Bench, run_id: str, prompt: str) -> None:
    request = tiny.request(run_id)
    request.params.update(prompts=prompt, pieces=3)
    with bench.store.session() as session:
        runs.create_or_get(session, request, queue=None)
    analyses: Mapping[str, Any] = {"tiny": Reading()}
    run_foreground(
        bench.store, run_id, tiny.NoFolders(), settings=bench.settings,
        analyses=analyses, models=tiny.NoModels(),
    )  # fmt: skip


def test_prompts_are_planned_by_and_computed_on(bench: Bench) -> None:
    with bench.store.session() as session:
        kept = prompts.add(session, prompt_set(["a", "bb", "ccc"])).row.id
    compute(bench, "a" * 20, kept)
    with bench.store.session() as session:
        gates = runs.result(session, "a" * 20).arrays["g_plus"]
    np.testing.assert_array_equal(gates.ravel(), [1, 2, 3])


def test_prompts_deleted_meanwhile_end_the_run_in_words(bench: Bench) -> None:
    with bench.store.session() as session:
        kept = prompts.add(session, prompt_set(["a", "bb", "ccc"])).row.id
        prompts.remove(session, kept)
    with pytest.raises(HeadscopeError, match="prompts: There is no prompt") as error:
        compute(bench, "b" * 20, kept)
    assert error.value.code == "unknown-prompt"
    assert bench.run("b" * 20).status == "failed"
