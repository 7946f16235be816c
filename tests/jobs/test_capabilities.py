"""A run that turns out to need what a model can't give ends with that, on its first load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from headscope.core.model.capabilities import Check, Proof
from headscope.errors import HeadscopeError
from headscope.jobs.foreground import run_foreground
from headscope.store import runs
from jobs import tiny
from jobs.conftest import Bench

WRONG = Check("patterns", "patterns equal the plain model's", "patterns", 1e-3, 0.09, "fails")


class Proved(tiny.NoWeights):
    proof: Any = Proof("tiny", "r1", "float32", (WRONG,), 0.1)


class ProvedModels:
    @contextmanager
    def model(self, name: str, *, dtype: str, attention: str) -> Iterator[Any]:
        yield Proved()


def carry_out(bench: Bench, run_id: str, needs: tuple[Any, ...]) -> None:
    request = tiny.request(run_id, journal=str(bench.journal))
    with bench.store.session() as session:
        runs.create_or_get(session, request, queue=None)
    analyses: Mapping[str, Any] = {"tiny": replace(tiny.TINY, needs=needs)}
    run_foreground(
        bench.store, request.id, tiny.NoFolders(), settings=bench.settings,
        analyses=analyses, models=ProvedModels(),
    )  # fmt: skip


def test_a_run_ends_with_what_its_model_cannot_give(bench: Bench) -> None:
    with pytest.raises(HeadscopeError, match="can't give attention patterns") as error:
        carry_out(bench, "a" * 20, ("gating", "patterns"))
    assert error.value.code == "not-proved"
    assert bench.run("a" * 20).status == "failed"


def test_the_rest_goes_on(bench: Bench) -> None:
    carry_out(bench, "b" * 20, ("gating",))
    assert bench.run("b" * 20).status == "done"
