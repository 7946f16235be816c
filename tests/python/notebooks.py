"""Runs notebooks in a kernel of their own, as Jupyter does."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]


def execute(book: Any, folder: Path, data_dir: Path) -> Any:
    """The notebook with its outputs, run in ``folder`` on a store in ``data_dir``; errors are raised."""
    kernel = {
        **os.environ,
        "HEADSCOPE_DATA_DIR": str(data_dir),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "JUPYTER_PLATFORM_DIRS": "1",
        "OMP_NUM_THREADS": "1",
    }
    client = NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    return client.execute(env=kernel)


def read(path: Path) -> Any:
    return nbformat.read(path, 4)


def outputs(book: Any, kind: str) -> list[Any]:
    """What cells put out of one media type."""
    found = [out.get("data", {}) for cell in book.cells for out in cell.get("outputs", ())]
    return [data[kind] for data in found if kind in data]
