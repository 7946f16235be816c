"""Induction as pieces of durable work: draws measured, the strongest heads gated off, and the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import (
    Arrays,
    Estimate,
    Input,
    Progress,
    Result,
)
from headscope.analyses.induction.estimate import estimate
from headscope.analyses.induction.plan import Work, ablated, plan
from headscope.analyses.induction.schema import PRESETS, InductionParams, learning_pair, positions
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.core.gating.gate_vector import GateVector
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.core.patterns.random_repeats import repeated_tokens
from headscope.core.patterns.scores import SCORES
from headscope.tasks.task import Task

if TYPE_CHECKING:
    from headscope.analyses.induction.measure import Rows

NAMES = tuple(score.name for score in SCORES)


class Induction:
    """Scores of every head on repeated random tokens [Olsson et al. 2022], and ablations of the strongest."""

    name: ClassVar[str] = "induction"
    title: ClassVar[str] = "Induction"
    summary: ClassVar[str] = (
        "What every head does on random tokens that repeat, and what the repeat costs without it."
    )
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = False
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {"gates": "gates"}
    params: type[InductionParams] = InductionParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: InductionParams) -> Sequence[int]:
        """A seed a draw, in the order of the arrays' first axis."""
        return range(params.first_seed, params.first_seed + params.seeds)

    def estimate(
        self,
        params: InductionParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes; ``Invalid`` where the context or the vocabulary is too small."""
        return estimate(params, model, tokenizer=tokenizer, throughput=throughput)

    def plan(
        self, params: InductionParams, model: ModelInfo, inputs: Mapping[str, Input] | None = None
    ) -> Sequence[Piece]:
        """The pieces in order; see ``analyses.induction.plan``."""
        return [work.piece for work in plan(params, model)]

    def compute(self, piece: Piece, params: InductionParams, context: Context) -> Arrays:
        """A block of draws: ``scores`` and ``loss``; or of ablations: ``rise``."""
        work = next(work for work in plan(params, context.model.info) if work.piece.key == piece.key)
        return _ablate(work, params, context) if work.ranks else _measure(work, params, context)

    def assemble(
        self, params: InductionParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """A score each [seed, layer, head], ``loss`` [seed, position], means of it [seed], and the heads that
        were gated off [head, (layer, head)] with their rises [seed, head].
        """
        works = plan(params, model)
        draws = [pieces[work.piece.key] for work in works if not work.ranks]
        scores = np.concatenate([block["scores"] for block in draws], axis=1)
        loss = np.concatenate([block["loss"] for block in draws])
        arrays: dict[str, NDArray[Any]] = dict(zip(NAMES, scores.astype(np.float32), strict=True))
        early, late = learning_pair(loss.shape[1])
        copy = {name: np.concatenate([block[name] for block in draws]) for name in ("first", "second")}
        heads = strongest(scores[0], ablated(params, model))
        rise = np.full((2, params.seeds, len(heads)), np.nan, np.float32)
        for work in works:
            if work.ranks:
                part = np.ix_((0, 1), work.draws, work.ranks)
                rise[part] = pieces[work.piece.key]["rise"]
        arrays |= {
            "loss": loss.astype(np.float32),
            "loss_first": copy["first"].astype(np.float32),
            "loss_second": copy["second"].astype(np.float32),
            "learning": (loss[:, late] - loss[:, early]).astype(np.float32),
            "ablated_heads": np.array(heads, np.uint16).reshape(-1, 2),
            "rise_frozen": rise[0],
            "rise_free": rise[1],
        }
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task=None,
            seeds=tuple(self.seeds(params)),
            other_arrays=arrays,
            other_values=_values(params, model),
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """The strongest induction and previous-token head with their scores, and what the repeat costs."""
        numbers: dict[str, Any] = {}
        for score, words in (("induction", "induction"), ("previous", "previous_token")):
            mean = result.arrays[score].mean(axis=0)
            ((layer, head),) = strongest(result.arrays[score], 1)
            numbers |= {f"{words}_head": f"{layer}.{head}", f"{words}_score": float(mean[layer, head])}
        return numbers | {
            "loss_first_copy": float(result.arrays["loss_first"].mean()),
            "loss_second_copy": float(result.arrays["loss_second"].mean()),
            "in_context_learning": float(result.arrays["learning"].mean()),
        }


def strongest(score: NDArray[Any], count: int) -> list[tuple[int, int]]:
    """The heads with the highest mean over draws of [seed, layer, head], the highest first."""
    mean = score.astype(np.float64).mean(axis=0)
    order = np.argsort(-mean.reshape(-1), kind="stable")[:count]
    return [divmod(int(index), mean.shape[1]) for index in order]


def _measure(work: Work, params: InductionParams, context: Context) -> Arrays:
    from headscope.analyses.induction.measure import measure

    rows = _rows(work, params, context)
    scores, loss = measure(context.model, rows, _gates(context), context.checkpoint)
    first, second = (loss[:, part].mean(1).numpy() for part in (rows.first(), rows.second()))
    context.report(Progress("scores", "", len(work.draws), len(work.draws), float(second.mean()), 1.0))
    return {"scores": scores.numpy(), "loss": loss.numpy(), "first": first, "second": second}


def _ablate(work: Work, params: InductionParams, context: Context) -> Arrays:
    from headscope.analyses.induction.measure import ablate

    scores = np.concatenate([context.pieces[key]["scores"][0] for key in work.piece.needs])
    heads = strongest(scores, ablated(params, context.model.info))[work.ranks.start : work.ranks.stop]

    def report(fraction: float) -> None:
        done = round(fraction * len(heads))
        context.report(Progress("heads gated off", "", done, len(heads), None, fraction))

    rows = _rows(work, params, context)
    rise = ablate(context.model, rows, heads, _gates(context), context.checkpoint, report)
    return {"rise": rise.numpy()}


def _rows(work: Work, params: InductionParams, context: Context) -> Rows:
    import torch

    from headscope.analyses.induction.measure import Rows

    tokenizer = context.model.tokenizer
    drawn = [
        repeated_tokens(tokenizer, params.length, 1, params.first_seed + draw, params.copies)
        for draw in work.draws
    ]
    return Rows(torch.from_numpy(np.concatenate(drawn)), params.length, params.copies)


def _gates(context: Context) -> Any:
    import torch

    vector = context.inputs.get("gates")
    return torch.from_numpy(vector.gates) if isinstance(vector, GateVector) else None


def _values(params: InductionParams, model: ModelInfo) -> dict[str, Any]:
    tokens = positions(params, model)
    early, late = learning_pair(tokens)
    notes = []
    if params.seeds < 8:
        notes.append(f"{params.seeds} draws: the spread of a head is known roughly.")
    if params.gates:
        notes.append(f"Measured under the gates {params.gates}, not on the model as it is.")
    return {
        "positions": tokens,
        "bos": model.bos,
        "copies_start": [int(model.bos) + copy * params.length for copy in range(params.copies)],
        "learning_pair": [early, late],
        "notes": notes,
    }
