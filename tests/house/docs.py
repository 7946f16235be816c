"""Whether the documentation is complete: every setting, route, analysis, parameter and command is in it.

``make check`` runs this file; ``test_docs.py`` runs the same checks.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import typer.main

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)#\s]+)")


def missing_settings() -> Iterator[str]:
    """Settings that operations.md doesn't list."""
    from headscope.settings import Settings

    text = (DOCS / "operations.md").read_text(encoding="utf-8")
    for name in Settings.model_fields:
        if f"`HEADSCOPE_{name.upper()}`" not in text:
            yield f"docs/operations.md: HEADSCOPE_{name.upper()} is missing"


def missing_routes() -> Iterator[str]:
    """Routes that api.md doesn't list."""
    from headscope.web.openapi import document

    text = _text(DOCS / "api.md")
    for path, methods in json.loads(document())["paths"].items():
        for method in methods:
            if f"`{method.upper()} {path.removeprefix('/api/v1')}`" not in text:
                yield f"docs/api.md: `{method.upper()} {path.removeprefix('/api/v1')}` is missing"


def missing_analyses() -> Iterator[str]:
    """Analyses without a page, and parameters that it doesn't explain."""
    from headscope.analyses import ANALYSES

    for name, analysis in ANALYSES.items():
        page = DOCS / "analyses" / f"{name}.md"
        text = _text(page)
        if not text:
            yield f"docs/analyses/{name}.md is missing"
        for parameter in analysis.params.model_fields:
            if f"`{parameter}`" not in text:
                yield f"docs/analyses/{name}.md: parameter `{parameter}` is missing"


def missing_comparisons() -> Iterator[str]:
    """Comparisons without a page, and options that it doesn't explain."""
    from headscope.analyses.comparisons import COMPARISONS

    for name, comparison in COMPARISONS.items():
        text = _text(DOCS / "analyses" / f"compare-{name}.md")
        if not text:
            yield f"docs/analyses/compare-{name}.md is missing"
        for option in comparison.follows:
            if f"`{option}`" not in text:
                yield f"docs/analyses/compare-{name}.md: option `{option}` is missing"


def missing_commands() -> Iterator[str]:
    """Commands that command-line.md doesn't list, and listed ones that don't exist."""
    from headscope.cli import app

    listed = set(re.findall(r"^\| `(headscope[^`]*)`", _text(DOCS / "command-line.md"), re.MULTILINE))
    there = set(_commands("headscope", typer.main.get_command(app)))
    yield from (f"docs/command-line.md: `{name}` is missing" for name in sorted(there - listed))
    yield from (f"docs/command-line.md: there is no `{name}`" for name in sorted(listed - there))


def stale_reference() -> Iterator[str]:
    """The Python reference, where it isn't what the docstrings say."""
    from headscope.python.reference import document

    if _text(DOCS / "reference.md") != document():
        yield "docs/reference.md is out of step with the docstrings: make reference"


def broken_links() -> Iterator[str]:
    """Relative links in README and docs that lead nowhere."""
    for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]:
        for target in _LINK.findall(_text(page)):
            if not (page.parent / target).exists():
                yield f"{page.relative_to(ROOT)}: {target} doesn't exist"


CHECKS = (
    missing_settings,
    missing_routes,
    missing_analyses,
    missing_comparisons,
    missing_commands,
    stale_reference,
    broken_links,
)


def _commands(path: str, command: object) -> Iterator[str]:
    subcommands = getattr(command, "commands", None)
    if subcommands is None:
        yield path
        return
    for name, child in subcommands.items():
        yield from _commands(f"{path} {name}", child)


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8") if page.exists() else ""


if __name__ == "__main__":
    problems = [problem for check in CHECKS for problem in check()]
    print("\n".join(problems) or "The documentation is complete.")
    sys.exit(1 if problems else 0)
