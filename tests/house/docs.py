"""Whether the documentation is complete: every setting, route, analysis, parameter and command is in it, and
every file and module that it names exists.

``make check`` runs this file; ``test_docs.py`` runs the same checks.
"""

from __future__ import annotations

import json
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import typer.main

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BASES = (ROOT, ROOT / "backend" / "headscope", ROOT / "frontend", ROOT / "frontend" / "src")
"""Folders from which the documentation names files; `core/model/load.py` stands in the second."""
_LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)#\s]+)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"[\w.-]+/[\w./-]*")
_FROM_ROOT = re.compile(r"(?<![\w/.*-])(?:backend|docker|docs|frontend|tests)/[\w./-]*[\w/]")
_MODULE = re.compile(r"[a-z_]+(?:\.(?!py$)\w+)+")


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


def pages() -> list[Path]:
    """README and all of docs."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def broken_links() -> Iterator[str]:
    """Relative links in README and docs that lead nowhere."""
    for page in pages():
        for target in _LINK.findall(_text(page)):
            if not (page.parent / target).exists():
                yield f"{page.relative_to(ROOT)}: {target} doesn't exist"


def missing_paths() -> Iterator[str]:
    """Files and folders that README or docs name and that don't exist."""
    for page in pages():
        text = _FENCE.sub("", _text(page))
        yield from (f"{page.relative_to(ROOT)}: there is no {path}" for path in absent_paths(text))


def absent_paths(text: str) -> list[str]:
    """Paths in a text that lead nowhere: those in code spans from any of ``BASES``, others from the root.

    A span is a path where its first part is a folder; NAME in it stands for any name.
    """
    spans = [span for span in _SPAN.findall(text) if _PATH.fullmatch(span) and _in_a_base(span.split("/")[0])]
    named = dict.fromkeys([*spans, *_FROM_ROOT.findall(text)])
    return [path for path in named if "NAME" not in path and not _in_a_base(path)]


def missing_modules() -> Iterator[str]:
    """Names of the package, such as `store.requests.ask`, that README or docs use and that don't exist."""
    for page in pages():
        text = _FENCE.sub("", _text(page))
        yield from (f"{page.relative_to(ROOT)}: there is no {name}" for name in absent_modules(text))


def absent_modules(text: str) -> list[str]:
    """Dotted names in code spans that begin with one of the package's folders and can't be resolved."""
    package = ROOT / "backend" / "headscope"
    spans = [span.removeprefix("headscope.") for span in _SPAN.findall(text)]
    named = [span for span in spans if _MODULE.fullmatch(span) and (package / span.split(".")[0]).is_dir()]
    return [name for name in dict.fromkeys(named) if not _resolves(name)]


CHECKS = (
    missing_paths,
    missing_modules,
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


def _in_a_base(path: str) -> bool:
    return any((base / path).exists() for base in BASES)


def _resolves(name: str) -> bool:
    try:
        pkgutil.resolve_name(f"headscope.{name}")
    except (ImportError, AttributeError):
        return False
    return True


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8") if page.exists() else ""


if __name__ == "__main__":
    problems = [problem for check in CHECKS for problem in check()]
    print("\n".join(problems) or "The documentation is complete.")
    sys.exit(1 if problems else 0)
