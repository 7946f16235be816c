"""The repository speaks of the product alone, and what it ships says under which licence."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = re.compile(
    r"(?<![\w.])/(?:(?:work|root|opt)/|home/(?!me\b)\w+|Users/\w+)|\.\./(?:shared)|shared/(?:data|design)",
    re.IGNORECASE,
)
"""Paths of one machine, and folders that are no part of the repository; written so as not to match itself."""


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def test_no_file_names_a_place_outside_the_repository() -> None:
    found = []
    for path in tracked():
        name = path.relative_to(ROOT).as_posix()
        if not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # weights, pictures, compressed rows
        found += [f"{name}: {match.group()}" for match in PLACES.finditer(text)]
    assert found == []


def test_no_pickles_are_shipped() -> None:
    assert [
        path.name for path in tracked() if path.suffix in {".pkl", ".pickle", ".pt", ".pth", ".bin"}
    ] == []


def test_the_licence_is_mit() -> None:
    assert "MIT License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_task_data_lies_beside_its_licences() -> None:
    data = ROOT / "backend" / "headscope" / "tasks" / "data"
    said = (data / "README.md").read_text(encoding="utf-8")
    for path in data.glob("*.jsonl.gz"):
        assert path.name.removesuffix(".jsonl.gz") in said, f"{path.name} isn't in data/README.md"
    for licence in ("function_vectors", "gsm8k"):
        assert "MIT License" in (data / f"LICENSE.{licence}").read_text(encoding="utf-8")
    assert "CC-BY" in said
    assert "BLiMP" in said or "blimp" in said


@pytest.mark.parametrize("task", ["singular-plural", "gsm8k", "subject-verb-agreement", "induction"])
def test_each_task_names_its_source_and_licence(task: str) -> None:
    from headscope.tasks.builtin import builtin_tasks

    assert builtin_tasks()[task].source
    assert builtin_tasks()[task].licence


@pytest.mark.parametrize(
    "parts", [("", "work", "x"), ("", "root", "x"), ("", "opt", "x"), ("", "home", "x"), ("", "Users", "x"),
              ("..", "shared"), ("shared", "data"), ("shared", "design")],
)  # fmt: skip
def test_places_are_known(parts: tuple[str, ...]) -> None:
    assert PLACES.search(f"see {'/'.join(parts)}")
