"""A battery as pieces of durable work: lengths, blocks of prompts, and the result that they join to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from headscope.analyses.base import (
    Arrays,
    Estimate,
    Input,
    Progress,
    Result,
)
from headscope.analyses.battery.lengths import check_lengths, check_measured, measured, tokens_of
from headscope.analyses.battery.plan import LENGTHS, Work, nominal_tokens, plan, seconds_beside
from headscope.analyses.battery.schema import PRESETS, BatteryParams, prompts_of
from headscope.analyses.battery.tally import Tally
from headscope.analyses.costing import (
    LOAD_SECONDS,
    PROGRAM_BYTES,
    cpu_throughput,
    pass_bytes,
    pass_flop,
    tflop,
)
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.core.gating.gate_vector import GateVector
from headscope.core.model.cost import ELEMENT_BYTES
from headscope.core.model.head_model import HeadModel
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Token, Tokenizer
from headscope.core.patterns.repeats import copies, predictable
from headscope.core.patterns.scores import SCORES
from headscope.tasks.task import Task

PER_PROMPT = ("loss", "loss_first", "loss_repeat")


class Battery:
    """Scores of every head over a batch of prompts, from one pass of each."""

    name: ClassVar[str] = "battery"
    title: ClassVar[str] = "Battery of prompts"
    summary: ClassVar[str] = (
        "What every head does over a batch of your prompts, and where most. One pass: no randomness."
    )
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = False
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {"prompts": "prompts", "gates": "gates"}
    params: type[BatteryParams] = BatteryParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: BatteryParams) -> Sequence[int]:
        """One pass: there is no randomness, so there is one seed."""
        return (0,)

    def estimate(
        self,
        params: BatteryParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes. With a tokenizer, ``Invalid`` (too-long) names prompts that don't
        fit.
        """
        texts = prompts_of(inputs).texts
        model = replace(model, dtype=params.dtype)
        if tokenizer is not None and params.too_long == "refuse":
            check_lengths(tokenizer, texts, params.bos, model.n_ctx, model.name)
        tokens = [nominal_tokens(text, model) for text in texts]
        flop = sum(pass_flop(model, length) for length in tokens)
        speed = throughput or cpu_throughput(params.dtype)
        weights = model.n_params * ELEMENT_BYTES[model.dtype]
        return Estimate(
            seconds=LOAD_SECONDS + flop / speed + seconds_beside(texts, model),
            peak_bytes=int(PROGRAM_BYTES + weights + 1.5 * pass_bytes(model, max(tokens))),
            basis=f"{len(texts):,} prompts of some {np.mean(tokens):.0f} tokens, {tflop(flop)} at "
            f"{speed / 1e9:.0f} GFLOP/s",
        )

    def plan(
        self, params: BatteryParams, model: ModelInfo, inputs: Mapping[str, Input] | None = None
    ) -> Sequence[Piece]:
        """The pieces in order; see ``analyses.battery.plan``. Raises ``Invalid`` (prompts-missing)."""
        return [work.piece for work in plan(prompts_of(inputs).texts, model)]

    def compute(self, piece: Piece, params: BatteryParams, context: Context) -> Arrays:
        """The lengths of all prompts, or a block of prompts through the model."""
        texts = prompts_of(context.inputs).texts
        if piece.key == LENGTHS:
            return _lengths(texts, params, context)
        work = next(work for work in plan(texts, context.model.info) if work.piece.key == piece.key)
        return _block(work, texts, params, context)

    def assemble(
        self, params: BatteryParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """Over prompts [score, layer, head]: ``mean``, ``sd``, ``count``; the strongest prompts' rows ``top``
        with ``top_value`` [score, layer, head, 3]. Of each prompt: tokens, repeats, losses, if skipped.
        """
        n_tokens = pieces[LENGTHS]["n_tokens"]
        blocks = [pieces[key] for key in _in_order(pieces)]
        tally = Tally.joined(Tally.from_arrays(block) for block in blocks)
        skipped = n_tokens > model.n_ctx
        arrays = {
            "mean": tally.means().astype(np.float32),
            "sd": tally.spread().astype(np.float32),
            "count": tally.count.astype(np.uint32),
            "top": tally.top,
            "top_value": tally.top_value.astype(np.float32),
            "n_tokens": n_tokens,
            "n_repeats": np.concatenate([block["n_repeats"] for block in blocks]),
            "skipped": skipped.astype(np.uint8),
            **{name: np.concatenate([block[name] for block in blocks]) for name in PER_PROMPT},
        }
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task=None,
            seeds=(0,),
            other_arrays=arrays,
            other_values=_values(params, model, skipped),
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """How many prompts, the strongest induction head over them, what repeats cost and what the rest."""
        numbers: dict[str, Any] = {"prompts": int((result.arrays["skipped"] == 0).sum())}
        mean = result.arrays["mean"][0]
        if np.isfinite(mean).any():
            layer, head = divmod(int(np.nanargmax(mean)), mean.shape[1])
            numbers |= {"induction_head": f"{layer}.{head}", "induction_score": float(mean[layer, head])}
        for name in PER_PROMPT:
            known = result.arrays[name][np.isfinite(result.arrays[name])]
            numbers[name] = float(known.mean()) if len(known) else None
        return numbers


def _lengths(texts: Sequence[str], params: BatteryParams, context: Context) -> Arrays:
    info = context.model.info

    def report(done: int) -> None:
        context.report(Progress("reading the prompts", "", done, len(texts), None, done / len(texts)))

    lengths = measured(context.model.tokenizer, texts, params.bos, context.checkpoint, report)
    if params.too_long == "refuse" or min(lengths) > info.n_ctx:
        check_measured(lengths, info.n_ctx, info.name)
    return {"n_tokens": np.array(lengths, np.uint32)}


def _block(work: Work, texts: Sequence[str], params: BatteryParams, context: Context) -> Arrays:
    import torch

    from headscope.core.patterns.reading import looks

    model, info = context.model, context.model.info
    values = np.full((len(work.prompts), len(SCORES), info.n_layers, info.n_heads), np.nan, np.float32)
    losses = {name: np.full(len(work.prompts), np.nan, np.float32) for name in PER_PROMPT}
    n_repeats = np.zeros(len(work.prompts), np.uint32)
    vector = context.inputs.get("gates")
    gates = torch.from_numpy(vector.gates).to(model.device) if isinstance(vector, GateVector) else None
    done = 0
    for batch in _batches(work, texts, params, model):
        context.checkpoint()
        before = [copies(tokens, params.fold, most=1) for _, tokens in batch]
        with nullcontext() if gates is None else model.gated(gates):
            seen = looks(model, [[t.id for t in tokens] for _, tokens in batch], before, most_thumb_bytes=0)
        for (row, tokens), repeated, look in zip(batch, before, seen, strict=True):
            values[row] = look.values
            n_repeats[row] = sum(map(bool, repeated))
            first = [i for i, token in enumerate(tokens) if not (repeated[i] or token.special)]
            places = {
                "loss": range(1, len(tokens)),
                "loss_first": first,
                "loss_repeat": predictable(repeated),
            }
            for name, at in places.items():
                losses[name][row] = _mean_at(look.loss, list(at))
        done += len(batch)
        context.report(Progress("prompts", "", done, len(work.prompts), None, done / len(work.prompts)))
    return {**Tally.of(values, work.prompts.start).arrays(), **losses, "n_repeats": n_repeats}


def _batches(
    work: Work, texts: Sequence[str], params: BatteryParams, model: HeadModel
) -> Iterator[list[tuple[int, list[Token]]]]:
    """(row in the block, tokens) of prompts of similar length, as many as may go through at once."""
    from headscope.core.model.batches import budget_for

    budget, info = budget_for(model.device), model.info
    rows = [
        (row, tokens_of(model.tokenizer, texts[index], index + 1, params.bos))
        for row, index in enumerate(work.prompts)
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


def _in_order(pieces: Mapping[str, Arrays]) -> list[str]:
    """The blocks' keys by their first prompt: what is assembled knows the pieces, not the prompts."""
    return sorted((key for key in pieces if key != LENGTHS), key=lambda key: int(key[8:].split("-")[0]))


def _mean_at(loss: np.ndarray, at: Sequence[int]) -> float:
    """Mean loss at some positions that have one, nats; NaN where none has."""
    known = loss[list(at)][np.isfinite(loss[list(at)])] if len(at) else loss[:0]
    return float(known.mean(dtype=np.float64)) if len(known) else float("nan")


def _values(params: BatteryParams, model: ModelInfo, skipped: np.ndarray) -> dict[str, Any]:
    left_out = (np.flatnonzero(skipped) + 1).tolist()
    notes = []
    if left_out:
        named = ", ".join(map(str, left_out[:20])) + (" and others" if len(left_out) > 20 else "")
        notes.append(
            f"{len(left_out)} of {len(skipped)} prompts are longer than the context of {model.n_ctx:,} "
            f"tokens and were skipped: {named}."
        )
    if params.gates:
        notes.append(f"Measured under the gates {params.gates}, not on the model as it is.")
    return {
        "scores": [score.name for score in SCORES],
        "n_prompts": len(skipped),
        "n_skipped": len(left_out),
        "notes": notes,
    }
