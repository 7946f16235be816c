"""Token tables, crossed pairs and virtual weights, in the words of ``messages.circuits``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.core.model.head_model import HeadModel
from headscope.errors import Invalid
from headscope.messages.circuits import (
    Cell,
    CircuitIn,
    CrossedIn,
    CrossedOut,
    CrossedPairs,
    Direction,
    TablesIn,
    TablesOut,
    Trigram,
    VirtualIn,
    VirtualOut,
    Weighed,
)
from headscope.worker.lab.prompt import known_token, vocabulary_token

if TYPE_CHECKING:
    import torch

    from headscope.core.circuits.skip_trigrams import Crossed
    from headscope.core.circuits.tables import Cells
    from headscope.core.circuits.virtual import Side
    from headscope.core.circuits.weights import Weights

SOURCES = 200
"""Sources among which crossed pairs are looked for."""

_UNITS = {
    "ov": "logits, up to the scale of the norms",
    "qk": "attention score, up to the scale of the norm",
    "direct": "logits, up to the scale of the norm",
}


def tables(model: HeadModel, wanted: TablesIn) -> TablesOut:
    """The strongest cells of a table, or of one token's row and column.

    Raises ``Invalid`` for a layer, head or token there isn't, ``TooLarge`` for a table that takes too long.
    """
    import torch

    from headscope.core.circuits.tables import Cells, best, table

    weights = _weights(model, wanted)
    whole = table(weights, wanted.circuit, wanted.layer, wanted.head, most=wanted.vocabulary)
    column: list[Cell] = []
    if wanted.token is None:
        cells = _cells(model, whole.largest(wanted.top))
    else:
        across = best(whole.row(wanted.token), wanted.top)
        down = best(whole.column(wanted.token), wanted.top)
        token = torch.full_like(across.rows, wanted.token)
        cells = _cells(model, Cells(token, across.columns, across.values))
        column = _cells(model, Cells(down.rows, token, down.values))
    return TablesOut(
        model=model.info.name,
        circuit=wanted.circuit,
        layer=wanted.layer,
        head=wanted.head,
        weight_processing=wanted.weight_processing,
        token=None if wanted.token is None else vocabulary_token(model, wanted.token),
        cells=cells,
        column=column,
        vocabulary=len(whole.left),
        unit=_UNITS[wanted.circuit],
        limits=weights.limits,
    )


def crossed(model: HeadModel, wanted: CrossedIn) -> CrossedOut:
    """The scores of two chosen pairs and their crossed ones, or the worst pairs that a head has.

    Raises ``Invalid`` for one pair without the other, without a source, or for tokens that aren't there.
    """
    from headscope.core.circuits.skip_trigrams import crossed as cross
    from headscope.core.circuits.skip_trigrams import head_tables, largest_crossed, trigrams

    if (wanted.source is None) != (not wanted.pairs) or len(wanted.pairs) == 1:
        raise Invalid(
            "Crossing takes a source and two pairs.",
            "Send source and two pairs, or neither to have the worst ones found.",
            code="bad-pairs",
        )
    chosen = wanted.source is not None
    weights = _weights(model, wanted)
    found_in = head_tables(weights, wanted.layer, wanted.head, most=None if chosen else wanted.vocabulary)
    if wanted.source is not None:
        for token in (wanted.source, *wanted.pairs[0], *wanted.pairs[1]):
            known_token(model, token)
        found = [cross(found_in, wanted.source, wanted.pairs[0], wanted.pairs[1])]
    else:
        found = largest_crossed(found_in, trigrams(found_in, SOURCES), wanted.top)
    return CrossedOut(
        model=model.info.name,
        layer=wanted.layer,
        head=wanted.head,
        weight_processing=wanted.weight_processing,
        found=[_pairs(model, pair) for pair in found],
        chosen=chosen,
        limits=weights.limits,
    )


def virtual(model: HeadModel, wanted: VirtualIn) -> VirtualOut:
    """What the reader reads of what the writer writes; ``Invalid`` where it doesn't come after it."""
    from headscope.core.circuits.virtual import reader, virtual, writer

    weights = _weights(model, wanted)
    found = virtual(writer(weights, wanted.writer), reader(weights, wanted.reader), wanted.top)
    directions = []
    for index, value in enumerate(found.values.tolist()):
        left = _both_ends(model, weights, found.writer.side, found.left[:, index], wanted.tokens)
        right = _both_ends(model, weights, found.reader.side, found.right[:, index], wanted.tokens)
        directions.append(
            Direction(
                value=value, left_high=left[0], left_low=left[1], right_high=right[0], right_low=right[1]
            )
        )
    return VirtualOut(
        model=model.info.name,
        writer=found.writer.name,
        reader=found.reader.name,
        weight_processing=wanted.weight_processing,
        left=found.writer.side,
        right=found.reader.side,
        norm=found.norm,
        share=None if found.share != found.share else found.share,
        random=model.info.d_model**-0.5,
        directions=directions,
        limits=weights.limits,
    )


def _weights(model: HeadModel, wanted: CircuitIn) -> Weights:
    from headscope.core.circuits.weights import read_weights

    return read_weights(model, wanted.weight_processing)


def _cells(model: HeadModel, cells: Cells) -> list[Cell]:
    return [
        Cell(row=vocabulary_token(model, row), column=vocabulary_token(model, column), value=value)
        for row, column, value in zip(
            cells.rows.tolist(), cells.columns.tolist(), cells.values.tolist(), strict=True
        )
    ]


def _pairs(model: HeadModel, pair: Crossed) -> CrossedPairs:
    (b1, c1), (b2, c2) = pair.first, pair.second
    (q1, q2), (o1, o2) = pair.q, pair.o
    parts = ((b1, c1, q1, o1), (b2, c2, q2, o2), (b1, c2, q1, o2), (b2, c1, q2, o1))
    four = [
        Trigram(
            destination=vocabulary_token(model, destination),
            output=vocabulary_token(model, output),
            q=q,
            o=o,
            score=score,
        )
        for (destination, output, q, o), score in zip(parts, pair.scores, strict=True)
    ]
    return CrossedPairs(
        source=vocabulary_token(model, pair.source), intended=four[:2], crossed=four[2:], margin=pair.margin
    )


def _both_ends(
    model: HeadModel, weights: Weights, side: Side, direction: torch.Tensor, count: int
) -> tuple[list[Weighed], list[Weighed]]:
    from headscope.core.circuits.tables import best
    from headscope.core.circuits.virtual import in_tokens

    scores = in_tokens(weights, side, direction)
    if scores is None:
        return [], []
    high, low = best(scores, count), best(-scores, count)
    return (
        [
            Weighed(token=vocabulary_token(model, token), value=value)
            for token, value in zip(high.rows.tolist(), high.values.tolist(), strict=True)
        ],
        [
            Weighed(token=vocabulary_token(model, token), value=-value)
            for token, value in zip(low.rows.tolist(), low.values.tolist(), strict=True)
        ],
    )
