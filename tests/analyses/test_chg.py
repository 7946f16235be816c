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
from analyses.specs import SMALL, asked, cut_small, span
from headscope.analyses.base import Context, Kept, Progress, Spec
from headscope.analyses.chg import CHG
from headscope.analyses.chg.phases import PHASES
from headscope.analyses.chg.plan import groups, plan
from headscope.analyses.chg.result import ChgResult, headline
from headscope.analyses.chg.schema import PRESETS, ChgParams
from headscope.analyses.offered_gates import AskedGates, GatePreset
from headscope.core.gating import roles
from headscope.core.gating.evaluation import evaluate
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid, NotFound, Refused
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


# -- joined from pieces drawn at random -------------------------------------------------------------


def drawn(
    failed: tuple[int, ...] = (), left_out: int = 0, n_train: int = 1000, **params: Any
) -> tuple[Spec[ChgParams], dict[str, Kept], dict[str, np.ndarray]]:
    """A run's pieces, and the numbers that they hold: three layers of four heads, five seeds from 2 on."""
    asked_for = {"seeds": 5, "steps": 6, "batch_size": 4, "first_seed": 2, **params}
    spec = asked("chg", SMALL, **asked_for)
    source, seeds = np.random.default_rng(5), spec.params.seeds
    truth = {f"logits_{phase}": source.normal(0, 2, (seeds, 3, 4)) for phase in PHASES}
    truth |= {f"losses_{phase}": source.uniform(0, 5, (seeds, spec.params.steps)) for phase in PHASES}
    truth |= {f"accuracy_{phase}": source.uniform(0, 1, (2, seeds)) for phase in PHASES}
    for seed in failed:
        for phase in PHASES:
            truth[f"logits_{phase}"][seed] = np.nan
            truth[f"accuracy_{phase}"][:, seed] = np.nan
    done: dict[str, Kept] = {}
    before: dict[str, int] = {}
    for piece in CHG.plan(spec):
        kind, *words = piece.key.split("/")
        if kind == "ungated":
            done[piece.key] = {
                "accuracy": np.array([0.75]), "log_probability": np.array([-0.5]),
                "n_examples": np.array([n_train, 40]), "n_left_out": np.array([left_out, 0]),
                "tokens_per_example": np.array([12.5]), "targets_per_example": np.array([1.5]),
            }  # fmt: skip
        elif kind == "heldout":
            soft, hard = truth[f"accuracy_{words[0]}"][:, span(words[1])]
            done[piece.key] = {"accuracy": soft, "log_probability": np.log(soft)}
            if words[0] != "zero":
                rounded = {"rounded_accuracy": hard, "rounded_log_probability": np.log(hard)}
                done[piece.key] = {**done[piece.key], **rounded}
        else:
            some, stop, group = span(words[0]), int(words[1]), f"{kind}/{words[0]}"
            done[piece.key] = {
                "logits": truth[f"logits_{kind}"][some],
                "losses": truth[f"losses_{kind}"][some, before.get(group, 0) : stop],
                "updates": np.full(some.stop - some.start, stop),
            }
            before[group] = stop
    return spec, done, truth


@pytest.mark.parametrize("cut", [False, True])
def test_gates_losses_and_scores_stand_where_they_belong_however_they_are_cut(
    cut: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cut:
        cut_small(monkeypatch)
    spec, done, truth = drawn()
    assert (len(done) > 7) == cut
    found = CHG.assemble(spec, done)
    for phase in PHASES:
        gates = 1 / (1 + np.exp(-truth[f"logits_{phase}"]))
        np.testing.assert_allclose(found.arrays[f"g_{phase}"], gates, rtol=1e-5)
        np.testing.assert_allclose(found.losses[phase], truth[f"losses_{phase}"], rtol=1e-6)
    soft = [truth[f"accuracy_{phase}"][0] for phase in PHASES]
    np.testing.assert_allclose(found.heldout_accuracy, [[0.75] * 5, *soft], rtol=1e-6)
    np.testing.assert_allclose(found.heldout_log_probability, [[-0.5] * 5, *np.log(soft)], rtol=1e-5)
    hard = [truth[f"accuracy_{phase}"][1] for phase in ("plus", "minus")]
    np.testing.assert_allclose(found.rounded["accuracy"], hard, rtol=1e-6)
    assert found.seeds == (2, 3, 4, 5, 6)
    assert (found.tokens_per_example, found.targets_per_example) == (12.5, 1.5)
    assert found.partial is None
    assert found.updates is not None
    assert found.updates.tolist() == [[6, 6, 6]] * 5


def test_the_headline_is_counted_head_by_head() -> None:
    spec, done, truth = drawn(failed=(3,))
    numbers = headline(CHG.assemble(spec, done), 0.6)
    ran = [0, 1, 2, 4]
    minus, plus = (1 / (1 + np.exp(-truth[f"logits_{phase}"][ran])) for phase in ("minus", "plus"))
    for role, has in (("needed", minus >= 0.6), ("harmful", 1 - plus >= 0.6)):
        assert numbers[f"always_{role}"] == pytest.approx(has.all(axis=0).mean())
        assert numbers[f"any_{role}"] == pytest.approx(has.any(axis=0).mean())
    assert numbers["accuracy_ungated"] == pytest.approx(0.75)
    for phase in ("plus", "minus"):
        of = truth[f"accuracy_{phase}"][0][ran]
        assert numbers[f"accuracy_{phase}"] == pytest.approx(of.mean(), rel=1e-5)
        assert numbers[f"logp_{phase}"] == pytest.approx(np.log(of).mean(), rel=1e-5)


PAPERS = {"seeds": 10, "steps": 500, "batch_size": 64}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, None),
        ({"steps": 499}, "499 updates a phase, where the paper uses 500: marginal roles may differ."),
        ({"steps": 499, "settle": True}, "At most 499 updates a phase, where the paper uses 500"),
        ({"settle": True}, "after 500 to 500 updates, 500 on average."),
        ({"batch_size": 63}, "63 examples an update, where the paper uses 64."),
        ({"phase0_lr_start": 0.3}, "Phase 0 learns at 0.3 to 0.01, where the paper uses 0.1 to 0.01."),
        ({"seeds": 9}, "9 seeds, where the paper uses 10"),
        ({"seeds": 1}, "One seed has no spread"),
        ({"left_out": 7}, "7 rows are longer than the model's context and were left out."),
        ({"n_train": 63}, "Only 63 training examples, fewer than a batch"),
        ({"failed": (4,)}, "6"),
    ],
)
def test_each_caveat_of_a_run_is_told_when_it_is_due(changes: dict[str, Any], said: str | None) -> None:
    spec, done, _ = drawn(**{**PAPERS, **changes})
    notes = CHG.assemble(spec, done).notes
    assert any(said in note for note in notes) if said else list(notes) == []


def test_what_is_whole_of_a_stopped_run_is_a_run_of_fewer_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_small(monkeypatch)
    spec, done, truth = drawn()
    assert CHG.partial is not None
    assert CHG.partial(spec, {}) is None
    assert CHG.partial(spec, {"ungated": done["ungated"]}) is None
    whole = [key for key in done if "/0-0" in key or "/2-2" in key]
    some = {key: done[key] for key in ("ungated", *whole)}
    found = CHG.partial(spec, some)
    assert found is not None
    assert found.partial == {"seeds": 2, "of": 5}
    assert any("2 of 5 seeds" in note for note in found.notes)
    gates = 1 / (1 + np.exp(-truth["logits_plus"][[0, 2]]))
    np.testing.assert_allclose(found.g_plus, gates, rtol=1e-5)
    lacking = {key: value for key, value in some.items() if key != "heldout/minus/2-2"}
    one = CHG.partial(spec, lacking)
    assert one is not None
    assert len(one.g_plus) == 1


# -- gates to try -----------------------------------------------------------------------------------


def offered(result: ChgResult, **asked_for: Any) -> dict[str, GatePreset]:
    assert CHG.gates is not None
    return {preset.name: preset for preset in CHG.gates(result, AskedGates(**asked_for))}


def test_gates_offered_are_those_of_the_seed_or_the_mean_over_those_that_finished() -> None:
    spec, done, truth = drawn(failed=(1,))
    found = CHG.assemble(spec, done)
    plus, minus = (1 / (1 + np.exp(-truth[f"logits_{phase}"])) for phase in ("plus", "minus"))
    ran = [0, 2, 3, 4]
    mean, third = offered(found), offered(found, seed=4)
    np.testing.assert_allclose(mean["plus"].gates, plus[ran].mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(mean["minus"].gates, minus[ran].mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(third["minus"].gates, minus[2], rtol=1e-5)
    for threshold in (0.3, 0.7):
        cut = offered(found, seed=4, threshold=threshold)
        np.testing.assert_array_equal(cut["facilitating"].gates, minus[2] >= threshold)
        np.testing.assert_array_equal(cut["without-harmful"].gates, 1 - plus[2] < threshold)
        np.testing.assert_array_equal(cut["always"].gates, (minus[ran] >= threshold).all(axis=0))
        assert cut["random"].gates.sum() == cut["facilitating"].gates.sum()
        assert (
            f"The {int((minus[2] >= threshold).sum())} heads needed in seed 4" in cut["facilitating"].reading
        )
    assert all(preset.gates.dtype == np.float32 for preset in mean.values())
    assert "on average over 4 seeds" in mean["plus"].reading


def test_random_gates_are_drawn_by_the_runs_id_alone() -> None:
    spec, done, _ = drawn()
    found = CHG.assemble(spec, done)
    one, again, other = (offered(found, run=run)["random"].gates for run in ("a", "a", "b"))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_gates_that_are_not_there_are_refused() -> None:
    spec, done, _ = drawn(failed=(1,))
    found = CHG.assemble(spec, done)
    for seed in (3, 99):
        with pytest.raises(NotFound, match="2, 4, 5, 6") as unknown:
            offered(found, seed=seed)
        assert unknown.value.code == "unknown-seed"
    spec, done, _ = drawn(failed=(0, 1, 2, 3, 4))
    with pytest.raises(Refused) as nothing:
        offered(CHG.assemble(spec, done))
    assert nothing.value.code == "no-gates"


def test_scores_are_of_the_gates() -> None:
    spec, done, _ = drawn()
    found = CHG.assemble(spec, done)
    np.testing.assert_array_equal(found.scores["facilitation"], found.g_minus)
    np.testing.assert_allclose(found.scores["interference"], 1 - found.g_plus, rtol=1e-6)
    np.testing.assert_allclose(found.scores["irrelevance"], found.g_plus * (1 - found.g_minus), rtol=1e-5)
    np.testing.assert_allclose(found.facilitation, found.g_minus.mean(axis=0), rtol=1e-5)
    assert (found.codes(0.5) == roles.roles(found.g_plus, found.g_minus, 0.5)).all()
