"""A run as one HTML file that needs nothing else: text, figures, tables, light and dark, no network.

Figures stand in it as JSON, plotly.js gzipped (page.js unpacks it), the font and the styles inline. All text
that comes from a run enters as escaped text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from headscope.analyses import figures
from headscope.analyses.base import Result
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.columns import Table
from headscope.analyses.export import drawing, plotly_js
from headscope.analyses.export.facts import Facts
from headscope.analyses.headline import HeadlineValue, told
from headscope.analyses.request import find
from headscope.core.gating.vocabulary import Vocabulary
from headscope.figures import head_grid, theme
from headscope.figures.theme import Drawing

GRID_WIDTH = 1030
"""Pixels inside a card of the page's full width."""

_HERE = Path(__file__).parent
_MODES = (("every", "Every seed"), ("always", "Always"), ("any", "Any"))


def page(
    result: Result,
    facts: Facts,
    figure: str | None,
    threshold: float,
    mode: str,
    colours: str,
    head: str | None = None,
) -> bytes:
    """The file. With ``figure`` only that one is in it."""
    names = [figure] if figure else figures.names(result.analysis)
    drawn = {name: _sized(figures.build(result, name, threshold, mode, head=head)) for name in names}
    grids = [name for name in names if drawing.is_grid(drawn[name])]
    tips = {name: _hover(result, name, threshold, mode) for name in grids}
    content = {
        "figures": drawn,
        "theme": theme.theme(),
        "hover": {name: said for name, said in tips.items() if said},
        "modes": _modes(result, threshold) if "roles" in names else {},
    }
    cards = [_card(result, name, drawn[name], threshold, mode, head) for name in names]
    wide = [name in grids for name in names]
    body = "".join([header(facts), _numbers(result, threshold), *_arranged(cards, wide), provenance(facts)])
    return document(facts.title, colours, body, content)


def document(title: str, colours: str, body: str, content: Any) -> bytes:
    """One HTML file: ``body`` as it is, and what page.js draws into it (figures, theme, hover, modes)."""
    return f"""<!doctype html>
<html lang="en" data-theme="{escape(colours)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'; font-src data:; img-src data: blob:">
<title>{escape(title)} · Headscope</title>
<style>{plotly_js.font_face()}
{_read("page.css")}</style>
</head>
<body>
<main>{body}</main>
<div id="tip" hidden></div>
<script type="application/json" id="figures">{_inert(content)}</script>
<script type="text/plain" id="plotly">{plotly_js.packed(plotly_js.find())}</script>
<script>{_read("page.js")}</script>
</body>
</html>
""".encode()


def _sized(figure: Drawing) -> Drawing:
    if not drawing.is_grid(figure):
        return figure
    width = min(GRID_WIDTH, figure["layout"]["meta"]["max_width"])
    figure = {**figure, "layout": {**figure["layout"], "width": width}}
    return head_grid.rounded(figure, width, figure["layout"]["height"], theme.PALETTES["light"])


def header(facts: Facts) -> str:
    """Title, line below it, the switch between light and dark."""
    return f"""
<header><div><h1>{escape(facts.title)}</h1><p class="muted">{escape(facts.subtitle)}</p></div>
<button type="button" id="theme" aria-label="Change between light and dark">◐</button></header>
<p id="trouble" role="status"></p><noscript><p>Without JavaScript there are no pictures; the tables hold the
same numbers.</p></noscript>"""


def _numbers(result: Result, threshold: float) -> str:
    boxes = [
        f'<div class="number"><span class="muted">{escape(word)}</span><b>{number}</b></div>'
        for word, number in _headline(result, threshold)
    ]
    return f'<div class="numbers">{"".join(boxes)}</div>'


def _headline(result: Result, threshold: float) -> list[tuple[str, str]]:
    """The few numbers on top, in words; shares of roles are at the threshold that is looked at."""
    numbers = find(result.analysis).headline(result, threshold)
    return [(each.label, _told(each)) for each in told(result.analysis, numbers)]


def _told(each: HeadlineValue) -> str:
    """A number with its interval where it has one."""
    if each.unit != "share" or each.value is None:
        return _cell(each.value)
    if each.low is None or each.high is None:
        return _percent(each.value)
    return f"{_percent(each.value)} <small>95 %: {_percent(each.low)} to {_percent(each.high)}</small>"


def _card(
    result: Result, name: str, figure: Drawing, threshold: float, mode: str, head: str | None = None
) -> str:
    bar = ""
    if name == "roles" and isinstance(result, ChgResult):
        bar = _roles_bar(threshold, mode, result.vocabulary)
    return card(name, figure, figures.table(result, name, threshold, mode, head), bar)


def card(name: str, figure: Drawing, table: Table, bar: str = "") -> str:
    """A figure, what it says, and its table; ``bar`` is markup above the drawing."""
    meta = figure["layout"]["meta"]
    twin = _table(table, meta["title"])
    return f"""
<section><h2>{escape(meta["title"])}</h2>{bar}<div class="plot" id="figure-{name}" role="img"
aria-label="{escape(meta["title"])}; the table below holds the same numbers"
style="min-height:{figure["layout"]["height"]}px"></div>
<p class="reading" id="reading-{name}">{escape(meta["reading"])}</p>{twin}</section>"""


def _roles_bar(threshold: float, mode: str, words: Vocabulary) -> str:
    buttons = "".join(
        f'<button type="button" data-mode="{name}" aria-pressed="{str(name == mode).lower()}">{word}</button>'
        for name, word in _MODES
    )
    shown = ("needed", "harmful", "both", "irrelevant", "undecided")
    keys = "".join(_key(role, words.labels[role]) for role in shown)
    return f"""<div class="bar"><div class="modes">{buttons}</div>
<span class="muted">role at ≥ {threshold:.2f}</span><div>{keys}</div></div>"""


def _key(role: str, word: str) -> str:
    clear = role == "undecided"
    look = 'class="line"' if clear else f'style="background:var(--{role})"'
    return f'<span class="key"><i {look}></i>{word}</span>'


def _arranged(cards: Sequence[str], wide: Sequence[bool]) -> list[str]:
    """Grids over the full width, the smaller drawings two by two after the first of them."""
    grids = [card for card, alone in zip(cards, wide, strict=True) if alone]
    small = [card for card, alone in zip(cards, wide, strict=True) if not alone]
    return [*grids[:1], f'<div class="pair">{"".join(small)}</div>' if small else "", *grids[1:]]


def _table(table: Table, caption: str) -> str:
    heads = "".join(f'<th scope="col">{escape(_column(column))}</th>' for column in table["columns"])
    rows = "".join(f"<tr>{''.join(f'<td>{_cell(v)}</td>' for v in row)}</tr>" for row in table["rows"])
    return f"""<details><summary>Table</summary><div class="table" tabindex="0" role="region"
aria-label="{escape(caption)}"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div></details>"""


def _column(column: dict[str, str]) -> str:
    return f"{column['title']}, {column['unit']}" if column["unit"] else column["title"]


def provenance(facts: Facts) -> str:
    """The card that says where the numbers come from."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.rows)
    command = (
        f"<h2 style='margin-top:20px'>Reproduce</h2><pre>{escape(facts.reproduce)}</pre>"
        if facts.reproduce
        else ""
    )
    return f"<section><h2>Where these numbers come from</h2><dl>{rows}</dl>{command}</section>"


def _modes(result: Result, threshold: float) -> dict[str, Any]:
    shown = {name: figures.build(result, "roles", threshold, name) for name, _ in _MODES}
    return {
        name: {"z": figure["data"][0]["z"], "reading": figure["layout"]["meta"]["reading"]}
        for name, figure in shown.items()
    }


def _hover(result: Result, name: str, threshold: float, mode: str) -> list[str]:
    """What the pointer's tip says of each head, layer by layer; nothing where rows aren't heads."""
    table = figures.table(result, name, threshold, mode)
    columns = [column["name"] for column in table["columns"]]
    if not {"layer", "head"} <= set(columns):
        return []
    rows = [dict(zip(columns, row, strict=True)) for row in table["rows"]]
    if not isinstance(result, ChgResult):
        tell = _plain_words(table)
    else:
        tell = _role_words(result.vocabulary) if name == "roles" else _score_words
    return [f"Layer {row['layer']} · head {row['head']}\n{tell(row)}" for row in rows]


def _plain_words(table: Table) -> Callable[[dict[str, Any]], str]:
    """All that the table says of a head, beyond where it is."""
    told = [column for column in table["columns"] if column["name"] not in ("layer", "head", "kv_group")]
    return lambda row: "\n".join(f"{_column(column)}: {_cell(row[column['name']])}" for column in told)


def _role_words(words: Vocabulary) -> Callable[[dict[str, Any]], str]:
    """In how many seeds a head has each role."""

    def tell(row: dict[str, Any]) -> str:
        shares = [
            (words.labels[role], row[f"share_{words.names[role]}"])
            for role in ("needed", "harmful", "both", "irrelevant", "undecided")
        ]
        told = [f"{label} in {_percent(share)} of seeds" for label, share in shares if share]
        return "\n".join(told) or "no seed has a fit"

    return tell


def _score_words(row: dict[str, Any]) -> str:
    return f"{_number(row['mean'])} (seeds {_number(row['low'])} to {_number(row['high'])})"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.3g} %"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}".replace("-", "−")


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) or value is None:
        return _number(value)
    return escape(str(value))


def _inert(content: Any) -> str:
    """JSON that can't end its script element."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
