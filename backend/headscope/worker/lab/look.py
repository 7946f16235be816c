"""All heads on a prompt: their scores, which tokens repeat, and how well each token was predicted."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import numpy as np

from headscope.core.gating.gate_vector import gate_table
from headscope.core.model.head_model import HeadModel
from headscope.core.model.memory import AT_MOST, pass_bytes
from headscope.core.model.tokens import bos_of
from headscope.core.patterns.repeats import copies, predictable
from headscope.core.patterns.scores import SCORES
from headscope.messages import LookIn, LookOut, ScoreOut
from headscope.messages import Thumbs as ThumbsOut
from headscope.worker.lab.plan import Plan, gated, typed
from headscope.worker.lab.prompt import Prompt
from headscope.worker.lab.references import Inside, nothing

MOST_COPIES: Final = 16
"""Of a token's earlier copies the latest are named: all of them would grow with the square of the prompt."""


def plan(model: HeadModel, prompt: Prompt, wanted: LookIn, inside: Inside = nothing) -> Plan[LookOut]:
    """One pass of the model, as it is or gated. Raises ``Invalid`` (bad-gates)."""
    gates = None if wanted.gates is None else gate_table(wanted.gates, model.info)

    def run() -> LookOut:
        from headscope.core.patterns.reading import look

        before = copies(prompt.tokens, wanted.fold, MOST_COPIES)
        with gated(model, gates, lambda: inside(model, wanted)):
            seen = look(model, prompt.ids, before, weighted=wanted.weighted)
        assert seen.thumbs is not None  # noqa: S101 - asked for by default
        repeats = set(predictable(before))
        first = [i for i, token in enumerate(prompt.tokens) if not (before[i] or token.special)]
        return LookOut(
            model=model.info.name,
            n_kv_heads=model.info.n_kv_heads,
            tokens=prompt.out,
            n_ctx=model.info.n_ctx,
            bos=bos_of(model.tokenizer, prompt.tokens, prompt.text),
            copies=before,
            scores=[
                ScoreOut(name=score.name, title=score.title, reading=score.reading, unit=score.unit)
                for score in SCORES
            ],
            values=typed(seen.values),
            loss=typed(seen.loss),
            loss_first=mean_at(seen.loss, first),
            loss_repeat=mean_at(seen.loss, repeats),
            sink=seen.sink,
            thumbs=ThumbsOut(
                size=seen.thumbs.size, block=seen.thumbs.block, values=typed(seen.thumbs.values)
            ),
        )

    return Plan(lambda n: pass_bytes(model.info, n, AT_MOST, logits=1), run)


def mean_at(loss: np.ndarray[tuple[int, ...], np.dtype[np.float32]], places: Iterable[int]) -> float | None:
    """Mean loss at some positions, nats; None where there are none with a loss."""
    there = [float(loss[i]) for i in places if not math.isnan(loss[i])]
    return math.fsum(there) / len(there) if there else None
