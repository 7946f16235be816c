"""What the authors' code does otherwise than the paper's text: one clip, one series of batches."""

from __future__ import annotations

import pytest
import torch

from headscope.core.gating.batch_order import epochs
from headscope.core.gating.fit import FitState, Phase, advance, autocasts, clip_together, initial_logits
from headscope.core.model.head_model import HeadModel
from headscope.validation.model import as_model
from headscope.validation.planted import build
from micro.planted import PLAN, PlantedTask

PHASE = Phase(steps=3, regularisation=0.0, lr_start=1.0, lr_end=1.0, batch_size=4, clip_over="all", shared=7)


@pytest.fixture(scope="module")
def model() -> HeadModel:
    return as_model(build(PLAN), PLAN, "planted")


@pytest.mark.parametrize("size", [0.01, 1.0, 30.0])
def test_the_joint_clip_is_torchs_of_one_parameter(size: float) -> None:
    gradient = size * torch.randn(3, 2, 4, generator=torch.Generator().manual_seed(0))
    whole = torch.nn.Parameter(torch.zeros_like(gradient))
    whole.grad = gradient.clone()
    torch.nn.utils.clip_grad_norm_([whole], 1.0)
    torch.testing.assert_close(clip_together(gradient, 1.0), whole.grad)


def test_a_failed_seed_doesnt_stop_the_others() -> None:
    gradient = torch.ones(2, 2, 2)
    gradient[0] = torch.nan
    assert float(clip_together(gradient, 1.0)[1].norm()) == pytest.approx(1.0)


def test_an_epoch_uses_every_example_once() -> None:
    drawn = epochs(0, "zero", 10, 4)
    for _ in range(3):
        epoch = [next(drawn) for _ in range(3)]
        assert [len(batch) for batch in epoch] == [4, 4, 2]
        assert sorted(index for batch in epoch for index in batch) == list(range(10))
    first, again, other = (next(epochs(seed, "zero", 10, 4)) for seed in (0, 0, 1))
    assert first == again != other


def test_all_seeds_see_the_same_batches(model: HeadModel, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[tuple[int, int]]] = []
    from headscope.core.gating import fit

    plain = fit.loss_and_gradient

    def watched(model, examples, rows, *rest, **named):  # type: ignore[no-untyped-def]
        seen.append(list(rows))
        return plain(model, examples, rows, *rest, **named)

    monkeypatch.setattr(fit, "loss_and_gradient", watched)
    examples = PlantedTask().examples(None, "train", limit=10)
    logits = initial_logits([3, 9], model.info.n_layers, model.info.n_heads)
    advance(model, examples, [3, 9], PHASE, FitState.fresh(logits))
    assert len(seen) == 3
    for rows in seen:
        assert [i for seed, i in rows if seed == 0] == [i for seed, i in rows if seed == 1]
    assert sorted(i for rows in seen for seed, i in rows if seed == 0) == list(range(10))


def test_a_rate_of_one_stays_one_and_autocast_is_a_gpus() -> None:
    assert [PHASE.lr(step) for step in range(3)] == [1.0, 1.0, 1.0]
    assert not autocasts(torch.device("cpu"))
