"""A logit as a sum over what the heads and the other parts of the model wrote."""

from __future__ import annotations

import numpy as np

from headscope.core.gating.gate_vector import gate_table
from headscope.core.model.head_model import HeadModel
from headscope.core.model.memory import AT_MOST, pass_bytes
from headscope.messages import AttributionIn, AttributionOut, Part
from headscope.worker.lab.plan import Plan, gated, typed
from headscope.worker.lab.prompt import Prompt, known_token, next_token
from headscope.worker.lab.references import Inside, nothing


def plan(
    model: HeadModel, prompt: Prompt, wanted: AttributionIn, inside: Inside = nothing
) -> Plan[AttributionOut]:
    """One pass, gated or not. Raises ``Invalid``: bad-gates, unknown-position, unknown-token."""
    gates = None if wanted.gates is None else gate_table(wanted.gates, model.info)
    at = prompt.position(wanted.at)
    for token in (wanted.token, wanted.against):
        if token is not None:
            known_token(model, token)

    def run() -> AttributionOut:
        from headscope.core.attribution.logit import attribute

        with gated(model, gates, lambda: inside(model, wanted)):
            found = attribute(model, prompt.ids, at, wanted.token, wanted.against)
        against = None if found.against is None else next_token(model, prompt, at, found.against)
        return AttributionOut(
            model=model.info.name,
            tokens=prompt.out,
            at=at,
            token=next_token(model, prompt, at, found.token),
            against=against,
            heads=typed(found.heads.numpy().astype(np.float32)),
            parts=[Part(name=name, title=_title(name), value=value) for name, value in found.parts.items()],
            total=found.total,
            logit=found.logit,
            note=found.note,
        )

    return Plan(lambda n: pass_bytes(model.info, n, AT_MOST, patterns=False, logits=0), run)


def _title(name: str) -> str:
    kind, _, layer = name.partition(".")
    return f"MLP of layer {layer}" if kind == "mlp" else name.capitalize()
