"""The notebooks of the documentation, and those that runs export, run from top to bottom."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

import headscope as hs
from python import notebooks
from python.conftest import TINY

FOLDER = notebooks.ROOT / "docs" / "notebooks"
BOOKS = sorted(FOLDER.glob("*.ipynb"))
PLOTLY = "application/vnd.plotly.v1+json"


def test_there_are_three() -> None:
    assert [path.stem for path in BOOKS] == ["circuits-of-a-head", "first-map", "own-task-and-model"]


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_it_is_kept_without_outputs(path: Path) -> None:
    book = notebooks.read(path)
    nbformat.validate(book)
    for cell in book.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    assert path.read_text() == json.dumps(json.loads(path.read_text()), ensure_ascii=False, indent=1) + "\n"


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path) -> None:
    book = notebooks.execute(notebooks.read(path), tmp_path, tmp_path / "data")
    assert notebooks.outputs(book, PLOTLY)
    said = [out for cell in book.cells for out in cell.get("outputs", ()) if out.output_type == "stream"]
    # What transformers says where a notebook imports it itself; Headscope's own imports are quiet.
    theirs = "TqdmWarning" if "import LlamaConfig" in path.read_text() else "nothing"
    assert [out.text for out in said if out.name == "stderr" and theirs not in out.text] == []


def test_an_exported_notebook_runs_where_the_run_is_and_where_it_is_not(here: Path, tmp_path: Path) -> None:
    run = hs.run("chg", model="headscope-2l", task="induction", seeds=1, **TINY)
    book = nbformat.reads(run.export("ipynb").decode(), 4)
    for data_dir in (here, tmp_path / "elsewhere"):
        shown = notebooks.execute(book, tmp_path, data_dir)
        assert len(notebooks.outputs(shown, PLOTLY)) == len(run.figures)
        assert run.id in notebooks.outputs(shown, "text/html")[0] or run.id in str(shown.cells[3].outputs)
