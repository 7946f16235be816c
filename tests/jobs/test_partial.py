"""A run that was stopped keeps what is whole, whoever ends it, until it is gone on with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from headscope.analyses.base import Context, Kept, Piece, Pieces, Result, Spec
from headscope.errors import Cancelled, HeadscopeError, Refused
from headscope.jobs.engine import run_foreground
from headscope.jobs.partial import keep
from headscope.store import attempts, references, runs
from jobs import tiny
from jobs.conftest import Bench


def plan(spec: Spec[tiny.TinyParams]) -> Sequence[Piece]:
    """Each piece stands by itself; one is interrupted where that is asked for."""
    return [
        replace(piece, compute=interrupted(piece), needs=()) if spec.params.fault == "interrupt" else piece
        for piece in tiny.plan(spec)
    ]


def interrupted(piece: Piece) -> Callable[[Context], Kept]:
    def work(context: Context) -> Kept:
        if piece.key == "p1":
            raise KeyboardInterrupt
        return {"g": np.ones(1, "f4")}

    return work


def partial(spec: Spec[tiny.TinyParams], pieces: Pieces) -> tiny.TinyResult:
    """What is there is a result."""
    if spec.params.fault == "unjoined":
        raise ZeroDivisionError("a fault of ours")
    gates = np.stack([pieces[key]["g"] for key in sorted(pieces)])
    return tiny.TinyResult(**tiny.TinyResult.header(spec, seeds=range(len(gates))), g_plus=gates)


ANALYSES: Mapping[str, Any] = {"tiny": replace(tiny.TINY, plan=plan, partial=partial)}


def compute(bench: Bench, run_id: str, **params: object) -> None:
    request = tiny.request(run_id, journal=str(bench.journal), **params)
    with bench.store.session() as session:
        runs.create_or_get(session, request, queue=None)
    run_foreground(
        bench.store,
        run_id,
        tiny.NoFolders(),
        settings=bench.settings,
        analyses=ANALYSES,
        models=tiny.NoModels(),
    )


def kept(bench: Bench, run_id: str) -> Result:
    with bench.store.session() as session:
        return runs.result(session, run_id)


def test_cancelled_half_way_it_has_a_partial_result_and_gone_on_with_the_whole(bench: Bench) -> None:
    run_id, stopped = "b" * 20, []

    def go() -> None:
        with pytest.raises(Cancelled):
            compute(bench, run_id, pieces=4, seconds=0.3)
        stopped.append(True)

    thread = threading.Thread(target=go)
    thread.start()
    bench.until(lambda: bench.begun()["p2"])
    bench.client.cancel(run_id)
    thread.join(30)
    assert stopped
    run = bench.run(run_id)
    assert (run.status, run.partial, run.whole) == ("cancelled", True, False)
    whole = len(kept(bench, run_id).seeds)
    assert 2 <= whole < 4
    first = run.result_id
    with bench.store.session() as session, pytest.raises(Refused, match="no complete result"):
        runs.reproduce(session, run_id, queue=None)
    with bench.store.session() as session, pytest.raises(Refused, match="may still change"):
        references._finished(session, run_id, tiny.MODEL)
    compute(bench, run_id, pieces=4, seconds=0.05)
    run = bench.run(run_id)
    assert (run.status, run.partial, run.last.drift) == ("done", False, None)
    assert run.result_id != first
    assert len(kept(bench, run_id).arrays["g_plus"]) == 4
    assert all(bench.begun()[f"p{piece}"] == 1 for piece in range(whole)), "none is computed again"


def test_ctrl_c_keeps_what_is_whole(sqlite_bench: Bench) -> None:
    with pytest.raises(KeyboardInterrupt):
        compute(sqlite_bench, "a" * 20, pieces=3, seconds=0.0, fault="interrupt")
    run = sqlite_bench.run("a" * 20)
    assert (run.status, run.partial) == ("cancelled", True)
    assert kept(sqlite_bench, "a" * 20).seeds == (0,)


def test_one_that_nobody_computes_any_more_keeps_it_too(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    request = tiny.request("c" * 20, journal=str(bench.journal))
    with bench.store.session() as session:
        number = runs.create_or_get(session, request, queue="cpu").attempt
        attempts.claim(session, request.id, number, "gone", machine="m", code_version="v")
        attempts.keep_piece(session, request.id, number, "gone", "p0", {"g": np.ones(1, "f4")})
        keep(session, request.id, number, ANALYSES)
        assert not runs.get(session, request.id).partial, "it is still under way"
    with bench.store.session() as session:
        runs.request_cancel(session, request.id)
        keep(session, request.id, number, ANALYSES)
    assert bench.run(request.id).partial
    with bench.store.session() as session:
        runs.delete(session, request.id)


def test_a_failed_run_keeps_it_beside_its_error(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    with pytest.raises(HeadscopeError):
        compute(bench, "d" * 20, pieces=2, seconds=0.0, fault="expected")
    run = bench.run("d" * 20)
    assert (run.status, run.partial) == ("failed", False), "nothing was whole"


def test_a_fault_in_joining_never_keeps_a_run_from_ending(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    request = tiny.request("e" * 20, journal=str(bench.journal), fault="unjoined")
    with bench.store.session() as session:
        number = runs.create_or_get(session, request, queue="cpu").attempt
        attempts.claim(session, request.id, number, "gone", machine="m", code_version="v")
        attempts.keep_piece(session, request.id, number, "gone", "p0", {"g": np.ones(1, "f4")})
        runs.request_cancel(session, request.id)
        keep(session, request.id, number, ANALYSES)
    run = bench.run(request.id)
    assert (run.status, run.partial) == ("cancelled", False)
