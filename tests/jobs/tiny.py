"""An analysis that takes as long as it is told, without a model; as a program, a worker that computes it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headscope.analyses.base import Arrays, Context, Estimate, Params, Piece, Progress, Reference, Result
from headscope.analyses.request import Request
from headscope.core.model.info import ModelInfo
from headscope.errors import Refused
from headscope.settings import Settings

MODEL = ModelInfo(
    name="tiny", revision="r1", architecture="Tiny", n_layers=2, n_heads=3, n_kv_heads=3, d_model=8, d_head=4,
    d_vocab=16, n_ctx=32, n_params=100, n_params_non_embedding=50, dtype="float32", weight_processing="none",
    tokenizer_hash="t1", bos=False,
)  # fmt: skip


class TinyParams(Params):
    pieces: int = 3
    seconds: float = 0.1
    journal: str = ""
    fault: str = ""
    gib: float = 0.0


class Tiny:
    """Piece k answers k; each piece begun is a line in the journal."""

    name: ClassVar[str] = "tiny"
    title: ClassVar[str] = "Tiny"
    summary: ClassVar[str] = ""
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = False
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {}
    params: type[TinyParams] = TinyParams
    presets: Mapping[str, Mapping[str, Any]] = {}

    def seeds(self, params: TinyParams) -> Sequence[int]:
        return (0,)

    def estimate(
        self,
        params: TinyParams,
        model: ModelInfo,
        task: object,
        *,
        tokenizer: object = None,
        inputs: object = None,
    ) -> Estimate:
        return Estimate(params.pieces * params.seconds, int(params.gib * 2**30), "told")

    def plan(self, params: TinyParams, model: ModelInfo) -> Sequence[Piece]:
        return [Piece(f"p{k}", f"piece {k}", (f"p{k - 1}",) if k else ()) for k in range(params.pieces)]

    def compute(self, piece: Piece, params: TinyParams, context: Context) -> Arrays:
        with Path(params.journal).open("a") as journal:
            journal.write(f"{piece.key} {os.getpid()}\n")
        if params.fault == "expected":
            raise Refused("No room.", "Make some.", code="no-room")
        if params.fault:
            raise ZeroDivisionError("a fault of ours")
        before = context.pieces[piece.needs[0]]["g"] if piece.needs else np.zeros(1, "f4")
        start = time.monotonic()
        while (spent := time.monotonic() - start) < params.seconds:
            context.checkpoint()
            context.report(
                Progress(
                    "fit", "seed 0", int(spent * 100), int(params.seconds * 100), 1.0, spent / params.seconds
                )
            )
            time.sleep(0.02)
        return {"g": before + 1}

    def assemble(
        self, params: TinyParams, model: ModelInfo, task: object, pieces: Mapping[str, Arrays]
    ) -> Result:
        gates = np.stack([pieces[f"p{k}"]["g"] for k in range(params.pieces)])
        return Result("tiny", 1, params.model_dump(), model, None, (0,), {"g_plus": gates})


class NoWeights:
    """A model for an analysis that looks at none."""

    info = MODEL
    tokenizer: Any = None
    device: Any = None
    dtype: Any = None
    attention = "sdpa"

    parts: Any = None
    tail: Any = None
    ends: frozenset[int] = frozenset()

    def _none(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    logits = logits_at = gated = captured = reading = frozen = sharing = losses = continued = _none
    packs = target_logits = resumed = streams = kept = _none


class NoFolders:
    def folder(self, name: str) -> Path:
        raise NotImplementedError


class NoModels:
    @contextmanager
    def model(self, name: str, *, dtype: str, attention: str) -> Iterator[Any]:
        yield NoWeights()


def request(run_id: str, **params: Any) -> Request:
    full = TinyParams(**params).model_dump()
    return Request(
        id=run_id, analysis="tiny", version=1, title="Tiny", model=MODEL, attention="sdpa", task=None,
        task_title=None, task_hash=None, preset=None, params=full, seeds=(0,),
    )  # fmt: skip


ANALYSES: Mapping[str, Any] = {"tiny": Tiny()}


def main() -> None:
    from headscope.worker.main import run

    settings = Settings.model_validate_json(sys.argv[1])
    parent = int(sys.argv[2]) if len(sys.argv) > 2 else None
    run(settings, parent, analyses=ANALYSES, models=NoModels())


if __name__ == "__main__":
    main()
