"""Path terms and importance as numbers."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headscope.analyses.columns import Column, Table, flat, places, quietly, spread, table
from headscope.analyses.from_weights import joined
from headscope.analyses.paths.result import PathsResult
from headscope.analyses.token_names import sequence_words
from headscope.core.model.info import head_name
from headscope.errors import Invalid
from headscope.figures.view import View


def terms(result: PathsResult, view: View) -> Table:
    """A row for each kept term, the largest first, then what is left."""
    names = [result.path_name(term) for term in range(len(result.value))]
    orders = (result.first >= 0).astype(int) + (result.second >= 0)
    rest = [
        ("all other paths of up to two heads", result.other_terms),
        ("paths of three heads and more", result.longer),
        ("through MLPs", result.through_mlps),
    ]
    rest = [(name, value) for name, value in rest if value]
    columns: list[Column] = [
        ("path", "path", "", np.array([*names, *(name for name, _ in rest)])),
        ("order", "heads on the way", "", np.array([*orders, *(-1 for _ in rest)])),
        ("value", "adds to the logit", "logits", np.array([*result.value, *(v for _, v in rest)])),
    ]
    return table(columns)


def orders(result: PathsResult, view: View) -> Table:
    """A row for each order: the loss of paths of up to so many heads."""
    loss = result.orders
    columns: list[Column] = [
        ("order", "heads on the way, at most", "", np.arange(loss.shape[1])),
        ("loss", "loss, mean over sequences", "nats", loss.mean(axis=0)),
        ("sd", "sd over sequences", "nats", spread(loss)),
    ]
    return table(columns)


def heads(result: PathsResult, view: View) -> Table:
    """A row for each head: its marginal effect alone, and as either half of virtual heads."""
    marginal = result.heads
    columns = places(result.model) + [
        ("marginal", "loss without its one-head paths, rise", "nats", flat(marginal.mean(axis=0))),
        ("sd", "sd over sequences", "nats", flat(spread(marginal))),
    ]
    if result.virtual is not None:
        mean = quietly(np.nanmean, result.virtual, axis=0)
        as_first = quietly(np.nanmax, mean, axis=(2, 3))
        as_second = quietly(np.nanmax, mean, axis=(0, 1))
        columns += [
            ("virtual_first", "most as the earlier half of a virtual head", "nats", flat(as_first)),
            ("virtual_second", "most as the later half", "nats", flat(as_second)),
        ]
    return table(columns)


def virtual(result: PathsResult, view: View) -> Table:
    """A row for each virtual head that was removed, the most important first; else those of the prompt."""
    pairs = virtual_pairs(result)
    kept = {tuple(pair) for pair in result.pairs.tolist()}
    shown = ["yes" if pair in kept else "no" for pair, _ in pairs]
    columns: list[Column] = [
        ("earlier", "earlier head", "", np.array([head_name(pair[:2]) for pair, _ in pairs])),
        ("later", "later head", "", np.array([head_name(pair[2:]) for pair, _ in pairs])),
        ("rise", "loss without it, rise", "nats", np.array([rise for _, rise in pairs])),
        ("kept", "pattern and eigenvalues kept", "", np.array(shown)),
    ]
    return table(columns)


def spectrum(result: PathsResult, view: View) -> Table:
    """The eigenvalues of one virtual head."""
    place = virtual_place(result, view)
    values = joined(result.pair_spectrum[place])
    columns: list[Column] = [
        ("virtual_head", "virtual head", "", np.repeat(result.pair_name(place), len(values))),
        ("rank", "rank by modulus", "", np.arange(len(values))),
        ("real", "real part", "", values.real),
        ("imag", "imaginary part", "", values.imag),
    ]
    return table(columns)


def pattern(result: PathsResult, view: View) -> Table:
    """One virtual head's pattern: a row for each query and its strongest keys."""
    place = virtual_place(result, view)
    rows = result.pair_pattern[place]
    query = np.repeat(np.arange(len(rows)), len(rows))
    key = np.tile(np.arange(len(rows)), len(rows))
    seen = key <= query
    words = np.array(sequence_words(result.prompt))
    columns: list[Column] = [
        ("query", "query position", "", query[seen]),
        ("query_token", "query token", "", words[query[seen]]),
        ("key", "key position", "", key[seen]),
        ("key_token", "key token", "", words[key[seen]]),
        ("weight", "weight of A2 A1", "", flat(rows)[seen]),
    ]
    return table(columns)


def virtual_pairs(result: PathsResult) -> list[tuple[tuple[int, ...], float]]:
    """Virtual heads and the mean rise without them, the most important first; NaN where not measured."""
    if result.virtual is None:
        return [(tuple(pair), float("nan")) for pair in result.pairs.tolist()]
    mean: Float[np.ndarray, "layer head layer head"] = quietly(np.nanmean, result.virtual, axis=0)
    known = np.argwhere(np.isfinite(mean))
    ranked: NDArray[np.int64] = known[np.argsort(-mean[tuple(known.T)], kind="stable")]
    return [(tuple(pair), float(mean[tuple(pair)])) for pair in ranked.tolist()]


def why_none(result: PathsResult, view: View) -> str:
    """Why there is nothing to draw of virtual heads: a sentence."""
    if not len(result.pairs):
        return "This model has no virtual heads: none of its heads can read another's output."
    if result.virtual is None:
        return "This model has too many virtual heads to remove each in turn: that wasn't measured."
    return f"Head {head_name(view.head or (0, 0))} is half of no virtual head."


def virtual_place(result: PathsResult, view: View) -> int:
    """Of the virtual heads kept, the first that the selected head is half of; the first of all without one.

    Raises ``Invalid`` (no-virtual-heads) for a model whose heads stand in one layer.
    """
    if not len(result.pairs):
        raise Invalid(
            "This model has no virtual heads: none of its heads can read another's output.",
            "Look at a model with attention in two layers or more.",
            code="no-virtual-heads",
        )
    return next(iter(places_of(result, view)), 0)


def places_of(result: PathsResult, view: View) -> list[int]:
    """The virtual heads kept that the selected head is half of, in order; all of them without one."""
    pairs = result.pairs.tolist()
    return [
        place
        for place, pair in enumerate(pairs)
        if view.head is None or view.head in (tuple(pair[:2]), tuple(pair[2:]))
    ]
