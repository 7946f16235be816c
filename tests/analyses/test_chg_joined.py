"""What causal head gating makes of its pieces: the result, its caveats, the gates that it offers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analyses.specs import SMALL, asked, cut_small, span
from headscope.analyses.base import Kept, Spec
from headscope.analyses.chg import CHG
from headscope.analyses.chg.phases import PHASES
from headscope.analyses.chg.result import ChgResult, headline
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.offered_gates import AskedGates, GatePreset
from headscope.core.gating import roles
from headscope.errors import NotFound, Refused

# -- joined from pieces drawn at random -------------------------------------------------------------


def drawn(
    failed: tuple[int, ...] = (),
    left_out: int = 0,
    n_train: int = 1000,
    *,
    alike: bool = False,
    **params: Any,
) -> tuple[Spec[ChgParams], dict[str, Kept], dict[str, np.ndarray]]:
    """A run's pieces, and the numbers that they hold: three layers of four heads, five seeds from 2 on.
    ``alike``: rounding changes no score.
    """
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
            hard = soft if alike else hard
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
    spec, done, _ = drawn(**{**PAPERS, "alike": True, **changes})
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
