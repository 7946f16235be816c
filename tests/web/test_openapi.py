"""The document that the typed client is generated from: complete, with examples, in step with the code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from headscope import messages
from headscope.figures import meta
from headscope.web import schemas
from headscope.web.openapi import document

COMMITTED = Path(__file__).parents[2] / "frontend" / "openapi.json"


@pytest.fixture(scope="module")
def openapi() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(document())
    return loaded


def test_the_committed_document_is_in_step() -> None:
    assert COMMITTED.read_text() == document(), "run `make client`"


def test_each_schema_has_an_example(openapi: dict[str, Any]) -> None:
    without = [name for name, schema in openapi["components"]["schemas"].items() if "examples" not in schema]
    assert without == [name for name in without if name.startswith("Body_")]


def test_examples_fit_their_schema(openapi: dict[str, Any]) -> None:
    for name, schema in openapi["components"]["schemas"].items():
        for example in schema.get("examples", ()):
            TypeAdapter(defined(name)).validate_python(example)


def defined(name: str) -> Any:
    """The type behind a schema's name."""
    return next(getattr(module, name) for module in (schemas, messages, meta) if hasattr(module, name))


def test_each_operation_has_a_tag_a_summary_and_problems(openapi: dict[str, Any]) -> None:
    tags = {tag["name"] for tag in openapi["tags"]}
    names: list[str] = []
    for operations in openapi["paths"].values():
        for operation in operations.values():
            names.append(operation["operationId"])
            assert operation["summary"]
            assert operation["description"]
            assert set(operation["tags"]) <= tags
            assert "application/problem+json" in operation["responses"]["4XX"]["content"]
    assert len(names) == len(set(names))


def test_the_web_loads_no_torch_and_starts_fast(tmp_path: Path) -> None:
    """Compiled, as installed. On a busy machine, what it can't do without is slow, too."""
    heavy = ("torch", "transformers", "transformer_lens", "dbos", "plotly", "kaleido", "sklearn", "scipy")
    environment = {
        **os.environ,
        "PYTHONPYCACHEPREFIX": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def starting(modules: str) -> tuple[float, list[str]]:
        """Seconds of processor time, and which heavy modules were loaded."""
        script = (
            f"import sys, time, {modules};"
            f"print(time.process_time(), *(m for m in {heavy} if m in sys.modules))"
        )
        command = [sys.executable, "-c", script]
        words = subprocess.check_output(command, env=environment, text=True).split()
        return float(words[0]), words[1:]

    seconds, loaded = min(starting("headscope.web.app") for _ in range(3))
    needed, _ = min(starting("fastapi, sqlalchemy.orm, numpy") for _ in range(2))
    assert loaded == []
    assert seconds < max(1.5, 2 * needed)
