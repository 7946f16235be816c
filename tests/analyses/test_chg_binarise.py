"""The last phase: gates that end open or shut, beside the soft ones, whose roles it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analyses.gating_runs import PARAMS, TASK, pieces_of, run, spec_of
from headscope.analyses import figures
from headscope.analyses.chg import CHG
from headscope.analyses.chg.phases import COLDEST, phase
from headscope.analyses.chg.result import ChgResult, headline
from headscope.core.gating.evaluation import evaluate
from headscope.core.gating.fit import FitState, advance, initial_logits, loss_and_gradient
from micro.planted import planted_model

PLAIN = PARAMS.model_copy(update={"seeds": 2, "steps": 4})
BINARISED = PLAIN.model_copy(update={"binarise": True})


@pytest.fixture(scope="module")
def found() -> ChgResult:
    return run(BINARISED)


def test_the_soft_fit_and_its_pieces_stay_as_they_are(found: ChgResult) -> None:
    plain = run(PLAIN)
    for name, array in plain.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)
    assert set(found.arrays) - set(plain.arrays) == {
        "g_plus_binary", "g_minus_binary", "binary_accuracy", "binary_log_probability",
    }  # fmt: skip
    keys = {piece.key for piece in CHG.plan(spec_of(BINARISED))}
    assert {piece.key for piece in CHG.plan(spec_of(PLAIN))} <= keys
    assert {"plus-binary/0-1/4", "heldout/minus-binary/0-1"} <= keys


def test_masks_are_scored_as_they_are(found: ChgResult) -> None:
    assert found.g_minus_binary is not None
    assert found.binary_log_probability is not None
    assert set(np.unique(found.g_minus_binary)) <= {0, 1}
    masks = torch.from_numpy(found.g_minus_binary.astype(np.float64))
    score = evaluate(planted_model(), TASK.examples(None, "test"), masks)
    np.testing.assert_allclose(found.binary_log_probability[1], score.log_probability, rtol=1e-5)
    assert headline(found)["accuracy_minus_binary"] is not None
    table = figures.table(found, "heldout")
    assert {"plus, binarised", "minus, binarised"} <= {row[0] for row in table["rows"]}
    assert "Squares" in figures.build(found, "heldout")["layout"]["meta"]["reading"]


def test_cut_into_pieces_it_gives_the_same(found: ChgResult, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 3.5e7)
    cut = CHG.assemble(spec_of(BINARISED), pieces_of(BINARISED))
    assert cut.g_plus_binary is not None
    assert found.g_plus_binary is not None
    np.testing.assert_array_equal(cut.g_plus_binary, found.g_plus_binary)


def test_seeds_can_be_added(found: ChgResult) -> None:
    more = BINARISED.model_copy(update={"seeds": 3, "adds_to": "earlier"})
    added = run(more, inputs={"adds_to": found})
    assert added.binary_accuracy is not None
    assert added.binary_accuracy.shape == (2, 3)


def test_a_phase_ends_all_but_open_or_shut() -> None:
    model, examples = planted_model(), TASK.examples(None, "train")
    params = BINARISED.model_copy(update={"steps": 40})
    start = FitState.fresh(initial_logits([0, 1], 2, 4, model.dtype))
    ended = advance(model, examples, [0, 1], phase("minus-binary", params), start)
    gates = torch.sigmoid(ended.logits / COLDEST)
    assert ((gates < 0.05) | (gates > 0.95)).all()
    assert ((gates < 0.01) | (gates > 0.99)).double().mean() > 0.9


def test_the_slope_of_a_cold_gate_is_that_of_its_loss() -> None:
    model, examples = planted_model(), TASK.examples(None, "train")
    logits = 0.1 * torch.randn(1, 2, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    rows = [(0, index) for index in range(5)]

    def loss(at: torch.Tensor) -> float:
        return float(loss_and_gradient(model, examples, rows, at, temperature=0.2)[0])

    _, gradient = loss_and_gradient(model, examples, rows, logits, temperature=0.2)
    for layer, head in ((0, 0), (1, 0), (0, 3)):
        step = torch.zeros_like(logits)
        step[0, layer, head] = 1e-5
        slope = (loss(logits + step) - loss(logits - step)) / 2e-5
        assert float(gradient[0, layer, head]) == pytest.approx(slope, rel=1e-4, abs=1e-8)
