"""Memory is admitted before it is taken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headscope.analyses.base import Estimate
from headscope.core.model.memory import run_bytes
from headscope.errors import Refused
from headscope.jobs import loading
from headscope.jobs.admission import admit_weights, admit_work
from headscope.models.proofs import Proofs
from jobs.tiny import MODEL

GIB = 2**30


def test_work_is_what_comes_beside_program_and_weights() -> None:
    admit_work(Estimate(1, run_bytes(MODEL, 2 * GIB, "bfloat16"), ""), MODEL, "bfloat16", 2 * GIB)
    with pytest.raises(
        Refused, match=r"about 2\.00 GiB; 1\.00 GiB of memory are free \(the longest\)"
    ) as error:
        admit_work(
            Estimate(1, run_bytes(MODEL, 2 * GIB, "bfloat16"), "the longest"), MODEL, "bfloat16", GIB
        )  # fmt: skip
    assert error.value.code == "no-memory"


def test_weights_need_as_much_as_they_are() -> None:
    admit_weights("m", GIB, GIB)
    with pytest.raises(Refused, match=r"m takes 3\.00 GiB; 1\.00 GiB of memory are free"):
        admit_weights("m", 3 * GIB, GIB)


def test_a_model_that_does_not_fit_is_not_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bundled = Path(loading.__file__).parents[1] / "models" / "bundled" / "headscope-2l"

    class Folders:
        def folder(self, name: str) -> Path:
            return bundled

    @contextmanager
    def opened() -> Iterator[object]:
        with loading.FromFolders(Folders(), "cpu", Proofs(tmp_path)).model(
            "x", dtype="float32", attention="sdpa"
        ) as model:
            yield model

    monkeypatch.setattr(loading, "free_bytes", lambda _: 2**20)
    with pytest.raises(Refused, match="x takes"), opened():
        pass
