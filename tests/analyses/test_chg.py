"""Causal head gating as an analysis: pieces, resumption, result, estimate."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from analyses.gating_runs import PARAMS, TASK, pieces_of, spec_of
from headscope.analyses.base import Context, Kept, Progress, Spec
from headscope.analyses.chg import CHG
from headscope.analyses.chg.phases import PHASES
from headscope.analyses.chg.plan import groups, plan
from headscope.analyses.chg.result import ChgResult, headline
from headscope.analyses.chg.schema import PRESETS, ChgParams
from headscope.core.gating.evaluation import evaluate
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid
from micro.planted import planted_model

LLAMA_1B = ModelInfo(
    name="llama-3.2-1b",
    revision="1",
    architecture="LlamaForCausalLM",
    n_layers=16,
    n_heads=32,
    n_kv_heads=8,
    d_model=2048,
    d_head=64,
    d_vocab=128256,
    n_ctx=131072,
    n_params=1_235_000_000,
    n_params_non_embedding=973_000_000,
    dtype="float32",
    weight_processing="none",
    tokenizer_hash="1",
    bos=True,
)
SMOLLM2 = ModelInfo(
    name="smollm2-135m",
    revision="1",
    architecture="LlamaForCausalLM",
    n_layers=30,
    n_heads=9,
    n_kv_heads=3,
    d_model=576,
    d_head=64,
    d_vocab=49152,
    n_ctx=2048,
    n_params=134_515_008,
    n_params_non_embedding=106_203_456,
    dtype="float32",
    weight_processing="none",
    tokenizer_hash="1",
    bos=False,
)


def _run(params: ChgParams, reports: list[Progress] | None = None) -> tuple[ChgResult, dict[str, Kept]]:
    done = pieces_of(params, reports=reports)
    return CHG.assemble(spec_of(params), done), done


def test_a_run_gives_gates_losses_and_held_out_scores() -> None:
    result, _ = _run(PARAMS)
    assert {name: array.shape for name, array in result.arrays.items()} == {
        "g_zero": (3, 2, 4),
        "g_plus": (3, 2, 4),
        "g_minus": (3, 2, 4),
        "loss_zero": (3, 6),
        "loss_plus": (3, 6),
        "loss_minus": (3, 6),
        "updates": (3, 3),
        "heldout_log_probability": (4, 3),
        "heldout_accuracy": (4, 3),
        "rounded_log_probability": (2, 3),
        "rounded_accuracy": (2, 3),
    }
    floats = [array for name, array in result.arrays.items() if name != "updates"]
    assert all(array.dtype == np.float32 for array in floats)
    assert (result.values["n_train"], result.values["n_test"]) == (48, 24)
    assert result.seeds == (0, 1, 2)
    assert headline(result)["accuracy_ungated"] is not None


def test_held_out_scores_are_those_of_the_gates_in_their_order() -> None:
    result, _ = _run(PARAMS)
    held_out = TASK.examples(None, "test")
    for row, name in ((1, "g_zero"), (2, "g_plus"), (3, "g_minus")):
        score = evaluate(planted_model(), held_out, torch.from_numpy(result.arrays[name]).double())
        np.testing.assert_allclose(
            result.arrays["heldout_log_probability"][row], score.log_probability, rtol=1e-5
        )
    for row, name in enumerate(("g_plus", "g_minus")):
        rounded = torch.from_numpy((result.arrays[name] >= 0.5).astype(np.float64))
        score = evaluate(planted_model(), held_out, rounded)
        np.testing.assert_allclose(
            result.arrays["rounded_log_probability"][row], score.log_probability, rtol=1e-6
        )
        np.testing.assert_allclose(result.arrays["rounded_accuracy"][row], score.accuracy, rtol=1e-6)
    ungated = evaluate(planted_model(), held_out).log_probability.item()
    np.testing.assert_allclose(result.arrays["heldout_log_probability"][0], ungated, rtol=1e-6)


def test_pieces_cut_smaller_give_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = _run(PARAMS)
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 3.5e7)
    cut, pieces = _run(PARAMS)
    assert {"zero/0-1/1", "zero/2-2/2", "heldout/minus/2-2"} <= set(pieces)
    for name, array in whole.arrays.items():
        np.testing.assert_allclose(cut.arrays[name], array, rtol=1e-6, atol=1e-7)


def test_a_run_that_settles_says_after_how_many_updates_and_resumes_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    params = PARAMS.model_copy(update={"settle": True, "remember": True, "steps": 120, "seeds": 2})
    whole, _ = _run(params)
    updates = whole.arrays["updates"]
    assert updates[:, 0].max() < params.steps
    for row, phase in enumerate(("zero", "plus", "minus")):
        fitted = np.isfinite(whole.arrays[f"loss_{phase}"]).sum(axis=1)
        np.testing.assert_array_equal(fitted, updates[:, row])
    assert f"after {updates.min()} to {updates.max()} updates" in " ".join(whole.values["notes"])
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 4e7)
    cut, pieces = _run(params)
    assert len(pieces) > 20
    for name, array in whole.arrays.items():
        np.testing.assert_allclose(cut.arrays[name], array, rtol=1e-5, atol=1e-6)


def test_a_piece_computed_again_is_the_same_to_the_bit() -> None:
    _, first = _run(PARAMS)
    _, second = _run(PARAMS)
    for key, arrays in first.items():
        for name, array in arrays.items():
            np.testing.assert_array_equal(second[key][name], array)


def test_progress_names_phase_and_seeds_and_ends_at_one() -> None:
    reports: list[Progress] = []
    _run(PARAMS, reports)
    assert [report.phase for report in reports if report.fraction == 1] == ["phase 0", "G+", "G−"]
    assert {report.seeds for report in reports} == {"seeds 0–2"}
    assert (reports[0].step, reports[0].steps) == (1, 6)


def test_a_result_says_what_it_does_less_than_the_paper() -> None:
    result, _ = _run(PARAMS)
    notes = " ".join(result.values["notes"])
    assert "6 updates a phase, where the paper uses 500" in notes
    assert "3 seeds, where the paper uses 10" in notes


@settings(deadline=None)
@given(
    seeds=st.integers(1, 20),
    steps=st.integers(1, 60),
    batch=st.integers(1, 128),
    model=st.sampled_from([SMOLLM2, LLAMA_1B, planted_model().info]),
)
def test_plans_cover_every_update_of_every_seed_once(
    seeds: int, steps: int, batch: int, model: ModelInfo
) -> None:
    params = ChgParams(seeds=seeds, steps=steps, batch_size=batch)
    spec = Spec(params, model)
    pieces = plan(spec, 0)
    keys = [piece.key for piece in pieces]
    assert len(set(keys)) == len(keys)
    place = {key: number for number, key in enumerate(keys)}
    assert all(place[need] < place[piece.key] for piece in pieces for need in piece.needs)
    assert all(piece.weight > 0 for piece in pieces)
    cut = groups(spec, 0)
    assert [index for group in cut for index in group.seeds] == list(range(seeds))
    for phase in PHASES:
        for group in cut:
            stops = [int(piece.key.split("/")[-1]) for piece in group.fits[phase]]
            assert stops == sorted(set(stops))
            assert stops[-1] == steps
        scored = [piece.key.split("/")[-1].split("-") for group in cut for piece in group.scores[phase]]
        assert [n for first, last in scored for n in range(int(first), int(last) + 1)] == list(range(seeds))


@pytest.mark.parametrize("preset", ["quick", "paper"])
def test_pieces_are_seconds_to_a_minute_on_two_cores(preset: str) -> None:
    params = ChgParams.model_validate(PRESETS[preset])
    flop_a_minute = 60 * 1e11
    for group in groups(Spec(params, SMOLLM2), 0):
        for phase in PHASES:
            stops = [0, *(int(piece.key.split("/")[-1]) for piece in group.fits[phase])]
            rows = max(b - a for a, b in pairwise(stops)) * len(group.seeds) * params.batch_size
            assert 2 * forward_flop(SMOLLM2, 24, 1) * rows <= flop_a_minute


def test_an_estimate_grows_with_the_work_and_says_how_it_was_reached() -> None:
    quick = CHG.estimate(Spec(ChgParams.model_validate(PRESETS["quick"]), SMOLLM2, TASK))
    paper = CHG.estimate(Spec(ChgParams.model_validate(PRESETS["paper"]), SMOLLM2, TASK))
    assert paper.seconds > 20 * quick.seconds
    assert quick.peak_bytes > SMOLLM2.n_params * 4
    assert "GFLOP/s" in quick.basis
    fast = CHG.estimate(Spec(ChgParams.model_validate(PRESETS["quick"]), SMOLLM2, TASK), throughput=1e13)
    assert fast.seconds < quick.seconds


def test_an_estimate_with_a_tokenizer_measures_the_examples() -> None:
    tokenizer: Any = planted_model().tokenizer
    assert "taken as" in CHG.estimate(Spec(PARAMS, SMOLLM2, TASK), tokenizer=tokenizer).basis


def test_computing_without_a_task_is_refused() -> None:
    model = planted_model()
    with pytest.raises(Invalid, match="task"):
        CHG.plan(Spec(PARAMS, model.info))[0].compute(Context(model))
