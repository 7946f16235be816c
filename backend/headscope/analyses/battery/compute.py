"""A battery as pieces of durable work.

1. ``lengths``: every prompt in tokens. Where one doesn't fit the context, the run ends here, or skips it.
2. ``prompts/a-b``: those prompts through the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from headscope.analyses.base import Context, Estimate, Kept, Piece, Pieces, Progress, Spec
from headscope.analyses.battery.cuts import nominal_tokens, prompt_blocks, prompt_flop, seconds_beside
from headscope.analyses.battery.lengths import check_lengths, check_measured, measured, tokens_of
from headscope.analyses.battery.result import PER_PROMPT, BatteryResult
from headscope.analyses.battery.schema import BatteryParams
from headscope.analyses.battery.tally import Tally
from headscope.analyses.costing import LOAD_SECONDS, cpu_throughput, pass_flop, tflop
from headscope.analyses.cutting import span
from headscope.core.gating.gate_vector import GateVector
from headscope.core.model.head_model import HeadModel
from headscope.core.model.memory import pass_bytes, run_bytes
from headscope.core.model.tokens import Token, Tokenizer
from headscope.core.patterns.repeats import copies, predictable
from headscope.core.patterns.scores import ABOVE, SCORES
from headscope.tasks.prompts import PromptSet

_LENGTHS = "lengths"


def seeds(params: BatteryParams) -> Sequence[int]:
    """One pass: there is no randomness, so there is one seed."""
    return (0,)


def estimate(
    spec: Spec[BatteryParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes. With a tokenizer, ``Invalid`` (too-long) names prompts that don't fit."""
    params, texts = spec.params, _texts(spec)
    model = replace(spec.model, dtype=params.dtype)
    if tokenizer is not None and params.too_long == "refuse":
        check_lengths(tokenizer, texts, params.bos, model.n_ctx, model.name)
    tokens = [nominal_tokens(text, model) for text in texts]
    flop = sum(pass_flop(model, length) for length in tokens)
    speed = throughput or cpu_throughput(params.dtype)
    return Estimate(
        seconds=LOAD_SECONDS + flop / speed + seconds_beside(texts, model),
        peak_bytes=run_bytes(model, 1.5 * pass_bytes(model, max(tokens))),
        basis=f"{len(texts):,} prompts of some {np.mean(tokens):.0f} tokens, {tflop(flop)} at "
        f"{speed / 1e9:.0f} GFLOP/s",
    )


def plan(spec: Spec[BatteryParams]) -> Sequence[Piece]:
    """All prompts' lengths, then block by block."""
    texts = _texts(spec)
    flop = prompt_flop(texts, spec.model)
    return [
        Piece(_LENGTHS, "Reading the prompts", partial(_lengths, spec), weight=0.02 * sum(flop)),
        *(
            Piece(
                _key(block),
                f"{_words(block)} of {len(texts)}",
                partial(_scores, spec, block),
                weight=sum(flop[block.start : block.stop]),
            )
            for block in prompt_blocks(texts, spec.model)
        ),
    ]


def assemble(spec: Spec[BatteryParams], pieces: Pieces) -> BatteryResult:
    """All blocks' tallies joined, and what is known of each prompt."""
    n_tokens = pieces[_LENGTHS]["n_tokens"]
    parts = [pieces[_key(block)] for block in prompt_blocks(_texts(spec), spec.model)]
    tally = Tally.joined(Tally.from_arrays(part) for part in parts)
    above: dict[str, Any] = {}
    if all("above_mean" in part for part in parts):  # pieces of before columns were told from stripes lack it
        named = Tally.joined(Tally.from_arrays(part, "above_") for part in parts)
        above = {f"above_{name}": array for name, array in _kept(named).items()}
        above["queries"] = np.concatenate([part["queries"] for part in parts])
    per_prompt: dict[str, Any] = {
        name: np.concatenate([part[name] for part in parts]) for name in ("n_repeats", *PER_PROMPT)
    }
    skipped = n_tokens > spec.model.n_ctx
    return BatteryResult(
        **BatteryResult.header(spec, seeds=seeds(spec.params)),
        **_kept(tally),
        **above,
        n_tokens=n_tokens,
        skipped=skipped.astype(np.uint8),
        **per_prompt,
        scores=[score.name for score in SCORES],
        n_prompts=len(skipped),
        n_skipped=int(skipped.sum()),
        notes=_notes(spec, (np.flatnonzero(skipped) + 1).tolist()),
    )


def _kept(tally: Tally) -> dict[str, Any]:
    """As a result keeps it."""
    return {
        "mean": tally.means().astype(np.float32),
        "sd": tally.spread().astype(np.float32),
        "count": tally.count.astype(np.uint32),
        "top": tally.top,
        "top_value": tally.top_value.astype(np.float32),
    }


def _texts(spec: Spec[BatteryParams]) -> Sequence[str]:
    prompts = spec.input("prompts", PromptSet)
    return prompts.texts if prompts else ()


def _key(block: range) -> str:
    return f"prompts/{span(block)}"


def _words(block: range) -> str:
    return f"prompt {block.stop}" if len(block) == 1 else f"prompts {block.start + 1}–{block.stop}"


def _lengths(spec: Spec[BatteryParams], context: Context) -> Kept:
    texts, params, info = _texts(spec), spec.params, context.model.info

    def report(done: int) -> None:
        context.report(Progress("reading the prompts", "", done, len(texts), None, done / len(texts)))

    lengths = measured(context.model.tokenizer, texts, params.bos, context.checkpoint, report)
    if params.too_long == "refuse" or min(lengths) > info.n_ctx:
        check_measured(lengths, info.n_ctx, info.name)
    return {"n_tokens": np.array(lengths, np.uint32)}


def _scores(spec: Spec[BatteryParams], block: range, context: Context) -> Kept:
    import torch

    from headscope.core.patterns.reading import looks

    model, info = context.model, context.model.info
    values = np.full((len(block), len(SCORES), info.n_layers, info.n_heads), np.nan, np.float32)
    above = np.full((len(block), len(ABOVE), info.n_layers, info.n_heads), np.nan, np.float32)
    queries = np.zeros((len(block), len(ABOVE)), np.uint32)
    losses = {name: np.full(len(block), np.nan, np.float32) for name in PER_PROMPT}
    n_repeats = np.zeros(len(block), np.uint32)
    vector = spec.input("gates", GateVector)
    gates = None if vector is None else torch.from_numpy(vector.gates).to(model.device)
    done = 0
    for batch in _batches(spec, block, model):
        context.checkpoint()
        before = [copies(tokens, spec.params.fold, most=1) for _, tokens in batch]
        with nullcontext() if gates is None else model.gated(gates):
            seen = looks(model, [[t.id for t in tokens] for _, tokens in batch], before, most_thumb_bytes=0)
        for (row, tokens), repeated, look in zip(batch, before, seen, strict=True):
            values[row], above[row] = look.values, look.above
            queries[row] = [excess.shape[-1] for excess in look.excess]
            n_repeats[row] = sum(map(bool, repeated))
            first = [i for i, token in enumerate(tokens) if not (repeated[i] or token.special)]
            places = (range(1, len(tokens)), first, predictable(repeated))
            for name, at in zip(PER_PROMPT, places, strict=True):
                losses[name][row] = _mean_at(look.loss, list(at))
        done += len(batch)
        context.report(Progress("prompts", "", done, len(block), None, done / len(block)))
    tallies = {**Tally.of(values, block.start).arrays(), **Tally.of(above, block.start).arrays("above_")}
    return {**tallies, **losses, "n_repeats": n_repeats, "queries": queries}


def _batches(
    spec: Spec[BatteryParams], block: range, model: HeadModel
) -> Iterator[list[tuple[int, list[Token]]]]:
    """(row in the block, tokens) of prompts of similar length, as many as may go through at once."""
    from headscope.core.model.batches import budget_for

    budget, info, texts = budget_for(model.device), model.info, _texts(spec)
    rows = [
        (row, tokens_of(model.tokenizer, texts[index], index + 1, spec.params.bos))
        for row, index in enumerate(block)
    ]
    fitting = sorted((row for row in rows if len(row[1]) <= info.n_ctx), key=lambda row: -len(row[1]))
    batch: list[tuple[int, list[Token]]] = []
    for row in fitting:
        longest = len(batch[0][1]) if batch else len(row[1])
        if batch and (len(batch) + 1) * budget.share(info, longest, longest) > 1:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _mean_at(loss: np.ndarray, at: Sequence[int]) -> float:
    """Mean loss at some positions that have one, nats; NaN where none has."""
    known = loss[list(at)][np.isfinite(loss[list(at)])] if len(at) else loss[:0]
    return float(known.mean(dtype=np.float64)) if len(known) else float("nan")


def _notes(spec: Spec[BatteryParams], skipped: Sequence[int]) -> list[str]:
    notes = []
    if skipped:
        named = ", ".join(map(str, skipped[:20])) + (" and others" if len(skipped) > 20 else "")
        notes.append(
            f"{len(skipped)} of {len(_texts(spec))} prompts are longer than the context of "
            f"{spec.model.n_ctx:,} tokens and were skipped: {named}."
        )
    if spec.params.gates:
        notes.append(f"Measured under the gates {spec.params.gates}, not on the ungated model.")
    return notes
