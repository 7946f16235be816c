"""The document that the typed client is generated from: complete, with examples, and in step with the code."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from headscope.web import schemas
from headscope.web.examples import EXAMPLES
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


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_examples_fit_their_schema(name: str) -> None:
    TypeAdapter(getattr(schemas, name)).validate_python(EXAMPLES[name])


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


def test_the_web_loads_no_torch_and_starts_fast() -> None:
    heavy = ("torch", "transformers", "transformer_lens", "dbos", "plotly", "kaleido")
    script = f"import sys, headscope.web.app; print([m for m in {heavy} if m in sys.modules])"
    best = 99.0
    for _ in range(3):
        started = time.process_time(), time.monotonic()
        found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
        best = min(best, time.monotonic() - started[1])
        assert found.stdout.strip() == "[]"
    assert best < 1.5
