"""PNG and SVG of a figure, drawn by a Chromium on this machine, which is started for it and ended after it.

1. A page with plotly.js, the font and the figure is written to a temporary folder; it needs no network.
2. PNG is a screenshot of it at twice the size, SVG is plotly's own with the font put in.

The browser is driven by choreographer, which comes with kaleido. Kaleido's own page can't carry a font: its
PNG would show whatever the machine has.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

from headscope.analyses.export import plotly_js
from headscope.errors import Unavailable
from headscope.figures.theme import Drawing

SCALE = 2
PATIENCE = 60.0
"""Seconds for a browser to start and draw."""

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
_ONE_AT_A_TIME = threading.Lock()


def draw(figure: Drawing, kind: Literal["png", "svg"]) -> bytes:
    """A figure that stands alone, as a picture.

    Raises ``Unavailable`` (no-browser, picture-failed) where that can't be had here.
    """
    browser = find_browser()
    # A thread of its own: the caller may be inside a running event loop, as in a notebook.
    with _ONE_AT_A_TIME, ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, _drawn(browser, figure, kind)).result()


def find_browser() -> Path:
    """A Chromium or Chrome: the one that ``CHROMIUM`` or ``BROWSER_PATH`` names, else one that is installed.

    Raises ``Unavailable`` (no-browser).
    """
    named = [os.environ.get("CHROMIUM"), os.environ.get("BROWSER_PATH")]
    found = [*named, *(shutil.which(name) for name in _NAMES), *_PLACES]
    for path in found:
        if path and Path(path).is_file():
            return Path(path)
    raise Unavailable(
        "PNG and SVG are drawn by a Chromium, and there is none on this machine.",
        "Install Chromium or Chrome, or name one in CHROMIUM; HTML, CSV, JSON and npz need none.",
        code="no-browser",
    )


async def _drawn(browser: Path, figure: Drawing, kind: Literal["png", "svg"]) -> bytes:
    try:
        return await asyncio.wait_for(_with_browser(browser, figure, kind), PATIENCE)
    except ImportError as error:
        raise Unavailable(
            "PNG and SVG need the extra `images`.",
            "Run `pip install 'headscope[images]'`.",
            code="no-browser",
        ) from error
    except (TimeoutError, OSError, RuntimeError) as error:
        reason = str(error) or f"no answer within {PATIENCE:.0f} s"
        raise Unavailable(
            f"{browser.name} could not draw the picture: {reason}.",
            "Try again, or export HTML, which needs no browser to be written.",
            code="picture-failed",
        ) from error


async def _with_browser(browser: Path, figure: Drawing, kind: Literal["png", "svg"]) -> bytes:
    from choreographer import Browser

    with tempfile.TemporaryDirectory(prefix="headscope-") as folder:
        page = Path(folder) / "figure.html"
        page.write_text(_page(figure), encoding="utf-8")
        # Chromium refuses its sandbox to root, and the page is our own.
        async with Browser(path=browser, headless=True, enable_sandbox=False) as running:
            tab = await running.create_tab(page.as_uri())
            await _command(tab, "Page.enable")
            await _value(tab, "ready()")
            if kind == "svg":
                return _with_font(str(await _value(tab, "svg()"))).encode()
            layout = figure["layout"]
            clip = {"x": 0, "y": 0, "width": layout["width"], "height": layout["height"], "scale": SCALE}
            shot = await _command(
                tab, "Page.captureScreenshot", {"format": "png", "clip": clip, "captureBeyondViewport": True}
            )
            return base64.b64decode(shot["data"])


async def _command(tab: Any, name: str, params: dict[str, Any] | None = None) -> Any:
    answer = await tab.send_command(name, params)
    if "error" in answer:
        raise RuntimeError(answer["error"].get("message", name))
    return answer["result"]


async def _value(tab: Any, expression: str) -> Any:
    """A promise's value in the page. The page may still be loading: then there is no such function yet."""
    call = {
        "expression": f"(async () => {{ while (document.readyState !== 'complete') "
        f"await new Promise(go => setTimeout(go, 20)); return {expression}; }})()",
        "awaitPromise": True,
        "returnByValue": True,
    }
    while True:
        answer = await _command(tab, "Runtime.evaluate", call)
        if "exceptionDetails" not in answer:
            return answer["result"].get("value")
        details = answer["exceptionDetails"]
        what = details.get("exception", {}).get("description", details.get("text", "")).splitlines()[0]
        if "is not defined" not in what:
            raise RuntimeError(what)
        await asyncio.sleep(0.05)


def _page(figure: Drawing) -> str:
    plot = json.dumps({"data": figure["data"], "layout": figure["layout"]}, allow_nan=False)
    size = json.dumps({name: figure["layout"][name] for name in ("width", "height")})
    return f"""<!doctype html><meta charset="utf-8"><style>{plotly_js.font_face()}body{{margin:0}}</style>
<div id="figure"></div><script>{plotly_js.script()}</script><script>
const figure = {plot.replace("<", chr(92) + "u003c")};
const drawn = document.fonts.load("13px Inter").then(() => document.fonts.load("600 17px Inter"))
  .then(() => Plotly.newPlot("figure", figure.data, figure.layout, {{staticPlot: true}}));
async function ready() {{ await drawn; return true; }}
async function svg() {{
  const address = await Plotly.toImage(await drawn, {{format: "svg", ...{size}}});
  return decodeURIComponent(address.slice(address.indexOf(",") + 1));
}}
</script>"""


def _with_font(svg: str) -> str:
    head, rest = svg.split(">", 1)
    return f"{head}><style>{plotly_js.font_face()}</style>{rest}"
