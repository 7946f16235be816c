"""What closing each head by itself costs, beside the roles that gates give it.

A gate that stops short of 0 isn't an ablation: a head of which half is enough goes wherever it is pushed, and
yet nothing works without it. So a head that costs more than a bound to close (``chg.result.BOUND``) is not
said not to matter.

The cost of a head is the rise of the loss of held-out rows with it alone closed and all others as they are
(leave-one-out); pieces are blocks of layers, ``closed/a-b``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headscope.analyses import ablation
from headscope.analyses.base import Context, Kept, Piece, Pieces, Spec
from headscope.analyses.chg.inside import replacements
from headscope.analyses.chg.rows import needed, rows
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.columns import quietly
from headscope.analyses.cutting import blocks, fitting, span

CHECKED_ROWS: Final = 16
"""Held-out rows at most; the check costs as many passes for every head."""


def layer_blocks(spec: Spec[ChgParams], forward: float) -> list[range]:
    """Layers whose heads, closed one at a time, fit a piece; none where it isn't asked for."""
    if not spec.params.check_closed:
        return []
    layers = spec.model.n_layers
    return list(blocks(range(layers), fitting(layers, passes(spec) * forward / layers, most=layers)))


def passes(spec: Spec[ChgParams]) -> float:
    """Forward passes of a row that all heads take: each begins at its head's layer."""
    if not spec.params.check_closed:
        return 0.0
    asked = min(CHECKED_ROWS, spec.params.n_test or CHECKED_ROWS)
    return asked * (1 + spec.model.n_heads * (spec.model.n_layers + 1) / 2)


def pieces(spec: Spec[ChgParams], forward: float) -> Iterator[Piece]:
    """A piece for each block of layers."""
    for layers in layer_blocks(spec, forward):
        yield Piece(
            _key(layers),
            f"Closed alone, layers {layers.start}–{layers.stop - 1}",
            partial(_closed, spec, layers),
            (*needed(spec), *ablation.needs(spec.params.ablation)),
            weight=passes(spec) * forward * len(layers) / spec.model.n_layers,
        )


def joined(spec: Spec[ChgParams], forward: float, done: Pieces) -> dict[str, NDArray[Any]]:
    """``closed_rise`` and its standard error, [layer, head] nats; nothing where a piece is missing."""
    keys = [_key(layers) for layers in layer_blocks(spec, forward)]
    if not keys or any(key not in done for key in keys):
        return {}
    rises = np.concatenate([done[key]["rise"] for key in keys], axis=1)
    error = quietly(np.std, rises, axis=0, ddof=1) / np.sqrt(len(rises))
    return {
        "closed_rise": rises.mean(axis=0).astype(np.float32),
        "closed_rise_se": error.astype(np.float32),
    }


def _key(layers: range) -> str:
    return f"closed/{span(layers)}"


def _closed(spec: Spec[ChgParams], layers: range, context: Context) -> Kept:
    from headscope.core.attribution.relatives import leave_one_out

    examples = list(rows(spec, context, "test"))[:CHECKED_ROWS]
    closed = replacements(spec, context)
    return {"rise": leave_one_out(context.model, examples, layers, context.checkpoint, closed).numpy()}
