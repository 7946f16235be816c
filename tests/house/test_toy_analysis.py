"""Adding an analysis is one folder and one line: a toy one is added, and seen wherever analyses are.

docs/design/layers.md says so; this test does what that page says.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from headscope.analyses import ANALYSES
from headscope.cli import app
from headscope.core.arrays import decode
from headscope.settings import Settings
from headscope.web.app import create_app
from house import docs

TOY = {
    "schema.py": """
from pydantic import Field

from headscope.analyses.base import Params


class ToyParams(Params):
    times: int = Field(default=2, ge=1, le=9, title="Times", description="Multiplies every number.")
""",
    "result.py": """
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from headscope.analyses.base import Quantity, Result


@dataclass(frozen=True, kw_only=True, eq=False)
class ToyResult(Result):
    NAME: ClassVar[str] = "toy"
    VERSION: ClassVar[int] = 1

    numbers: Float[np.ndarray, "layer head"]
    said: str


QUANTITIES = {"largest": Quantity("Largest number", "share")}


def headline(result, threshold=0.5):
    return {"largest": float(result.numbers.max())}
""",
    "compute.py": """
from functools import partial

import numpy as np

from headscope.analyses.base import Estimate, Piece

from .result import ToyResult


def estimate(spec, *, tokenizer=None, throughput=None):
    return Estimate(0.1, 2**20, "a toy")


def plan(spec):
    return [Piece(f"layer/{n}", f"Layer {n}", partial(layer, spec, n)) for n in range(spec.model.n_layers)]


def layer(spec, n, context):
    heads = context.model.info.n_heads
    return {"row": spec.params.times * (n + np.arange(heads) / heads), "said": f"layer {n}"}


def assemble(spec, pieces):
    rows = [pieces[f"layer/{n}"] for n in range(spec.model.n_layers)]
    return ToyResult(
        **ToyResult.header(spec),
        numbers=np.stack([row["row"] for row in rows]).astype(np.float32) / 100,
        said=", ".join(row["said"] for row in rows),
    )
""",
    "figures.py": """
from headscope.analyses.base import Figure
from headscope.analyses.columns import flat, places, table
from headscope.figures import head_grid
from headscope.figures.theme import titled


def draw(result, view):
    figure = head_grid.magnitudes(result.numbers, view.colours, name="number", group=1)
    return titled(figure, "Numbers", "Each cell is a head's number.")


def rows(result, view):
    return table([*places(result.model), ("number", "number", "", flat(result.numbers))])


FIGURES = (Figure("numbers", draw, rows),)
""",
    "__init__.py": """
from headscope.analyses.base import Analysis

from .compute import assemble, estimate, plan
from .figures import FIGURES
from .result import QUANTITIES, ToyResult, headline
from .schema import ToyParams

TOY = Analysis(
    title="A toy",
    summary="A number for every head.",
    params=ToyParams,
    result=ToyResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
)
""",
}


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """The folder, and its line in ``ANALYSES``; settings of an empty data folder."""
    folder = tmp_path / "headscope_toy"
    folder.mkdir()
    for name, text in TOY.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(ANALYSES, "toy", importlib.import_module("headscope_toy").TOY)
    yield Settings(data_dir=tmp_path / "data")
    for name in [name for name in sys.modules if name.startswith("headscope_toy")]:
        del sys.modules[name]


def shell(settings: Settings, *words: str) -> Any:
    done = CliRunner().invoke(
        app, words, env={"HEADSCOPE_DATA_DIR": str(settings.data_dir), "COLUMNS": "200"}
    )
    assert done.exit_code == 0, f"{done.stdout}\n{done.stderr}\n{done.exception!r}"
    return done


def test_an_analysis_is_one_folder_and_one_line(toy: Settings, tmp_path: Path) -> None:
    written = tmp_path / "toy.json"
    done = shell(toy, "run", "toy", "--model", "headscope-2l", "--param", "times=3", "--json", str(written))
    assert "Largest number: 0.0562" in done.stderr
    result = json.loads(written.read_text())
    assert (result["analysis"], result["schema_version"], result["params"]) == ("toy", 1, {"times": 3})
    assert result["values"] == {"said": "layer 0, layer 1"}
    numbers = np.float32(3 * (np.arange(2)[:, None] + np.arange(8) / 8) / 100)
    np.testing.assert_allclose(decode(result["numbers"]), numbers, rtol=1e-6)
    run = json.loads(shell(toy, "runs", "list", "--json").stdout)["runs"][0]["id"]
    _see_it_on_the_page(toy, run)
    _see_it_exported(toy, run, tmp_path)


def _see_it_on_the_page(toy: Settings, run: str) -> None:
    """By the routes that the form and the run's page read."""
    with TestClient(create_app(toy), base_url="http://127.0.0.1:8000") as client:
        known = {each["name"]: each for each in client.get("/api/v1/analyses").json()}
        assert (known["toy"]["title"], known["toy"]["figures"]) == ("A toy", ["numbers"])
        field = known["toy"]["params_schema"]["properties"]["times"]
        assert (field["title"], field["default"], field["minimum"], field["maximum"]) == ("Times", 2, 1, 9)
        told = client.get(f"/api/v1/runs/{run}").json()["headline_values"]
        assert [(each["label"], each["unit"]) for each in told] == [("Largest number", "share")]
        figure = client.get(f"/api/v1/runs/{run}/figures/numbers").json()
        assert figure["layout"]["meta"]["title"] == "Numbers"
        rows = client.get(f"/api/v1/runs/{run}/tables/numbers").json()["rows"]
        assert len(rows) == 16
        refused = client.post(
            "/api/v1/runs", json={"analysis": "toy", "model": "headscope-2l", "params": {"times": 10}}
        )
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid-parameter")


def _see_it_exported(toy: Settings, run: str, folder: Path) -> None:
    for kind in ("csv", "json", "npz", "html"):
        shell(toy, "export", run, "--format", kind, "-o", str(folder / f"toy.{kind}"))
    table = list(csv.reader(io.StringIO((folder / "toy.csv").read_text())))
    assert table[0] == ["layer", "head", "kv_group", "number"]
    assert len(table) == 17
    assert "Each cell is a head" in (folder / "toy.html").read_text()
    with np.load(folder / "toy.npz") as arrays:
        assert arrays["numbers"].shape == (2, 8)


def test_an_analysis_without_its_page_is_said(toy: Settings) -> None:
    said = list(docs.missing_analyses())
    assert "docs/analyses/toy.md is missing" in said
    assert "docs/analyses/toy.md: parameter `times` is missing" in said
