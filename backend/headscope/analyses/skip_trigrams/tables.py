"""Skip trigrams as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.columns import Column, Table, table
from headscope.analyses.skip_trigrams.result import SkipTrigramsResult
from headscope.analyses.token_names import Words
from headscope.core.model.info import head_name
from headscope.errors import NotFound
from headscope.figures.view import View


def place_of(result: SkipTrigramsResult, view: View) -> int:
    """The head's place among those looked at; without one the head of the strongest trigram.

    Raises ``NotFound`` (head-not-computed) for a head that the run left out.
    """
    heads = [tuple(head) for head in result.heads.tolist()]
    if view.head is None:
        return int(result.scores.max(axis=1).argmax())
    if view.head not in heads:
        raise NotFound(
            f"This run didn't look at head {head_name(view.head)}.",
            f"It has {', '.join(head_name(head) for head in heads)}; start another run for this one.",
            code="head-not-computed",
        )
    return heads.index(view.head)


def trigrams(result: SkipTrigramsResult, view: View) -> Table:
    """A row for each source: its best present tokens and next tokens, the best first."""
    place, words = place_of(result, view), Words(result.tokens)

    def listed(ids: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
        rows = zip(ids[place], numbers[place], strict=True)
        return np.array(
            [
                ", ".join(f"{words.text(token)!r} {value:.3g}" for token, value in zip(*row, strict=True))
                for row in rows
            ]
        )

    sources = result.sources[place]
    columns: list[Column] = [
        ("head", "layer.head", "", np.repeat(head_name(result.heads[place]), len(sources))),
        ("source", "A, looked back at", "", np.array([words.text(token) for token in sources])),
        ("source_id", "its id", "", sources),
        (
            "destinations",
            "B, the present token, and how much it looks",
            "",
            listed(result.destinations, result.q),
        ),
        (
            "outputs",
            "C, the next token, and how much it is raised",
            "logits",
            listed(result.outputs, result.o),
        ),
        ("score", "score of the best", "", result.scores[place]),
    ]
    return table(columns)


def crossed(result: SkipTrigramsResult, view: View) -> Table:
    """A row for each pair of pairs; empty strings where the head has none."""
    place, words = place_of(result, view), Words(result.tokens)
    ids = result.crossed[place]
    scores = result.crossed_scores[place]
    known = max(1, int((ids[:, 0] >= 0).sum()))
    titles = (
        ("source", "A"), ("first_present", "B1"), ("first_next", "C1"),
        ("second_present", "B2"), ("second_next", "C2"),
    )  # fmt: skip
    columns: list[Column] = []
    for column, (name, title) in enumerate(titles):
        texts = [words.text(token) if token >= 0 else "" for token in ids[:known, column]]
        columns.append((name, title, "", np.array(texts)))
    for column, (name, title) in enumerate(
        (("b1c1", "A … B1 → C1"), ("b2c2", "A … B2 → C2"), ("b1c2", "A … B1 → C2"), ("b2c1", "A … B2 → C1"))
    ):
        columns.append((name, f"score of {title}", "", scores[:known, column]))
    margin = result.crossed_margin[place, :known]
    columns.append(("margin", "how much the bigrams prefer the first two", "nats", margin))
    return table(columns)


def bigrams(result: SkipTrigramsResult, view: View) -> Table:
    """The strongest bigrams of the direct path."""
    words = Words(result.tokens)
    columns: list[Column] = [
        ("token", "token", "", np.array([words.text(token) for token in result.bigram_rows])),
        ("next", "next", "", np.array([words.text(token) for token in result.bigram_columns])),
        ("logit", "logit above the token's mean", "", result.bigram_values),
    ]
    return table(columns)
