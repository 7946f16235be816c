"""What a model writes next, as it is and under gates."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from headscope.core.gating.gate_vector import gate_table
from headscope.core.model.head_model import HeadModel
from headscope.core.model.memory import AT_MOST, pass_bytes
from headscope.errors import Invalid
from headscope.messages import ContinueIn, ContinueOut
from headscope.worker.lab.plan import Plan, gated
from headscope.worker.lab.prompt import Prompt, sequence_out
from headscope.worker.lab.references import Inside, nothing

if TYPE_CHECKING:
    from headscope.core.model.continuation import Continuation


def plan(
    model: HeadModel,
    prompt: Prompt,
    wanted: ContinueIn,
    between: Callable[[], None],
    inside: Inside = nothing,
) -> Plan[ContinueOut]:
    """Both continuations, drawn from the same seed. Raises ``Invalid``: bad-gates, context-full.

    ``between`` is called after each token, with no gates on the model: others may use it then.
    """
    gates = gate_table(wanted.gates, model.info)
    if len(prompt) >= model.info.n_ctx:
        raise Invalid(
            f"The text fills the context of {model.info.n_ctx} tokens: there is no room to continue it.",
            "Shorten it.",
            code="context-full",
        )

    def run() -> ContinueOut:
        before = _continue(model, prompt, wanted, lambda: gated(model, None), between)
        closed = inside(model, wanted)
        after = _continue(model, prompt, wanted, lambda: gated(model, gates, lambda: closed), between)
        return ContinueOut(
            model=model.info.name,
            before=sequence_out(model, before.ids),
            after=sequence_out(model, after.ids),
            note=_note(model, before, after),
        )

    return Plan(lambda n: 2 * pass_bytes(model.info, n, AT_MOST, patterns=False, logits=0), run)


def _continue(
    model: HeadModel,
    prompt: Prompt,
    wanted: ContinueIn,
    within: Callable[[], AbstractContextManager[None]],
    between: Callable[[], None],
) -> Continuation:
    import torch

    from headscope.core.model.continuation import continue_text

    return continue_text(
        model,
        prompt.ids,
        wanted.n_tokens,
        wanted.temperature,
        torch.Generator().manual_seed(wanted.seed),
        within=within,
        between=between,
    )


def _note(model: HeadModel, before: Continuation, after: Continuation) -> str:
    """Why one is shorter than asked for, in words; empty where neither is."""
    why = {
        "end": "ends its text after {n} tokens",
        "context": f"fills its context of {model.info.n_ctx} tokens after {{n}}",
    }
    said = [
        f"{name} {why[text.stopped].format(n=len(text.ids))}."
        for name, text in (("The ungated model", before), ("The gated model", after))
        if text.stopped in why
    ]
    return " ".join(said)
