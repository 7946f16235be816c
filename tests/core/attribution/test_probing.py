"""The probe: a planted label is found where it is and nowhere else; the fit is the minimum of its loss."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.stats import binom

from core.attribution.test_relatives import EXAMPLES
from headscope.core.attribution.probing import (
    C,
    beyond_chance,
    probe,
    z_before_answers,
)
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.load import load_model


@pytest.fixture(scope="module")
def model(llama_folder: Path) -> BridgedModel:
    loaded = load_model(llama_folder, name="tiny", device="cpu")
    assert isinstance(loaded, BridgedModel)
    return loaded


def test_z_is_the_models_own_at_the_last_prompt_token(model: BridgedModel) -> None:
    found = z_before_answers(model, EXAMPLES, range(1, 3), lambda: None)
    assert found.shape == (3, 2, 4, 8)
    for number, example in enumerate(EXAMPLES):
        at = min(example.targets) - 1
        with torch.no_grad(), model.captured((2,), ("z",)) as captured:
            model.logits(torch.tensor([example.tokens[: at + 1]]))
        np.testing.assert_allclose(found[number, 1], captured["2.z"][0, at].numpy(), atol=1e-5)


def test_a_planted_label_is_found_and_a_shuffled_one_is_not() -> None:
    draw = np.random.default_rng(0)
    labels, held_out = draw.integers(0, 3, 150), draw.integers(0, 3, 90)
    train, test = draw.normal(0, 1, (150, 8)), draw.normal(0, 1, (90, 8))
    nothing = probe(train, labels, test, held_out, [np.random.default_rng(1)])
    train[:, 2] += 4 * labels
    test[:, 2] += 4 * held_out
    found = probe(train, labels, test, held_out, [np.random.default_rng(seed) for seed in range(3)])
    assert found.accuracy > 0.9
    assert max(found.control) < 0.55
    assert nothing.accuracy < 0.55
    assert found.settled


def test_the_fit_is_the_minimum_of_its_loss() -> None:
    """Two labels: C * sum of log losses + |w|^2 / 2, by another optimiser in float64."""
    draw = np.random.default_rng(2)
    x, other = draw.normal(0, 1, (40, 3)), draw.normal(0, 1, (200, 3))
    labels = (x @ [1.0, -2.0, 0.5] + draw.normal(0, 1, 40) > 0).astype(int)
    held_out = (other @ [1.0, -2.0, 0.5] > 0).astype(int)
    mean, scale = x.mean(0), x.std(0)

    def loss(weights: np.ndarray) -> float:
        margin = (2 * labels - 1) * ((x - mean) / scale @ weights[:3] + weights[3])
        return float(C * np.logaddexp(0, -margin).sum() + (weights[:3] ** 2).sum() / 2)

    best = minimize(loss, np.zeros(4)).x
    right = ((((other - mean) / scale) @ best[:3] + best[3] > 0) == held_out).mean()
    assert probe(x, labels, other, held_out, []).accuracy == pytest.approx(right, abs=0.011)


def test_p_is_a_binomial_tail_against_the_larger_of_chance_and_control() -> None:
    p = beyond_chance(np.array([0.9, 0.5]), np.array([0.4, 0.6]), 0.5, 20)
    assert p.tolist() == pytest.approx([binom.sf(17, 20, 0.5), binom.sf(9, 20, 0.6)])
