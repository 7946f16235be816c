"""What the skip-trigram analysis draws: one head's trigrams and crossed pairs, and the bigrams."""

from __future__ import annotations

import numpy as np

from headscope.analyses.base import Figure
from headscope.analyses.from_weights import how
from headscope.analyses.skip_trigrams import tables
from headscope.analyses.skip_trigrams.result import SkipTrigramsResult
from headscope.analyses.token_names import Words
from headscope.core.model.info import head_name
from headscope.figures import ranked
from headscope.figures.theme import Drawing, titled
from headscope.figures.view import View

SHOWN = 20


def trigrams(result: SkipTrigramsResult, view: View) -> Drawing:
    """One head's strongest sources, each with its best present and next token."""
    place, words = tables.place_of(result, view), Words(result.tokens)
    sources, destinations, outputs = (
        [words.label(token) for token in ids[:SHOWN]]
        for ids in (result.sources[place], result.destinations[place, :, 0], result.outputs[place, :, 0])
    )
    names = [f"{a} … {b} → {c}" for a, b, c in zip(sources, destinations, outputs, strict=True)]
    values, colours = result.scores[place, :SHOWN], view.colours
    trace = ranked.lying_bars(
        names, values, colours, "%{y}: %{x:.3g}<extra></extra>", colour=colours.scale[3]
    )
    at = result.heads[place].tolist()
    reading = (
        "“A … B → C”: when the present token is B, the head looks back at A and raises C. The score is how "
        "much B looks at A, times how much the head then raises C. The table has more of each. "
        f"{how(result)}"
    )
    layout = ranked.lying_axes(len(names), "score", colours)
    title = f"Skip trigrams of head {head_name(at)}"
    figure = {"data": [trace], "layout": layout}
    return titled(figure, title, reading, head=at, looked_at=result.heads.tolist())


def crossed(result: SkipTrigramsResult, view: View) -> Drawing:
    """One head's worst crossed pairs."""
    place, words = tables.place_of(result, view), Words(result.tokens)
    colours = view.colours
    names, values = [], []
    for ids, scores in zip(result.crossed[place], result.crossed_scores[place], strict=True):
        if ids[0] < 0:
            break
        a, b1, c1, b2, c2 = (words.label(token) for token in ids)
        names.append(f"{a} … {b1} → {c2}, {a} … {b2} → {c1}")
        values.append(float(scores[2:].min()))
    trace = ranked.lying_bars(
        names, np.array(values), colours, "%{y}: %{x:.3g}<extra></extra>", colour=colours.harmful
    )
    at = result.heads[place].tolist()
    head = head_name(at)
    reading = (
        "Pairs that the head must raise because it raises two others: it can't tell which next token belongs "
        "to which present one. The score is the weaker of the two; the table has the pairs that were meant. "
        f"{how(result)}"
        if names
        else f"Head {head} has no crossed pairs that the model's own bigrams would tell apart."
    )
    layout = ranked.lying_axes(len(names), "score of the weaker one", colours)
    layout["margin"] = {**layout["margin"], "l": 240}
    title = f"Crossed pairs of head {head}"
    figure = {"data": [trace], "layout": layout}
    return titled(figure, title, reading, head=at, looked_at=result.heads.tolist())


def bigrams(result: SkipTrigramsResult, view: View) -> Drawing:
    """The strongest bigrams of the direct path."""
    words, colours = Words(result.tokens), view.colours
    pairs = zip(result.bigram_rows[:SHOWN], result.bigram_columns[:SHOWN], strict=True)
    names = [f"{words.label(row)} → {words.label(column)}" for row, column in pairs]
    values = result.bigram_values[:SHOWN]
    trace = ranked.lying_bars(
        names, values, colours, "%{y}: %{x:.2f}<extra></extra>", colour=colours.scale[3]
    )
    reading = (
        "What the model would say next if it had no layers: the embedding straight to the logits, above the "
        f"token's mean. {how(result)}"
    )
    layout = ranked.lying_axes(len(names), "logit above the mean", colours)
    return titled({"data": [trace], "layout": layout}, "Bigrams of the direct path", reading)


FIGURES = (
    Figure("trigrams", trigrams, tables.trigrams, about_one_head=True),
    Figure("crossed", crossed, tables.crossed, about_one_head=True),
    Figure("bigrams", bigrams, tables.bigrams),
)
