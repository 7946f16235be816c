"""A finished run as a file: numbers (CSV, JSON, npz), heads, pictures (PNG, SVG), the page, a notebook.

The page's buttons, the API and ``headscope export`` all call ``export``. Numbers need nothing but numpy, the
page needs no network to be read, pictures need a Chromium on the machine that draws them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from headscope.analyses import figures
from headscope.analyses.base import Result
from headscope.analyses.export import numbers
from headscope.analyses.export.facts import Facts
from headscope.analyses.export.heads import heads
from headscope.analyses.request import find
from headscope.errors import Invalid
from headscope.figures.view import view

Whole = Literal["csv", "json", "npz", "html", "ipynb", "png", "svg"]
Format = Literal[Whole, "heads", "heads.csv", "heads.json"]

EXPORTS: Mapping[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "npz": "application/octet-stream",
    "html": "text/html; charset=utf-8",
    "ipynb": "application/x-ipynb+json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "heads": "text/plain; charset=utf-8",
    "heads.csv": "text/csv; charset=utf-8",
    "heads.json": "application/json",
}
"""Media types by format."""


@dataclass(frozen=True)
class Export:
    """A file: what it holds, what kind it is, what to call it."""

    content: bytes
    media_type: str
    filename: str


def export(
    result: Result,
    format: str,  # noqa: A002 - the word of the API and of the command line
    facts: Mapping[str, Any] | None = None,
    *,
    figure: str | None = None,
    threshold: float = 0.5,
    mode: str = "every",
    theme: str = "light",
    head: str | None = None,
) -> Export:
    """Write a result as one file.

    ``facts`` is what is known of the run beside its result, by the field names of the API's run: id, preset,
    wall_seconds, code_version, machine, finished_at, reproduce. ``figure`` picks one figure: its picture (PNG
    and SVG take the first one where unset), its numbers (CSV, JSON), its page (HTML). ``head``, e.g. 1.5, is
    the head that figures about one show.

    ``heads`` (text), ``heads.csv`` and ``heads.json`` are the list of heads that a run gives.
    Raises ``Invalid`` for an unknown format, threshold, mode or theme, ``NotFound`` for an unknown figure,
    ``Refused`` (no-heads) for a list of heads of a run that gives none,
    ``Unavailable`` (no-browser, picture-failed) where a picture can't be drawn here.
    """
    kind = next((known for known in get_args(Format) if known == format), None)
    if kind is None:
        raise unknown_format(format, list(EXPORTS))
    seen = view(threshold, mode, theme, head)
    if figure is not None:
        figures.table(result, figure, threshold, mode, head)
    if kind == "heads" or kind == "heads.csv" or kind == "heads.json":
        ending = kind.partition(".")[2] or "txt"
        stem = Facts.of(result, facts or {}).file_stem
        return Export(heads(result, seen, ending), EXPORTS[kind], f"{stem}-heads.{ending}")
    look = ExportView(figure, threshold, mode, theme, head)
    known = Facts.of(result, facts or {})
    content = _write(kind, result, facts or {}, known, look)
    first = figures.names(result.analysis)[0]
    suffix = f"-{figure}" if figure else f"-{first}" if kind in ("png", "svg") else ""
    return Export(content, EXPORTS[kind], f"{known.file_stem}{suffix}.{kind}")


def unknown_format(asked: str, known: Sequence[str]) -> Invalid:
    """What a format that can't be written is answered with."""
    return Invalid(
        f"There is no export format {asked!r}.", f"Use one of {', '.join(known)}.", code="unknown-format"
    )


@dataclass(frozen=True)
class ExportView:
    """Which figure, and how it is looked at."""

    figure: str | None
    threshold: float
    mode: str
    theme: str
    head: str | None = None


def _write(kind: Whole, result: Result, run: Mapping[str, Any], facts: Facts, look: ExportView) -> bytes:
    if kind == "npz":
        return numbers.npz(result)
    if kind == "csv":
        name = look.figure or find(result.analysis).whole.name
        return numbers.csv(figures.table(result, name, look.threshold, look.mode, look.head))
    if kind == "json":
        return numbers.json(result, look.figure, look.threshold, look.mode, look.head)
    if kind == "ipynb":
        from headscope.analyses.export import notebook

        return notebook.notebook(result, run, facts, look)
    if kind == "html":
        from headscope.analyses.export import page

        return page.page(result, facts, look.figure, look.threshold, look.mode, look.theme, look.head)
    from headscope.analyses.export import drawing, picture

    name = look.figure or figures.names(result.analysis)[0]
    figure = figures.build(result, name, look.threshold, look.mode, look.theme, look.head)
    return picture.draw(
        drawing.standing_alone(figure, facts.title, look.theme, with_roles=name == "roles"), kind
    )
