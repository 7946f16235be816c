"""What closed heads give, as a setting of the analyses that close heads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch

from analyses.specs import asked
from headscope.analyses import ANALYSES
from headscope.analyses.ablation import MEANS, of_run
from headscope.analyses.base import Spec
from headscope.analyses.chg import CHG
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.in_place import compute
from headscope.core.gating.evaluation import evaluate
from headscope.core.gating.replacements import Means, Resampled, mean_table
from headscope.core.model.head_model import HeadModel
from headscope.errors import Invalid
from headscope.tasks.task import Example, Examples, Row, Split
from headscope.tasks.text import TextTask
from headscope.validation.model import as_model
from headscope.validation.planted import build
from micro.planted import PLAN, REDUNDANT, PlantedTask

CLOSING = ("chg", "relatives", "sequential-ablation", "sufficiency")
SMALL: dict[str, dict[str, Any]] = {
    "chg": {"seeds": 2, "steps": 3, "batch_size": 4, "n_test": 6},
    "relatives": {"n_examples": 4, "points": 2},
    "sequential-ablation": {"n_test": 4, "points": 3, "orders": 2},
    "sufficiency": {"n_test": 4, "points": 3, "orders": 1},
}


@dataclass(frozen=True)
class PairedTask(PlantedTask):
    """Every other row has a pair: itself with its first tokens exchanged."""

    def examples(self, tokenizer: Any, split: Split, **settings: Any) -> Examples:
        drawn = super().examples(tokenizer, split, **settings)
        return replace(drawn, items=tuple(_paired(e, n) for n, e in enumerate(drawn.items)))


def _paired(example: Example, number: int) -> Example:
    first, a, b, *rest = example.tokens
    return replace(example, paired=(first, b, a, *rest) if number % 2 == 0 else None)


@pytest.fixture(scope="module")
def model() -> HeadModel:
    return as_model(build(PLAN), PLAN, "planted")


def spec(name: str, model: HeadModel, ablation: str, **params: Any) -> Spec[Any]:
    made = asked(name, model.info, ablation=ablation, **SMALL[name], **params)
    return replace(made, task=PairedTask() if ablation == "counterfactual" else made.task)


@pytest.mark.parametrize("name", CLOSING)
def test_zero_is_the_default_and_leaves_a_runs_id_and_its_pieces(name: str, model: HeadModel) -> None:
    params = ANALYSES[name].params
    given = params().model_dump(mode="json")
    assert given["ablation"] == "zero"
    assert "ablation" not in params.identifying(given)
    assert params.identifying({**given, "ablation": "mean"})["ablation"] == "mean"
    assert MEANS not in [piece.key for piece in ANALYSES[name].plan(spec(name, model, "zero"))]


@pytest.mark.parametrize("name", CLOSING)
@pytest.mark.parametrize("ablation", ["mean", "resample", "counterfactual"])
def test_it_is_done_said_and_changes_what_comes_out(name: str, ablation: str, model: HeadModel) -> None:
    found = compute(ANALYSES[name], spec(name, model, ablation), model)
    by_zero = compute(ANALYSES[name], replace(spec(name, model, ablation), params=_zero(name)), model)
    assert of_run(found.params) == ablation
    assert [note for note in found.notes if note.startswith(ablation.capitalize())]
    assert not [note for note in by_zero.notes if "blation: a head" in note]
    assert any(
        not np.array_equal(array, by_zero.arrays[key], equal_nan=array.dtype.kind == "f")
        for key, array in found.arrays.items()
        if array.shape == by_zero.arrays[key].shape
    )


def _zero(name: str) -> Any:
    return asked(name, as_model(build(PLAN), PLAN, "planted").info, **SMALL[name]).params


def test_means_are_taken_once_and_kept_in_a_piece_of_their_own(model: HeadModel) -> None:
    plan = CHG.plan(spec("chg", model, "mean"))
    assert [piece.key for piece in plan].count(MEANS) == 1
    assert all(MEANS in piece.needs for piece in plan if piece.key not in (MEANS, "ungated"))


def test_held_out_scores_are_those_under_the_means(model: HeadModel) -> None:
    asked_for = spec("chg", model, "mean")
    found = compute(CHG, asked_for, model)
    assert isinstance(found, ChgResult)
    train = PlantedTask().examples(None, "train", limit=256)
    held_out = PlantedTask().examples(None, "test", limit=6)
    means = Means(mean_table(model, train))
    scores = evaluate(model, held_out, torch.from_numpy(found.g_plus), replacements=means)
    assert found.heldout_log_probability[2] == pytest.approx(scores.log_probability.numpy(), abs=1e-4)


def test_what_a_constant_head_is_worth_by_its_mean_is_nothing(model: HeadModel) -> None:
    """The redundant heads write the same at every position."""
    by_mean = compute(ANALYSES["relatives"], spec("relatives", model, "mean"), model)
    for head in REDUNDANT:
        assert abs(by_mean.arrays["left_out"][head]) < 0.02


def test_resampling_is_the_same_however_the_work_is_cut(
    model: HeadModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = compute(ANALYSES["relatives"], spec("relatives", model, "resample"), model)
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 1.0)
    pieces = compute(ANALYSES["relatives"], spec("relatives", model, "resample"), model)
    assert np.allclose(whole.arrays["left_out"], pieces.arrays["left_out"], atol=1e-6)


def test_rows_without_a_pair_are_left_out_and_counted(model: HeadModel) -> None:
    found = compute(CHG, spec("chg", model, "counterfactual"), model)
    n_train = len(PlantedTask().examples(None, "train"))
    assert (
        f"{n_train // 2 + 3} rows have no paired prompt of their own length and were left out." in found.notes
    )
    assert (found.n_train, found.n_test) == (n_train - n_train // 2, 3)


@pytest.mark.parametrize("name", CLOSING)
def test_a_task_without_pairs_is_refused_before_anything_is_computed(name: str, model: HeadModel) -> None:
    rows = tuple(Row(f"a{number}", "b") for number in range(20))
    without = replace(spec(name, model, "counterfactual"), task=TextTask("plain", "Plain", rows))
    with pytest.raises(Invalid) as caught:
        ANALYSES[name].plan(without)
    assert caught.value.code in ("no-pairs", "other-task")


def test_pairs_of_other_lengths_alone_are_refused(model: HeadModel) -> None:
    with pytest.raises(Invalid) as caught:
        compute(CHG, replace(spec("chg", model, "counterfactual"), task=PlantedTask()), model)
    assert caught.value.code == "no-pairs"


@pytest.mark.parametrize("name", ["sequential-ablation", "sufficiency"])
def test_heads_ordered_under_another_ablation_are_said(name: str, model: HeadModel) -> None:
    found = compute(ANALYSES[name], spec(name, model, "mean"), model)
    assert (
        "The gating run was fitted with zero ablation, heads are closed here by mean ablation." in found.notes
    )


def test_a_run_from_before_there_was_a_choice_takes_seeds_more(model: HeadModel) -> None:
    first = compute(CHG, spec("chg", model, "zero"), model)
    old = replace(first, params={k: v for k, v in first.params.items() if k != "ablation"})
    more = ChgParams.model_validate({**SMALL["chg"], "seeds": 3, "adds_to": "0" * 20})
    assert len(CHG.plan(Spec(more, model.info, PlantedTask(), {"adds_to": old}))) > 1
    by_mean = more.model_copy(update={"ablation": "mean"})
    with pytest.raises(Invalid) as caught:
        CHG.plan(Spec(by_mean, model.info, PlantedTask(), {"adds_to": old}))
    assert caught.value.code == "other-settings"


def test_an_estimate_counts_the_rows_that_closed_heads_take(model: HeadModel) -> None:
    seconds = {kind: CHG.estimate(spec("chg", model, kind)).seconds for kind in ("zero", "mean", "resample")}
    assert seconds["zero"] == seconds["mean"] < seconds["resample"]


def test_draws_of_other_rows_are_never_the_row(model: HeadModel) -> None:
    pool = list(PlantedTask().examples(None, "train", limit=16))
    assert all(Resampled(pool)._donor("", row) != number for number, row in enumerate(pool))
