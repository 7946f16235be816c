"""All heads on a prompt: their scores, which tokens repeat, and how well each token was predicted.

Heads are named by what they give above their columns' level (``core.patterns.above``), with an interval over
queries; where a prompt has too few for a name, by their scores on random tokens that repeat.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float32

from headscope.core.gating.gate_vector import gate_table
from headscope.core.model.head_model import HeadModel
from headscope.core.model.memory import AT_MOST, pass_bytes
from headscope.core.model.tokens import bos_of
from headscope.core.patterns.repeat_scores import longest
from headscope.core.patterns.repeats import copies, predictable
from headscope.core.patterns.scores import ABOVE, CLAIMS, SCORES, claims, tells
from headscope.core.statistics.intervals import bootstrap_interval
from headscope.messages import AboveOut, LookIn, LookOut, ScoreOut
from headscope.messages import Thumbs as ThumbsOut
from headscope.worker.lab.plan import Plan, gated, typed
from headscope.worker.lab.prompt import Prompt
from headscope.worker.lab.references import Inside, nothing
from headscope.worker.lab.repeats import RepeatScores

if TYPE_CHECKING:
    from headscope.core.patterns.reading import Look

if TYPE_CHECKING:
    from headscope.core.patterns.reading import Thumbs

MOST_COPIES: Final = 16
"""Of a token's earlier copies the latest are named: all of them would grow with the square of the prompt."""

RESAMPLES: Final = 1000


def plan(
    model: HeadModel,
    prompt: Prompt,
    wanted: LookIn,
    repeat_scores: RepeatScores,
    inside: Inside = nothing,
) -> Plan[LookOut]:
    """One pass of the model, as it is or gated; ``repeat_scores`` are of the model as it is.

    Raises ``Invalid`` (bad-gates).
    """
    gates = None if wanted.gates is None else gate_table(wanted.gates, model.info)

    def run() -> LookOut:
        from headscope.core.patterns.reading import look

        before = copies(prompt.tokens, wanted.fold, MOST_COPIES)
        with gated(model, gates, lambda: inside(model, wanted)):
            seen = look(model, prompt.ids, before, weighted=wanted.weighted)
        assert seen.thumbs is not None  # noqa: S101 - asked for by default
        told = all(tells(each.shape[-1]) for each in seen.excess)
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
            above=_above(seen, None if told else repeat_scores(model)),
            loss=typed(seen.loss),
            loss_first=mean_at(seen.loss, first),
            loss_repeat=mean_at(seen.loss, repeats),
            sink=seen.sink,
            thumbs=_thumbs(seen.thumbs),
        )

    fewest = longest(model.info)
    return Plan(lambda n: pass_bytes(model.info, max(n, fewest), AT_MOST, logits=1), run)


def _above(seen: Look, repeats: Float32[np.ndarray, "score layer head"] | None) -> AboveOut:
    """Means over queries with their intervals, NaN below two queries, and what may be claimed by them."""
    scores, ends = seen.above, np.full((2, *seen.above.shape), np.nan, np.float32)
    queries = [excess.shape[-1] for excess in seen.excess]
    for place, excess in enumerate(seen.excess):
        if queries[place] > 1:
            flat = excess.reshape(-1, queries[place])
            ends[:, place] = np.reshape(
                bootstrap_interval(flat, resamples=RESAMPLES), (2, *excess.shape[:-1])
            )
    low, high = ends
    claimed = np.stack([claims(*each) for each in zip(scores, low, queries, strict=True)])
    return AboveOut(
        names=list(ABOVE),
        values=typed(scores),
        low=typed(low),
        high=typed(high),
        queries=queries,
        tells=[tells(count) for count in queries],
        claims=typed(claimed),
        claim_words=list(CLAIMS),
        repeats=None if repeats is None else typed(repeats),
    )


def _thumbs(seen: Thumbs) -> ThumbsOut:
    sinks = None if seen.sinks is None else typed(seen.sinks)
    return ThumbsOut(size=seen.size, block=seen.block, values=typed(seen.values), sinks=sinks)


def mean_at(loss: np.ndarray[tuple[int, ...], np.dtype[np.float32]], places: Iterable[int]) -> float | None:
    """Mean loss at some positions, nats; None where there are none with a loss."""
    there = [float(loss[i]) for i in places if not math.isnan(loss[i])]
    return math.fsum(there) / len(there) if there else None
