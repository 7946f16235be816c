"""A run as a notebook: valid, without outputs, and it asks for the very run."""

from __future__ import annotations

import ast
from typing import Any

import nbformat
import pytest

from figures.results import result
from headscope.analyses import figures
from headscope.analyses.export import export
from headscope.analyses.request import resolve
from headscope.gallery.shipped import FOLDER, files, read
from headscope.tasks.catalogue import TaskCatalogue


def code_of(content: bytes) -> list[str]:
    book = nbformat.reads(content.decode(), 4)
    nbformat.validate(book)
    assert book.nbformat_minor == 5
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    return [cell.source for cell in code]


def asked(code: list[str]) -> tuple[str, dict[str, Any]]:
    """The analysis and the arguments of the cell that calls ``hs.run``."""
    (cell,) = (cell for cell in code if "hs.run(" in cell)
    (call,) = (
        node for node in ast.walk(ast.parse(cell))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "hs.run"
    )  # fmt: skip
    given = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    return ast.literal_eval(call.args[0]), given


@pytest.mark.parametrize("path", list(files(FOLDER)), ids=lambda path: path.name.split(".")[0])
def test_a_shipped_runs_notebook_asks_for_that_run(path: Any) -> None:
    run = read(path)
    facts = {"id": run.request.id, "preset": run.request.preset}
    code = code_of(export(run.result, "ipynb", facts).content)
    assert f"hs.find({run.request.id!r})" in "".join(code)
    analysis, given = asked(code)
    assert given.pop("model") == run.request.model.name
    task = given.pop("task", None)
    preset = given.pop("preset", None)
    known = TaskCatalogue()
    named = known.get(task) if task else None
    assert resolve(analysis, run.request.model, named, preset, given).id == run.request.id
    shown = [cell for cell in code if cell.startswith("run.figure(")]
    assert len(shown) == len(figures.names(analysis))


def test_one_figure_as_it_is_looked_at() -> None:
    file = export(result(), "ipynb", figure="roles", threshold=0.7, mode="always", theme="dark")
    code = code_of(file.content)
    assert "run.figure('roles', threshold=0.7, mode='always', theme='dark')" in code
    assert "run.frame('roles')" in code
    assert "hs.find" not in "".join(code)
    assert file.filename.endswith("-roles.ipynb")
    assert file.media_type == "application/x-ipynb+json"


def test_words_are_no_markup() -> None:
    content = export(result(), "ipynb", {"machine": "<script>x()</script>"}).content
    assert b"<script>" not in content
