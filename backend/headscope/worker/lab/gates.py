"""What gates change: next tokens, followed answers, losses, divergence.

The pass without gates is the same for every position of a slider: its reading is cached, so that a move
costs one forward pass.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headscope.core.gating.gate_vector import gate_table
from headscope.core.model.head_model import HeadModel
from headscope.core.model.memory import AT_MOST, pass_bytes
from headscope.messages import Answer, Change, GatesIn, GatesOut, NextToken
from headscope.worker.lab.plan import Plan, gated
from headscope.worker.lab.prompt import Prompt, known_token, next_token
from headscope.worker.lab.references import Inside, nothing

if TYPE_CHECKING:
    import torch

Key = tuple[str, str, tuple[int, ...], int]


@dataclass(frozen=True)
class Reading:
    """What a pass says: log-probabilities [vocab] at one position (float64, on the CPU) and losses, nats."""

    logp: torch.Tensor
    loss: list[float | None]


@dataclass
class ReadingCache:
    """The newest readings of ungated models; only whoever holds the device may use it."""

    most: int = 64
    _readings: OrderedDict[Key, Reading] = field(default_factory=OrderedDict)

    def get(self, key: Key, read: Callable[[], Reading]) -> Reading:
        """The reading under a key, taken now where it isn't kept."""
        if key not in self._readings:
            self._readings[key] = read()
            if len(self._readings) > self.most:
                self._readings.popitem(last=False)
        self._readings.move_to_end(key)
        return self._readings[key]


def plan(
    model: HeadModel, prompt: Prompt, wanted: GatesIn, readings: ReadingCache, inside: Inside = nothing
) -> Plan[GatesOut]:
    """Before and under the gates: next tokens, answers, losses (nats), KL(ungated || gated) at the position.

    Raises ``Invalid``: bad-gates, unknown-position, unknown-token.
    """
    table = gate_table(wanted.gates, model.info)
    at = prompt.position(wanted.at)
    answers = [known_token(model, index) for index in wanted.answers]
    key = (model.info.name, model.info.revision, tuple(prompt.ids), at)

    def run() -> GatesOut:
        before = readings.get(key, lambda: reading(model, prompt, at))
        if (table == 1).all():  # open gates are the model as it is, to the bit
            after = before
        else:
            with gated(model, table, lambda: inside(model, wanted)):
                after = reading(model, prompt, at)
        return _compare(model, prompt, at, before, after, answers, wanted.top)

    return Plan(lambda n: pass_bytes(model.info, n, AT_MOST, patterns=False, logits=1), run)


def reading(model: HeadModel, prompt: Prompt, at: int) -> Reading:
    """One pass, gated where a context is open."""
    import torch

    from headscope.core.model.readout import token_losses

    with torch.no_grad():
        ids = prompt.batch(model)
        logits = model.logits(ids)
        loss = token_losses(lambda rows: rows, logits, ids)[0].tolist()
        return Reading(logits[0, at].double().log_softmax(-1).cpu(), [None, *loss[1:]])


def _compare(
    model: HeadModel,
    prompt: Prompt,
    at: int,
    before: Reading,
    after: Reading,
    answers: list[int],
    top: int,
) -> GatesOut:
    p, q = before.logp, after.logp
    most = p.maximum(q).topk(min(top, len(p))).indices.tolist()
    return GatesOut(
        model=model.info.name,
        tokens=prompt.out,
        at=at,
        next=[
            NextToken(
                token=next_token(model, prompt, at, index),
                before=float(p[index].exp()),
                after=float(q[index].exp()),
            )
            for index in most
        ],
        answers=[
            Answer(
                token=next_token(model, prompt, at, index),
                before=float(p[index]),
                after=float(q[index]),
                rank_before=rank(p, index),
                rank_after=rank(q, index),
            )
            for index in answers
        ],
        # Log-probabilities of one position differ by what logits do.
        logit_difference=Change(
            before=float(p[answers[0]] - p[answers[1]]), after=float(q[answers[0]] - q[answers[1]])
        )
        if len(answers) == 2
        else None,
        loss_before=before.loss,
        loss_after=after.loss,
        kl=max(0.0, float((p.exp() * (p - q)).sum())),
    )


def rank(logp: torch.Tensor, index: int) -> int:
    """How many tokens are likelier: 0 is the most likely."""
    return int((logp > logp[index]).sum())
