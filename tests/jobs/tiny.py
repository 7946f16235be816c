"""An analysis that takes as long as it is told, without a model; as a program, a worker that computes it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headscope.analyses.base import (
    Analysis,
    Context,
    Estimate,
    Kept,
    Params,
    Piece,
    Pieces,
    Progress,
    Result,
    Spec,
)
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


@dataclass(frozen=True, kw_only=True, eq=False)
class TinyResult(Result):
    NAME: ClassVar[str] = "tiny"
    VERSION: ClassVar[int] = 1

    g_plus: np.ndarray[Any, Any]


def estimate(
    spec: Spec[TinyParams], *, tokenizer: object = None, throughput: float | None = None
) -> Estimate:
    return Estimate(spec.params.pieces * spec.params.seconds, int(spec.params.gib * 2**30), "told")


def plan(spec: Spec[TinyParams]) -> Sequence[Piece]:
    keys = [f"p{k}" for k in range(spec.params.pieces)]
    needs = [(), *((key,) for key in keys)]
    return [
        Piece(key, f"piece {key[1:]}", partial(compute, spec.params, key, before), before)
        for key, before in zip(keys, needs, strict=False)
    ]


def compute(params: TinyParams, key: str, needs: tuple[str, ...], context: Context) -> Kept:
    """Piece k answers k; each piece begun is a line in the journal."""
    with Path(params.journal).open("a") as journal:
        journal.write(f"{key} {os.getpid()}\n")
    if params.fault == "expected":
        raise Refused("No room.", "Make some.", code="no-room")
    if params.fault:
        raise ZeroDivisionError("a fault of ours")
    before = context.pieces[needs[0]]["g"] if needs else np.zeros(1, "f4")
    start = time.monotonic()
    while (spent := time.monotonic() - start) < params.seconds:
        context.checkpoint()
        step, steps = int(spent * 100), int(params.seconds * 100)
        context.report(Progress("fit", "seed 0", step, steps, 1.0, spent / params.seconds))
        time.sleep(0.02)
    return {"g": before + 1}


def assemble(spec: Spec[TinyParams], pieces: Pieces) -> TinyResult:
    gates = np.stack([pieces[f"p{k}"]["g"] for k in range(spec.params.pieces)])
    return TinyResult(**TinyResult.header(spec, seeds=(0,)), g_plus=gates)


TINY = Analysis(
    title="Tiny",
    summary="",
    params=TinyParams,
    result=TinyResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=(),
    headline=lambda result, threshold=0.5: {},
    quantities={},
    seeds=lambda _: (0,),
)


class NoWeights:
    """A model for an analysis that looks at none."""

    info = MODEL
    tokenizer: Any = None
    proof: Any = None
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


ANALYSES: Mapping[str, Any] = {"tiny": TINY}


def main() -> None:
    from headscope.worker.main import run

    settings = Settings.model_validate_json(sys.argv[1])
    parent = int(sys.argv[2]) if len(sys.argv) > 2 else None
    run(settings, parent, analyses=ANALYSES, models=NoModels())


if __name__ == "__main__":
    main()
