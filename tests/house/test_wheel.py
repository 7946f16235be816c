"""A wheel built from the source holds all that an installation needs, and nothing that it doesn't."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MEGABYTE = 2**20


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built by the build backend and front-end build that ``pip install .`` uses."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"]
    done = subprocess.run([*build, "-w", str(folder), str(ROOT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return zipfile.ZipFile(next(folder.glob("headscope-*.whl")))


def names(wheel: zipfile.ZipFile) -> set[str]:
    return {info.filename for info in wheel.infolist()}


def test_it_holds_the_front_end(wheel: zipfile.ZipFile) -> None:
    static = {name for name in names(wheel) if name.startswith("headscope/web/static/")}
    assert "headscope/web/static/index.html" in static
    assert any(name.endswith(".js") for name in static)
    assert any(name.endswith(".css") for name in static)
    assert any(name.endswith(".woff2") for name in static)


def test_it_holds_the_migrations(wheel: zipfile.ZipFile) -> None:
    assert "headscope/_alembic/env.py" in names(wheel)
    source = {
        f"headscope/_alembic/versions/{path.name}" for path in (ROOT / "alembic" / "versions").glob("*.py")
    }
    assert source
    assert source <= names(wheel)


def test_it_holds_every_data_file_of_the_source(wheel: zipfile.ZipFile) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "backend/headscope"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    source = {
        name.removeprefix("backend/") for name in listed.stdout.split("\0") if name and (ROOT / name).exists()
    }
    assert source - names(wheel) == set()
    assert any(name.startswith("headscope/models/bundled/headscope-2l/") for name in names(wheel))
    assert any(name.startswith("headscope/gallery/") and not name.endswith(".py") for name in names(wheel))


def test_what_ships_is_small(wheel: zipfile.ZipFile) -> None:
    def size(start: str) -> int:
        return sum(info.file_size for info in wheel.infolist() if info.filename.startswith(start))

    assert size("headscope/gallery/") < 3 * MEGABYTE
    assert size("headscope/models/bundled/headscope-2l/") < 5 * MEGABYTE
    assert sum(info.compress_size for info in wheel.infolist()) < 15 * MEGABYTE


def test_it_holds_no_tests_and_no_caches(wheel: zipfile.ZipFile) -> None:
    strange = [name for name in names(wheel) if "__pycache__" in name or "node_modules" in name]
    assert strange == []
    assert {name.split("/")[0] for name in names(wheel)} == {"headscope"} | {
        name.split("/")[0] for name in names(wheel) if ".dist-info/" in name
    }


def test_it_names_its_licence_and_its_command(wheel: zipfile.ZipFile) -> None:
    info = {name.split("/", 1)[1]: name for name in names(wheel) if ".dist-info/" in name}
    metadata = wheel.read(info["METADATA"]).decode()
    assert "License-Expression: MIT" in metadata
    assert "licenses/LICENSE" in info
    assert "headscope = headscope.cli:app" in wheel.read(info["entry_points.txt"]).decode()
