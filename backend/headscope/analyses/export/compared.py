"""A comparison of several runs as a file: its table (CSV, JSON), its picture (PNG, SVG), its page (HTML)."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from html import escape
from typing import Any, Literal, get_args

from headscope.analyses import comparisons
from headscope.analyses.base import Result
from headscope.analyses.columns import Table
from headscope.analyses.comparisons import Chosen, Compared, CompareView
from headscope.analyses.export import EXPORTS, Export, numbers, unknown_format
from headscope.analyses.export.facts import Facts
from headscope.figures.theme import Drawing, theme

Format = Literal["csv", "json", "html", "png", "svg"]

FORMATS: tuple[Format, ...] = get_args(Format)


def export(
    name: str,
    runs: Iterable[Compared | Result],
    format: str,  # noqa: A002 - the word of the API and of the command line
    look: CompareView,
    colours: str = "light",
) -> Export:
    """Write a comparison as one file; ``colours`` is light or dark.

    Raises what ``comparisons.build`` raises, ``Invalid`` for an unknown format, ``Unavailable`` (no-browser,
    picture-failed) where a picture can't be drawn here.
    """
    kind = next((known for known in FORMATS if known == format), None)
    if kind is None:
        raise unknown_format(format, FORMATS)
    chosen, figure, table = comparisons.reported(name, runs, look)
    facts = _facts(name, chosen, look)
    content = _write(kind, figure, table, facts, chosen, colours)
    return Export(content, EXPORTS[kind], f"{facts.file_stem}.{kind}")


def _write(kind: Format, figure: Drawing, table: Table, facts: Facts, chosen: Chosen, colours: str) -> bytes:
    meta = figure["layout"]["meta"]
    if kind == "csv":
        return numbers.csv(table)
    if kind == "json":
        return numbers.dump({**meta, "runs": [_described(run) for run in chosen.runs], **table})
    if kind == "html":
        return _page(figure, table, facts, colours)
    from headscope.analyses.export import drawing, picture

    return picture.draw(drawing.standing_alone(figure, facts.subtitle, colours), kind)


def _page(figure: Drawing, table: Table, facts: Facts, colours: str) -> bytes:
    from headscope.analyses.export import page

    notes = "".join(f"<p>{escape(note)}</p>" for note in figure["layout"]["meta"]["notes"])
    body = "".join(
        [page.header(facts), notes, page.card("comparison", figure, table), page.provenance(facts)]
    )
    content = {"figures": {"comparison": figure}, "theme": theme(), "hover": {}, "modes": {}}
    return page.document(facts.title, colours, body, content)


def _described(run: Compared) -> dict[str, Any]:
    model = run.result.model
    return {
        "run": run.run,
        "label": run.label,
        "model": model.name,
        "revision": model.revision,
        "weight_processing": model.weight_processing,
        "dtype": model.dtype,
        "task": dict(run.result.task or {}),
        "seeds": list(run.result.seeds),
        "finished_seeds": run.seeds,
        "params": dict(run.result.params),
    }


def _facts(name: str, chosen: Chosen, look: CompareView) -> Facts:
    shown = [run.label for run in chosen.runs[:3]]
    more = len(chosen.runs) - len(shown)
    return Facts(
        title=comparisons.find(name).title,
        subtitle=", ".join(shown) + (f" and {more} more" if more else ""),
        rows=tuple((run.label, _provenance(run)) for run in chosen.runs),
        reproduce=_command(name, chosen, look),
        file_stem=f"headscope-compare-{name}",
    )


def _provenance(run: Compared) -> str:
    model = run.result.model
    params = ", ".join(f"{name} {value}" for name, value in run.result.params.items() if value is not None)
    told = [
        f"run {run.run}" if run.run else "",
        f"weights {model.revision}, {model.dtype}, weight processing: {model.weight_processing}",
        f"{run.seeds} of {len(run.result.seeds)} seeds",
        params,
    ]
    return " · ".join(filter(None, told))


def _command(name: str, chosen: Chosen, look: CompareView) -> str | None:
    """The command that writes it again; none for results that no store knows by id."""
    if not all(run.run for run in chosen.runs):
        return None
    given = {
        "threshold": f"{look.view.threshold:g}",
        "mode": look.view.mode,
        "score": look.score,
        "published": "" if look.published else "--no-published",
        "common": "--common" if look.common else "",
    }
    words = ["headscope", "compare", name, *(run.run for run in chosen.runs)]
    for option in comparisons.find(name).follows:
        flag = option in ("published", "common")
        words += ([given[option]] if given[option] else []) if flag else [f"--{option}", given[option]]
    return shlex.join(words)
