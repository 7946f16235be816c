"""Effects of patching one head at a time: what the patches cost, and how their effects are drawn."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from headscope.analyses.costing import LAYER_OVERHEAD, LOAD_SECONDS
from headscope.core.model.cost import CPU_BUDGET, forward_flop
from headscope.core.model.info import ModelInfo
from headscope.core.model.memory import run_bytes
from headscope.figures import bars, head_grid
from headscope.figures.marks import outlined
from headscope.figures.theme import Drawing
from headscope.figures.view import View

RANKED = 20
"""Heads in the ranked bars."""

_PASS_BYTES = 512 * 2**20


def patched_flop(model: ModelInfo, tokens: float, width: float) -> float:
    """Every head patched once in a prompt of so many tokens, whose last ``width`` are recomputed.

    The prompt up to there once; each patched row from its layer on, half of the layers on average.
    """
    heads = model.n_layers * model.n_heads
    rows = forward_flop(model, width, 0) / 2 + forward_flop(model, 0, 1)
    return forward_flop(model, tokens, 1) + heads * rows


def patched_seconds(model: ModelInfo, flop: float, prompts: float, width: float, speed: float) -> float:
    """Wall seconds of so many prompts' patches, loading included."""
    heads = model.n_layers * model.n_heads
    a_pass = max(1.0, heads * CPU_BUDGET.share(model, round(width), 1))
    return LOAD_SECONDS + flop / speed + prompts * (1 + a_pass) * model.n_layers * LAYER_OVERHEAD


def patched_bytes(model: ModelInfo) -> int:
    """The most that is held: weights, and the rows of a pass."""
    return run_bytes(model, 2 * _PASS_BYTES)


def strongest(values: Float[np.ndarray, "layer head"], count: int) -> list[tuple[int, int]]:
    """The heads with the largest values, the largest first."""
    order = np.argsort(-values.reshape(-1), kind="stable")[:count]
    return [divmod(int(index), values.shape[1]) for index in order]


def effect_map(
    values: Float[np.ndarray, "layer head"],
    significant: Bool[np.ndarray, "layer head"],
    view: View,
    name: str,
    group: int,
) -> Drawing:
    """A signed map of effects, the significant heads framed."""
    most = float(np.abs(values).max()) or 1.0
    figure = head_grid.signed(values, view.colours, name=name, most=most, group=group)
    return outlined(figure, significant, view.colours, group)


def ranked_bars(
    values: Float[np.ndarray, "layer head"],
    spread: Float[np.ndarray, "layer head"],
    significant: Bool[np.ndarray, "layer head"],
    view: View,
    name: str,
    hover: str,
) -> Drawing:
    """The strongest heads, those that are significant in colour; whiskers are one ``spread``."""
    heads = strongest(values, RANKED)
    places = tuple(np.array(heads).T)
    names = [f"{layer}.{head}" for layer, head in heads]
    trace = bars.head_bars(names, values[places], spread[places], "", view.colours, name, hover)
    trace["marker"]["color"] = [
        view.colours.needed if sure else view.colours.muted for sure in significant[places].tolist()
    ]
    layout = {
        "height": 300,
        "bargap": 0.3,
        "showlegend": False,
        "xaxis": bars.head_axis(len(names)),
        "yaxis": {"title": {"text": name}, "zeroline": True, "zerolinecolor": view.colours.line},
        "margin": {"l": 60, "r": 16, "t": 14, "b": 56},
    }
    return {"data": [trace], "layout": layout}
