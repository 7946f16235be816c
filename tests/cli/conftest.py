"""``headscope`` as tests type it: in this process, on a data folder of the test's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from headscope.cli import app
from headscope.gallery import import_gallery
from headscope.settings import Settings
from headscope.store import migrate
from headscope.store.session import open_store

SMALL = ("steps=3", "seeds=1", "batch_size=4", "n_train=16", "n_test=8")
TINY = tuple(word for setting in SMALL for word in ("--param", setting))
"""Options of a gating run that takes a second."""


class Shell:
    """Runs ``headscope`` with a data folder of its own: in this process, or with ``start`` in another."""

    def __init__(self, data_dir: Path) -> None:
        self.settings = Settings(data_dir=data_dir)
        self.environment = {"HEADSCOPE_DATA_DIR": str(data_dir), "COLUMNS": "200"}

    def __call__(
        self, *words: str | Path, code: int = 0, typed: str | None = None, **variables: str
    ) -> Result:
        """The outcome, which must have this exit code; ``typed`` is what the user answers."""
        result = CliRunner().invoke(
            app, [str(word) for word in words], input=typed, env={**self.environment, **variables}
        )
        assert result.exit_code == code, f"{result.stdout}\n{result.stderr}\n{result.exception!r}"
        return result

    def json(self, *words: str | Path) -> Any:
        return json.loads(self(*words).stdout)

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "headscope", *words],
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell whose store is empty."""
    return Shell(tmp_path / "data")


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A shell whose store has the shipped runs, as a server that was started once leaves it."""
    shell = Shell(tmp_path_factory.mktemp("shipped"))
    migrate.upgrade(shell.settings)
    store = open_store(shell.settings)
    import_gallery(store)
    store.close()
    return shell


def written(path: Path, content: str | bytes) -> Path:
    """The path, with this content."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
