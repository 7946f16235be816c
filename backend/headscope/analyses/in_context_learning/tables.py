"""The table twins of the figures."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from headscope.analyses.columns import Column, Table, table
from headscope.analyses.in_context_learning.result import InContextLearningResult
from headscope.analyses.in_context_learning.schema import EARLY, LATE
from headscope.core.statistics.intervals import bootstrap_interval
from headscope.figures.view import View

BIN = 16
"""Neighbouring tokens whose loss is drawn as one point."""


def binned(
    result: InContextLearningResult,
) -> tuple[Int[np.ndarray, " bin"], Int[np.ndarray, " bin"], Float[np.ndarray, "bin document"]]:
    """First and last position of each bin of 16 tokens, from the first predicted on, and its mean loss."""
    loss = result.loss[:, 1:].astype(np.float64)
    starts = np.arange(0, loss.shape[1], BIN)
    ends = np.append(starts[1:], loss.shape[1])
    means = np.add.reduceat(loss, starts, axis=1) / (ends - starts)
    return starts + 1, ends, means.T


def loss(result: InContextLearningResult, view: View) -> Table:
    """A row for each 16 positions: their mean loss over documents, with its interval."""
    first, last, means = binned(result)
    columns: list[Column] = [
        ("first", "first position", "", first),
        ("last", "last position", "", last),
        *_interval("mean", "loss, mean over documents", means),
    ]
    return table(columns)


def documents(result: InContextLearningResult, view: View) -> Table:
    """A row for each document: both losses, the score and the smoothed one."""
    columns: list[Column] = [
        ("document", "document", "", result.documents.astype(np.int64) + 1),
        ("early", f"loss at position {EARLY}", "nats", result.loss[:, EARLY]),
        ("late", f"loss at position {LATE}", "nats", result.loss[:, LATE]),
        ("score", "score", "nats", result.scores),
        ("smoothed", "smoothed score", "nats", result.smoothed),
    ]
    return table(columns)


def heads(result: InContextLearningResult, view: View) -> Table:
    """A row for each head that was closed: what that does to the score, and to the loss early in a text."""
    gone = result.closed_heads
    columns: list[Column] = [
        ("layer", "layer", "", gone[:, 0]),
        ("head", "head", "", gone[:, 1]),
        *_interval("smoothed_change", "rise of the smoothed score", result.smoothed_changes),
        *_interval("change", "rise of the score", result.changes),
        *_interval("early_rise", f"rise of the loss around position {EARLY}", result.early_rises),
    ]
    return table(columns)


def _interval(name: str, title: str, values: Float[np.ndarray, "row document"]) -> list[Column]:
    low, high = bootstrap_interval(values)
    return [
        (name, title, "nats", values.mean(axis=1)),
        (f"{name}_low", "lower end of 95 %", "nats", low),
        (f"{name}_high", "upper end of 95 %", "nats", high),
    ]
