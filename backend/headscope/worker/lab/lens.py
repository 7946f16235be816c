"""The logit lens: what each layer would predict."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from headscope.core.gating.gate_vector import gate_table
from headscope.core.model.head_model import HeadModel
from headscope.core.model.memory import AT_MOST, pass_bytes
from headscope.messages import LensIn, LensLayer, LensOut, TokenOut
from headscope.worker.lab.gates import rank
from headscope.worker.lab.plan import Plan, gated
from headscope.worker.lab.prompt import Prompt, known_token, next_token
from headscope.worker.lab.references import Inside, nothing

if TYPE_CHECKING:
    import torch

TOP: Final = 5
"""Tokens named for each layer."""


def plan(model: HeadModel, prompt: Prompt, wanted: LensIn, inside: Inside = nothing) -> Plan[LensOut]:
    """One pass, gated or not. Raises ``Invalid``: bad-gates, unknown-position, unknown-token."""
    gates = None if wanted.gates is None else gate_table(wanted.gates, model.info)
    at = prompt.position(wanted.at)
    followed = None if wanted.token is None else known_token(model, wanted.token)

    def run() -> LensOut:
        from headscope.core.attribution.logit import lens

        with gated(model, gates, lambda: inside(model, wanted)):
            rows = lens(model, prompt.ids, at).log_probabilities.cpu()
        token = int(rows[-1].argmax()) if followed is None else followed
        name = partial(next_token, model, prompt, at)
        return LensOut(
            model=model.info.name,
            at=at,
            token=name(token),
            layers=[_layer(name, depth, row, token) for depth, row in enumerate(rows)],
        )

    return Plan(lambda n: pass_bytes(model.info, n, AT_MOST, patterns=False, logits=0), run)


def _layer(name: Callable[[int], TokenOut], depth: int, row: torch.Tensor, token: int) -> LensLayer:
    top = row.topk(min(TOP, len(row)))
    return LensLayer(
        layers=depth,
        top=[name(index) for index in top.indices.tolist()],
        top_probability=top.values.exp().tolist(),
        log_probability=float(row[token]),
        rank=rank(row, token),
    )
