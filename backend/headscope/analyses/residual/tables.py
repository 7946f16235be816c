"""The residual stream as numbers."""

from __future__ import annotations

import numpy as np

from headscope.analyses.columns import Column, Table, flat, places, table
from headscope.analyses.residual.result import ResidualResult
from headscope.figures.view import View

MOST_PAIRS = 1000
MOST_NEURONS = 500


def reads(result: ResidualResult, view: View) -> Table:
    """The strongest pairs of writer and reader; of a selected head only its own."""
    shares = result.shares
    writers, readers = np.array(result.writers), np.array(result.readers)
    known = np.isfinite(shares)
    if view.head is not None:
        name = f"{view.head[0]}.{view.head[1]}"
        mine = np.array([word.split(" ")[0] == name for word in readers])
        known &= (writers == name)[:, None] | mine[None]
    flat_shares = np.where(known, shares, -np.inf).reshape(-1)
    order = np.argsort(-flat_shares, kind="stable")[: min(MOST_PAIRS, int(known.sum()))]
    rows, columns = np.unravel_index(order, shares.shape)
    found: list[Column] = [
        ("writer", "writes", "", writers[rows]),
        ("reader", "reads", "", readers[columns]),
        ("share", "share that is read", "", flat_shares[order]),
        ("random", "random matrices", "", np.full(len(order), result.model.d_model**-0.5)),
    ]
    return table(found)


def written(result: ResidualResult, view: View) -> Table:
    """A row for each writer: the norm of its matrix, and the reader that reads most of it."""
    shares = np.where(np.isfinite(result.shares), result.shares, -np.inf)
    readers = np.array(result.readers)
    best = shares.argmax(axis=1)
    columns: list[Column] = [
        ("writer", "writes", "", np.array(result.writers)),
        ("norm", "norm of its matrix", "", result.written),
        ("reader", "read most by", "", readers[best]),
        ("share", "share", "", shares[np.arange(len(shares)), best]),
    ]
    return table(columns)


def memory(result: ResidualResult, view: View) -> Table:
    """A row for each head: how much it clears what it reads, and attention to the present token."""
    columns = places(result.model) + [
        ("erasing", "clears what it reads", "", flat(result.erasing)),
        ("current", "attention to the present token", "", flat(result.current)),
    ]
    return table(columns)


def neurons(result: ResidualResult, view: View) -> Table:
    """The neurons whose output points most against their input."""
    cosine = result.cosine
    if not cosine.size:
        return table([("layer", "layer", "", np.array(["the model has no MLPs"]))])
    values = np.where(np.isfinite(cosine), cosine, np.inf).reshape(-1)
    order = np.argsort(values, kind="stable")[:MOST_NEURONS]
    order = order[np.isfinite(values[order])]
    layer, neuron = np.unravel_index(order, cosine.shape)
    columns: list[Column] = [
        ("layer", "layer", "", layer),
        ("neuron", "neuron", "", neuron),
        ("cosine", "cosine of its weights in and out", "", values[order]),
    ]
    return table(columns)


def norms(result: ResidualResult, view: View) -> Table:
    """A row for each layer: norms of the stream before it and of what it adds, means over the prompt."""
    end = np.array([np.nan])
    columns: list[Column] = [
        ("layer", "before layer", "", np.arange(len(result.stream))),
        ("stream", "norm of the stream", "", result.stream.mean(axis=1)),
        ("attention", "norm of what attention adds", "", np.append(result.attention.mean(axis=1), end)),
        ("mlp", "norm of what the MLP adds", "", np.append(result.mlp.mean(axis=1), end)),
    ]
    return table(columns)
