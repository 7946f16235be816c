"""Print what the web process needs of pyproject.toml's dependencies: all but what only workers use.

The web image installs these and then the wheel without dependencies: it stays small and starts fast. A test
imports the web application with everything else blocked.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

WORKER_ONLY = frozenset({"torch", "transformer-lens", "gguf", "beartype", "psutil"})


def web_requirements(pyproject: Path) -> list[str]:
    """Requirement lines, the Postgres driver among them."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["postgres"]]
    return [line for line in wanted if name(line) not in WORKER_ONLY]


def name(requirement: str) -> str:
    """The distribution that a requirement line names, as `pip freeze` writes it."""
    return re.split(r"[\[<>=~!; ]", requirement, maxsplit=1)[0].lower().replace("_", "-")


if __name__ == "__main__":
    print("\n".join(web_requirements(Path(__file__).resolve().parents[1] / "pyproject.toml")))
