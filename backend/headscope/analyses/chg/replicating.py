"""Whether the roles would come out again: the figure by number of fits, its table, and in words how many more
fits would tell. The numbers are those of ``core.statistics.replication``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from headscope.analyses.chg.result import ChgResult
from headscope.analyses.columns import Array, Table, table
from headscope.core.model.info import heads_in_words
from headscope.core.statistics.replication import (
    MOST,
    VERDICTS,
    Prior,
    Replication,
    fits_to_replicate,
    replication,
)
from headscope.figures import curves
from headscope.figures.theme import Drawing, Palette, titled
from headscope.figures.view import View

SOUGHT: Final = ("needed", "harmful")
"""The roles for which more fits are suggested."""

_APART = 0.14
"""Between the dots of two roles, in fits."""

_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


def replicates(result: ChgResult, view: View) -> Drawing:
    """How likely a new fit gives a head a role that so many of the fits gave it."""
    found = result.replication(view.threshold)
    fits, labels = int(result.ran.sum()), result.vocabulary.labels
    traces = [
        _dots(role, labels[role], one, place * _APART, view.colours)
        for place, (role, one) in zip((-1, 0, 1), found.items(), strict=True)
    ]
    layout = {
        "height": 280,
        "xaxis": {
            "title": {"text": f"of {fits} fits, how many give a head the role"},
            "range": [-0.5, fits + 0.5],
            "dtick": 1 if fits <= 12 else 5,
        },
        "yaxis": {"title": {"text": "in a new fit, %"}, "range": [-2, 102], "tickvals": [0, 20, 50, 80, 100]},
        "margin": {"l": 52, "r": 16, "t": 34, "b": 44},
    }
    more, advice = suggested(found)
    halves = result.split_half(view.threshold)
    reading = (
        "A dot is all heads with the role in so many fits, the larger the more heads: how likely a new fit "
        f"gives it again, with a bar that holds the true rate in 90 %. {advice}{_halves(halves, labels)}"
    )
    meta = {
        "threshold": view.threshold,
        "fits": fits,
        "more_seeds": more,
        "advice": advice,
        "verdicts": digits(found),
        "replication": {role: by_count(one, halves[role]) for role, one in found.items()},
    }
    return titled({"data": traces, "layout": layout}, "Would a new fit say the same?", reading, **meta)


def rows(result: ChgResult, view: View) -> Table:
    """A row for each role and number of fits with it: heads, rate, verdict, how many fits are missing."""
    names = result.vocabulary.names
    parts = [_role_rows(names[role], one) for role, one in result.replication(view.threshold).items()]
    titles = (
        ("role", "role", ""),
        ("fits_with", "fits with the role", ""),
        ("fits", "fits", ""),
        ("heads", "heads", ""),
        ("rate", "probability in a new fit", "share"),
        ("low", "lower end of 90 %", "share"),
        ("high", "upper end of 90 %", "share"),
        ("verdict", "verdict", ""),
        ("more", "more fits until it replicates, at the share seen", ""),
        ("more_at_best", "the same, if all of them agree", ""),
    )
    return table(
        [(name, title, unit, np.concatenate([part[name] for part in parts])) for name, title, unit in titles]
    )


def digits(found: Mapping[str, Replication]) -> list[str]:
    """The surest verdict on any role of each head, a string a layer and a digit a head: a cell's fullness."""
    surest = np.maximum.reduce([one.verdict for one in found.values()])
    return ["".join(map(str, layer)) for layer in surest.tolist()]


def by_count(found: Replication, halves: float | None) -> dict[str, Any]:
    """What a page needs to tell each head's verdict from the number of fits that gave it the role."""
    each = _each(found)
    return {
        "prior": (found.prior.a, found.prior.b),
        **{name: getattr(each, name).round(4).tolist() for name in ("rate", "low", "high")},
        "verdict": [VERDICTS[verdict] for verdict in each.verdict],
        "more": [_or_none(more) for more in each.more.tolist()],
        "replicating": float(found.replicates.mean()),
        "split_half": halves,
    }


def suggested(found: Mapping[str, Replication]) -> tuple[int | None, str]:
    """How many more fits would make the first needed or harmful head replicate that doesn't yet (None: no
    number would), and a sentence on it.
    """
    sought = [found[role] for role in SOUGHT]
    fits = sought[0].fits
    if fits == 0:
        return None, "No seed has a fit."
    waiting = [one.more[one.more > 0] for one in sought]
    more = min((int(some.min()) for some in waiting if some.size), default=None)
    if not any(_can(one.prior, fits) for one in sought):
        return more, _too_few(fits, more)
    if more is None:
        return None, f"No further head would replicate within {MOST} fits if they go on as seen."
    heads = sum(int((some <= more).sum()) for some in waiting)
    word = "head is" if heads == 1 else "heads are"
    return more, f"{_more(more)} if they go on as these did, and {heads} further {word} said to replicate."


def _can(prior: Prior, fits: int) -> bool:
    """Whether so many fits that agree are enough."""
    enough = fits_to_replicate(prior)
    return enough is not None and enough <= fits


def _too_few(fits: int, more: int | None) -> str:
    word = _NUMBERS[fits] if fits < len(_NUMBERS) else str(fits)
    cant = f"{word} fit{'' if fits == 1 else 's'} can’t give “replicates”"
    if more is None:
        return f"{cant}, and no head would get there within {MOST} if the fits go on as seen."
    return f"{cant}: {more} more would, if they agree."


def _more(more: int) -> str:
    return f"{more} more fit{'' if more == 1 else 's'},"


def _halves(halves: Mapping[str, float | None], labels: Mapping[str, str]) -> str:
    known = [f"{halves[role]:.2f} of {labels[role]}" for role in SOUGHT if halves[role] is not None]
    if not known:
        return ""
    return (
        f" Between halves of the fits the heads’ shares correlate, for as many fits, by {', '.join(known)}."
    )


def _each(found: Replication) -> Replication:
    """The same by number of fits with the role."""
    return replication(np.arange(found.fits + 1), found.fits, found.prior)


def _or_none(more: int) -> int | None:
    return None if more < 0 else more


def _heads(found: Replication) -> Array:
    return np.bincount(found.count.reshape(-1), minlength=found.fits + 1)


def _dots(role: str, label: str, found: Replication, aside: float, colours: Palette) -> dict[str, Any]:
    each, heads = _each(found), _heads(found)
    there = heads > 0
    rate, low, high = (100 * part[there] for part in (each.rate, each.low, each.high))
    size = 6 + 16 * np.sqrt(heads[there] / heads.sum())
    words = [
        f"{label} in {k} of {found.fits} fits, {heads_in_words(n)}: {VERDICTS[verdict]}"
        for k, n, verdict in zip(
            *(part[there].tolist() for part in (each.count, heads, each.verdict)), strict=True
        )
    ]
    symbols = [("circle-open", "diamond-open", "circle")[verdict] for verdict in each.verdict[there]]
    colour = colours.role(role)
    return curves.dots(
        each.count[there] + aside,
        rate,
        colour,
        label,
        showlegend=True,
        error_y={
            "type": "data",
            "symmetric": False,
            "array": (high - rate).round(2).tolist(),
            "arrayminus": (rate - low).round(2).tolist(),
            "color": colour,
            "thickness": 1,
            "width": 0,
        },
        marker={"color": colour, "size": size.round(1).tolist(), "symbol": symbols, "line": {"width": 1.5}},
        text=words,
        hovertemplate="%{text}: %{y:.0f} % in a new fit<extra></extra>",
    )


def _role_rows(role: str, found: Replication) -> dict[str, Array]:
    each = _each(found)
    more = {
        name: np.where(getattr(each, name) < 0, np.nan, getattr(each, name))
        for name in ("more", "more_at_best")
    }
    return {
        "role": np.full(found.fits + 1, role),
        "fits_with": each.count,
        "fits": np.full(found.fits + 1, found.fits),
        "heads": _heads(found),
        "rate": each.rate,
        "low": each.low,
        "high": each.high,
        "verdict": np.array(VERDICTS)[each.verdict],
        **more,
    }
