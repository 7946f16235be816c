"""The plotly.js that goes into a file: the front end's cartesian bundle if it is there, else the whole."""

from __future__ import annotations

import base64
import gzip
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from headscope.errors import Unavailable

_PACKAGE = Path(__file__).parents[2]
_CARTESIAN = "plotly-cartesian.min.js"
_FONT = _PACKAGE / "figures" / "inter.woff2"


def script() -> str:
    """The library as a classic script. ``Unavailable`` (no-plotly) where neither is installed."""
    return find().read_text(encoding="utf-8")


def find() -> Path:
    """Where it lies: the built front end's cartesian bundle, else plotly's own in its Python package."""
    candidates = [_PACKAGE / "web" / "static" / _CARTESIAN]
    # Only found, not imported: importing plotly takes half a second.
    if spec := find_spec("plotly"):
        folders = spec.submodule_search_locations or ()
        candidates += [Path(folder) / "package_data" / "plotly.min.js" for folder in folders]
    for path in candidates:
        if path.is_file():
            return path
    raise Unavailable(
        "plotly.js is not installed, so nothing interactive can be written.",
        "Reinstall Headscope: `pip install --force-reinstall headscope`.",
        code="no-plotly",
    )


@cache
def packed(path: Path) -> str:
    """A file gzipped and in base64: a third of its size inside an HTML page."""
    return base64.b64encode(gzip.compress(path.read_bytes(), 9, mtime=0)).decode("ascii")


@cache
def font_face() -> str:
    """The CSS that brings Inter along (SIL Open Font License 1.1)."""
    font = base64.b64encode(_FONT.read_bytes()).decode("ascii")
    return (
        "@font-face{font-family:Inter;font-weight:100 900;"
        f"src:url(data:font/woff2;base64,{font}) format('woff2')}}"
    )
