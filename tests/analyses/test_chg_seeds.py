"""Seeds of a gating run: added to a finished one, whole in a stopped one, failed, alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from analyses.gating_runs import PARAMS, TASK, pieces_of, run, spec_of
from headscope.analyses import figures
from headscope.analyses.base import Input, Spec
from headscope.analyses.chg import CHG
from headscope.analyses.chg.gates import offered
from headscope.analyses.chg.plan import groups
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.offered_gates import AskedGates
from headscope.core.gating.roles import finished
from headscope.errors import Invalid
from headscope.tasks.task import Example, Examples
from micro.planted import PlantedTask, planted_model

FIVE = PARAMS.model_copy(update={"seeds": 5, "steps": 2})
ADDING = FIVE.model_copy(update={"adds_to": "earlier"})
THREE = FIVE.model_copy(update={"seeds": 3})


@pytest.fixture(scope="module")
def earlier() -> ChgResult:
    return run(THREE)


@pytest.fixture(scope="module")
def whole() -> ChgResult:
    return run(FIVE)


@pytest.fixture
def in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seeds in a group, an update in a piece."""
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 3.5e7)


def test_seeds_added_to_a_run_make_the_run_of_so_many_seeds(earlier: ChgResult, whole: ChgResult) -> None:
    added = run(ADDING, inputs={"adds_to": earlier})
    assert added.seeds == whole.seeds == (0, 1, 2, 3, 4)
    assert set(added.arrays) == set(whole.arrays)
    for name, array in whole.arrays.items():
        np.testing.assert_allclose(added.arrays[name], array, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(added.arrays["g_plus"][:3], earlier.arrays["g_plus"])
    assert added.values["added_to"] == {"run": "earlier", "seeds": [0, 1, 2]}
    assert whole.values["added_to"] is None


def test_only_the_new_seeds_are_planned_and_estimated(earlier: ChgResult) -> None:
    info, inputs = planted_model().info, {"adds_to": earlier}
    spec = Spec(ADDING, info, TASK, inputs)
    assert [index for group in groups(spec, 3) for index in group.seeds] == [3, 4]
    assert [piece.key for piece in CHG.plan(spec)][:3] == ["earlier", "ungated", "zero/3-4/2"]
    two = CHG.estimate(Spec(FIVE.model_copy(update={"seeds": 2}), info, TASK))
    assert CHG.estimate(spec).basis == two.basis


def test_fits_on_permuted_targets_are_added_without_more_seeds(earlier: ChgResult) -> None:
    """They are those of a run that had them from the start, and the seeds are taken over."""
    asked = ADDING.model_copy(update={"seeds": 3, "null_fits": 2})
    added = run(asked, inputs={"adds_to": earlier})
    assert added.null_plus is not None
    np.testing.assert_array_equal(added.g_plus, earlier.g_plus)
    whole = run(FIVE.model_copy(update={"seeds": 3, "null_fits": 2}))
    assert whole.null_plus is not None
    np.testing.assert_array_equal(added.null_plus, whole.null_plus)
    np.testing.assert_array_equal(added.g_minus, whole.g_minus)


def test_what_reads_gating_runs_reads_one_that_was_added_to(earlier: ChgResult) -> None:
    added = run(ADDING, inputs={"adds_to": earlier})
    assert added.facilitation.shape == (2, 4)
    assert [preset.name for preset in offered(added, AskedGates("key", 4))][:2] == ["plus", "minus"]
    for name in figures.names("chg"):
        assert figures.table(added, name)["rows"]
        figures.build(added, name)


def test_a_run_that_seeds_cannot_be_added_to_is_refused_with_what_differs(earlier: ChgResult) -> None:
    other_task = replace(earlier, task={"name": "else", "content_hash": "0"})
    wrong: dict[str, tuple[ChgParams, dict[str, Input]]] = {
        "run-missing": (ADDING, {}),
        "not-gating": (ADDING, {"adds_to": replace(earlier, analysis="induction")}),
        "other-version": (ADDING, {"adds_to": replace(earlier, schema_version=1)}),
        "other-task": (ADDING, {"adds_to": other_task}),
        "other-settings": (ADDING.model_copy(update={"clip": 2.0}), {"adds_to": earlier}),
        "no-more-seeds": (ADDING.model_copy(update={"seeds": 3}), {"adds_to": earlier}),
    }
    for code, (params, inputs) in wrong.items():
        with pytest.raises(Invalid) as refused:
            CHG.estimate(Spec(params, planted_model().info, TASK, inputs))
        assert refused.value.code == code
    params, inputs = wrong["other-settings"]
    with pytest.raises(Invalid, match=r"clip \(1.0 there, 2.0 here\)"):
        CHG.plan(Spec(params, planted_model().info, TASK, inputs))


def test_a_stopped_run_keeps_the_seeds_that_are_whole(in_small_pieces: None) -> None:
    done = pieces_of(FIVE)
    spec, keys = spec_of(FIVE), list(done)
    assert CHG.partial is not None
    first_group = keys.index("heldout/minus/1-1") + 1
    seen: dict[int, int] = {}
    for stop in range(len(keys) + 1):
        result = CHG.partial(spec, {key: done[key] for key in keys[:stop]})
        seen[stop] = 0 if result is None else len(result.seeds)
    assert seen[first_group - 1] == 0
    assert seen[first_group] == 2
    assert sorted(set(seen.values())) == [0, 2, 4, 5]
    result = CHG.partial(spec, {key: done[key] for key in keys[:-1]})
    assert result is not None
    assert result.seeds == (0, 1, 2, 3)
    assert result.values["partial"] == {"seeds": 4, "of": 5}
    assert "4 of 5 seeds" in result.values["notes"][0]
    complete = CHG.assemble(spec, done)
    assert complete.values["partial"] is None
    for name, array in result.arrays.items():
        along = 1 if name.startswith(("heldout", "rounded")) else 0
        np.testing.assert_array_equal(array, np.take(complete.arrays[name], range(4), axis=along))
    for name in figures.names("chg"):
        assert figures.table(result, name)["rows"]


def test_a_stopped_addition_keeps_what_it_took_over(earlier: ChgResult, in_small_pieces: None) -> None:
    done = pieces_of(ADDING, inputs={"adds_to": earlier})
    spec = spec_of(ADDING)
    assert CHG.partial is not None
    assert CHG.partial(spec, {"ungated": done["ungated"]}) is None
    begun = {key: done[key] for key in ("earlier", "ungated")}
    result = CHG.partial(spec, begun)
    assert result is not None
    assert result.seeds == earlier.seeds
    np.testing.assert_array_equal(result.arrays["g_minus"], earlier.arrays["g_minus"])


@dataclass(frozen=True)
class Poisoned(PlantedTask):
    """One training example holds a token whose embedding is not finite."""

    row: int = 0

    def examples(self, tokenizer: Any, split: Any, **more: Any) -> Examples:
        found = super().examples(tokenizer, split, **more)
        if split == "test":
            return found
        bad = Example((15, 0, *found[self.row].tokens[2:]), found[self.row].targets)
        return Examples((*found.items[: self.row], bad, *found.items[self.row + 1 :]))


def test_a_seed_whose_loss_is_not_finite_fails_alone_and_is_named() -> None:
    model = planted_model()
    model.W_E[0] = float("nan")
    params = PARAMS.model_copy(update={"steps": 3})
    result = run(params, task=Poisoned(row=_drawn_by_one_seed(params)), model=model)
    ran = finished(result.arrays["g_plus"], result.arrays["g_minus"])
    assert ran.sum() == 2
    lost = int(np.flatnonzero(~ran)[0])
    assert result.values["failed_seeds"] == [lost]
    said = f"Seed {lost} failed: its loss was not finite. It counts in no share; 2 of 3 are left."
    assert said in result.values["notes"]
    assert np.isnan(result.arrays["rounded_accuracy"][:, lost]).all()
    assert np.isfinite(result.arrays["rounded_accuracy"][:, ran]).all()
    alone = run(params)
    np.testing.assert_allclose(result.arrays["g_zero"][ran], alone.arrays["g_zero"][ran], rtol=1e-5)


def _drawn_by_one_seed(params: ChgParams) -> int:
    """A training example that just one of the seeds meets."""
    from headscope.core.gating.batch_order import batches

    met: list[set[int]] = []
    for seed in range(params.seeds):
        draws = [batches(seed, stream, TASK.rows[0], params.batch_size) for stream in ("zero", "push")]
        met.append({index for draw in draws for _ in range(params.steps) for index in next(draw)})
    return next(iter(met[1] - met[0] - met[2]))


def test_all_seeds_may_fail() -> None:
    model = planted_model()
    model.W_O[0, 0] = float("nan")
    result = run(PARAMS.model_copy(update={"seeds": 2, "steps": 2}), model=model)
    assert result.values["failed_seeds"] == [0, 1]
    assert "Seeds 0, 1 failed" in " ".join(result.values["notes"])


def test_a_task_smaller_than_a_batch_is_used_whole_and_says_so() -> None:
    params = PARAMS.model_copy(update={"seeds": 2, "steps": 3, "batch_size": 64})
    result = run(params, task=PlantedTask(rows=(7, 4)))
    notes = " ".join(result.values["notes"])
    assert "Only 7 training examples, fewer than a batch: each update uses all of them." in notes
    as_large = run(params.model_copy(update={"batch_size": 7}), task=PlantedTask(rows=(7, 4)))
    np.testing.assert_allclose(result.arrays["g_plus"], as_large.arrays["g_plus"], atol=1e-6)


@dataclass(frozen=True)
class Uneven(PlantedTask):
    """Answers of one to five tokens."""

    def examples(self, tokenizer: Any, split: Any, **more: Any) -> Examples:
        found = super().examples(tokenizer, split, **more)
        return Examples(tuple(Example(one.tokens, one.targets[-1 - i % 5 :]) for i, one in enumerate(found)))


def test_targets_of_different_lengths_count_by_example() -> None:
    import torch

    result = run(PARAMS.model_copy(update={"seeds": 1, "steps": 2}), task=Uneven())
    model, examples = planted_model(), Uneven().examples(None, "test")
    means = []
    for one in examples:
        log_probability = model.logits(torch.tensor([one.tokens]))[0].log_softmax(dim=-1)
        means.append(np.mean([log_probability[at - 1, one.tokens[at]].item() for at in one.targets]))
    assert result.arrays["heldout_log_probability"][0, 0] == pytest.approx(np.mean(means), rel=1e-5)
    assert np.isfinite(result.arrays["loss_minus"]).all()
    assert result.values["targets_per_example"] == pytest.approx(
        np.mean([len(one.targets) for one in Uneven().examples(None, "train")])
    )


def test_one_seed_is_a_run_that_says_what_it_lacks() -> None:
    result = run(PARAMS.model_copy(update={"seeds": 1, "steps": 2}))
    notes = " ".join(result.values["notes"])
    assert "1 seed, where the paper uses 10" in notes
    assert "there are no bands" in notes
    for name in figures.names("chg"):
        figures.build(result, name)


def test_pieces_of_the_seeds_taken_over_are_the_runs_own(earlier: ChgResult) -> None:
    done = pieces_of(ADDING, inputs={"adds_to": earlier})
    assert set(done["earlier"]) == set(earlier.arrays)
