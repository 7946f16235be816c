"""What the path expansion draws: ranked paths, losses by order, heads, virtual heads."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.columns import spread
from headscope.analyses.from_weights import joined
from headscope.analyses.paths import tables
from headscope.analyses.paths.result import PathsResult, pair_name
from headscope.analyses.token_names import Words, sequence_words
from headscope.core.arrays import encode
from headscope.core.model.info import head_name
from headscope.figures import bars, head_grid, plane, ranked
from headscope.figures.theme import Drawing, magnitude_scale, titled
from headscope.figures.view import View

SHOWN = 24


def terms(result: PathsResult, view: View) -> Drawing:
    """The paths that add most to the logit and take most from it; of a selected head only its own."""
    chosen = np.arange(len(result.value))
    if view.head is not None:
        number = view.head[0] * result.model.n_heads + view.head[1]
        chosen = chosen[(result.first == number) | (result.second == number)]
    chosen = chosen[:SHOWN]
    names = [result.path_name(int(term)) for term in chosen]
    amounts = [float(result.value[term]) for term in chosen]
    for name, value in (("longer paths", result.longer), ("through MLPs", result.through_mlps)):
        if value and view.head is None:
            names.append(name)
            amounts.append(float(value))
    colours, words = view.colours, Words(result.tokens)
    trace = ranked.lying_bars(names, np.array(amounts), colours, "%{y}: %{x:+.3f}<extra></extra>")
    what = words.label(result.token)
    if result.against is not None:
        what = f"{what} against {words.label(result.against)}"
    reading = (
        f"The logit of {what} after position {result.at} is {result.logit:.3f}. All terms, the small ones "
        f"too, add up to {result.total:.3f}: patterns and norm scales are frozen as they were on this "
        "prompt. A path starts at a token, a position or a bias and goes through the heads named."
    )
    layout = ranked.lying_axes(len(names), "adds to the logit", colours)
    of = f" of head {head_name(view.head)}" if view.head else ""
    return titled({"data": [trace], "layout": layout}, f"The strongest paths{of}", reading)


def orders(result: PathsResult, view: View) -> Drawing:
    """Loss when heads read only paths of up to so many heads."""
    loss, colours = result.orders, view.colours
    names = [f"up to {order}" for order in range(loss.shape[1])]
    hover = "%{x} heads: %{y:.3f} nats<extra></extra>"
    error = spread(loss) if len(loss) > 1 else None
    trace = bars.head_bars(names, loss.mean(axis=0), error, colours.scale[3], colours, "loss", hover)
    layout = {
        "height": 280,
        "bargap": 0.3,
        "showlegend": False,
        "xaxis": {**bars.head_axis(len(names)), "title": {"text": "heads on the way"}},
        "yaxis": {"title": {"text": "loss, nats"}, "rangemode": "tozero"},
        "margin": {"l": 52, "r": 16, "t": 14, "b": 56},
    }
    reading = (
        "With all patterns frozen, the loss if only paths of up to so many heads counted, "
        f"{result.scored_words}. The last bar is the model's own loss. Where it hardly falls from one to "
        "two, virtual heads matter little."
    )
    if result.through_mlps:
        reading += " What went through MLPs stays as it was in all of them."
    return titled({"data": [trace], "layout": layout}, "How long do paths have to be?", reading)


def heads(result: PathsResult, view: View) -> Drawing:
    """Each head's marginal effect by its one-head paths."""
    mean = result.heads.mean(axis=0)
    most = float(np.nanmax(np.abs(mean))) or 1.0
    group = result.model.n_heads // result.model.n_kv_heads
    figure = head_grid.signed(mean, view.colours, name="marginal", most=most, group=group)
    reading = (
        f"How much the loss rises, in nats a token {result.scored_words}, when a head's own paths are "
        "removed and everything else is frozen: blue heads help, red ones harm. Their part in virtual heads "
        "is in the next figure."
    )
    return titled(figure, "How much does each head do by itself?", reading)


def virtual(result: PathsResult, view: View) -> Drawing:
    """The virtual heads that matter most."""
    pairs = tables.virtual_pairs(result)
    if view.head is not None:
        pairs = [pair for pair in pairs if view.head in (pair[0][:2], pair[0][2:])]
    pairs = [(pair, rise) for pair, rise in pairs if rise == rise][:SHOWN]
    names = [pair_name(pair) for pair, _ in pairs]
    values = np.array([rise for _, rise in pairs], np.float32)
    trace = ranked.lying_bars(names, values, view.colours, "%{y}: %{x:+.4f} nats<extra></extra>")
    reading = (
        "A virtual head is two heads, the later one's values reading what the earlier one wrote (an "
        "induction circuit isn't one: it composes through keys). Bars are the rise of the loss, in nats a "
        f"token {result.scored_words}, when just that pair's paths are removed."
        if names
        else tables.why_none(result, view)
    )
    layout = ranked.lying_axes(len(names), "rise of the loss, nats", view.colours)
    return titled({"data": [trace], "layout": layout}, "Which virtual heads matter?", reading)


def virtual_pattern(result: PathsResult, view: View) -> Drawing:
    """Where one virtual head looks: A2 A1."""
    place = tables.virtual_place(result, view)
    rows, name = result.pair_pattern[place], result.pair_name(place)
    seen = np.where(np.tri(len(rows), dtype=bool), rows, np.nan)
    words = enumerate(sequence_words(result.prompt))
    labels = [f"{number} {escape(word, quote=False)}" for number, word in words]
    axis = {"type": "category", "showgrid": False, "constrain": "domain", "nticks": 24}
    trace = {
        "type": "heatmap",
        "x": labels,
        "y": labels,
        "z": encode(seen.astype(np.float32)),
        "zmin": 0,
        "zmax": max(float(np.nanmax(seen)), 1e-9),
        "colorscale": magnitude_scale(view.colours),
        "hovertemplate": "%{y} looks at %{x}: %{z:.3f}<extra></extra>",
    }
    layout = {
        "height": 460,
        "xaxis": {**axis, "title": {"text": "looked at"}},
        "yaxis": {**axis, "autorange": "reversed", "title": {"text": "present token"}},
        "margin": {"l": 100, "r": 56, "t": 12, "b": 90},
    }
    reading = (
        f"The product of the two patterns of {name}: how much each token sees of each earlier one through "
        "the place that the second head looks at. Its matrix is the product of the two OV matrices. "
        f"{_why(result, view)}"
    )
    return titled({"data": [trace], "layout": layout}, f"Where virtual head {name} looks", reading)


def virtual_spectrum(result: PathsResult, view: View) -> Drawing:
    """Eigenvalues of one virtual head's OV product."""
    place, colours = tables.virtual_place(result, view), view.colours
    values, name = joined(result.pair_spectrum[place]), result.pair_name(place)
    largest = float(np.abs(values).max())
    score = float(values.sum().real / max(np.abs(values).sum(), 1e-30))
    words = f"OV of {name} ({score:+.2f})".replace("-", "−")
    shapes, names = plane.rings(1.0, colours)
    layout: dict[str, Any] = {
        "height": 420,
        **plane.square(colours),
        "shapes": shapes,
        "annotations": names,
        "margin": {"l": 24, "r": 24, "t": 40, "b": 32},
    }
    trace = plane.eigenvalue_dots(values, largest, colours.needed, words, "circle")
    reading = (
        "Every dot is an eigenvalue of the two OV matrices' product. Right: the pair copies the token it "
        "sees; left: it lowers it. The outer ring is the largest, each ring inwards a tenth of it. "
        f"{_why(result, view)}"
    )
    return titled({"data": [trace], "layout": layout}, f"Eigenvalues of virtual head {name}", reading)


def _why(result: PathsResult, view: View) -> str:
    """Why this pair is shown, and by which measure: a sentence."""
    number = len(result.pairs)
    kept = f"Of the {number} pairs kept"
    if view.head is not None and tables.places_of(result, view):
        kept = f"Of those pairs of head {head_name(view.head)} that are kept"
    elif view.head is not None:
        kept = f"Head {head_name(view.head)} is half of none of the {number} pairs kept; of them all"
    if result.pairs_by == "importance" and result.virtual is not None:
        pair = tuple(result.pairs[tables.virtual_place(result, view)])
        rise = float(result.virtual.mean(axis=0)[pair])
        if rise > 0:
            return f"{kept}, this one helps most: without it the loss rises by {rise:.3f} nats a token."
        harm = f"without it the loss falls by {-rise:.3f} nats a token"
        return f"{kept}, none helps and this one harms most: {harm}."
    return f"{kept}, this one adds most to the logit on this prompt or takes most from it."


FIGURES = (
    Figure("terms", terms, tables.terms),
    Figure("orders", orders, tables.orders),
    Figure("heads", heads, tables.heads),
    Figure("virtual", virtual, tables.virtual),
    Figure("virtual-pattern", virtual_pattern, tables.pattern),
    Figure("virtual-spectrum", virtual_spectrum, tables.spectrum),
)
