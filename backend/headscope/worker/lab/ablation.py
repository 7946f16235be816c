"""What one head is worth on a prompt: its losses with the head gated off."""

from __future__ import annotations

from headscope.core.model.head_model import HeadModel
from headscope.core.model.memory import AT_MOST, pass_bytes
from headscope.core.patterns.repeats import copies, predictable
from headscope.errors import Invalid
from headscope.messages import HeadAblationIn, HeadAblationOut
from headscope.worker.lab.look import mean_at
from headscope.worker.lab.plan import Plan, typed
from headscope.worker.lab.prompt import Prompt


def plan(model: HeadModel, prompt: Prompt, wanted: HeadAblationIn) -> Plan[HeadAblationOut]:
    """Losses as it is, with patterns frozen, with patterns free. Raises ``Invalid`` (unknown-head)."""
    info = model.info
    if wanted.layer >= info.n_layers or wanted.head >= info.n_heads:
        raise Invalid(
            f"There is no head {wanted.layer}.{wanted.head} in {info.name}.",
            f"Layers run 0-{info.n_layers - 1}, heads 0-{info.n_heads - 1}.",
            code="unknown-head",
        )

    def run() -> HeadAblationOut:
        from headscope.core.attribution.ablation import ablate_head

        loss = ablate_head(model, prompt.ids, wanted.layer, wanted.head).numpy()
        repeats = predictable(copies(prompt.tokens, wanted.fold, most=1))
        return HeadAblationOut(
            model=info.name,
            layer=wanted.layer,
            head=wanted.head,
            loss=typed(loss),
            loss_repeat=[mean_at(row, repeats) for row in loss],
        )

    return Plan(lambda n: 3 * pass_bytes(info, n, AT_MOST, logits=1), run)
