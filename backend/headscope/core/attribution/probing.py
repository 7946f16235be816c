"""A linear probe on what a head mixed: can a label be read off z, and better than a shuffled one?

1. z of every head at the last prompt token, the one that predicts the first target.
2. A logistic regression for each head, by scikit-learn: features standardised on the training rows, L2
   penalty with C = ``C``, all classes together.
3. Accuracy on held-out rows, and the same with training and held-out labels shuffled among their own rows
   [a control as in Hewitt and Liang 2019]. selectivity = accuracy - mean accuracy of the controls.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from jaxtyping import Float, Float64, Int

from headscope.core.model.batches import (
    Scored,
    budget_for,
    check_examples,
    micro_batches,
)
from headscope.core.model.head_model import HeadModel

C: Final = 0.1
"""scikit-learn's inverse strength of the penalty: fixed, since a tuned one would differ from head to head."""
_MOST_STEPS: Final = 500


@dataclass(frozen=True)
class Probed:
    """One head: held-out accuracy, that of each control, and whether every fit settled."""

    accuracy: float
    control: Sequence[float]
    settled: bool


@torch.no_grad()
def z_before_answers(
    model: HeadModel, examples: Sequence[Scored], layers: range, checkpoint: Callable[[], None]
) -> Float[np.ndarray, "example layer head d_head"]:
    """What the heads of some layers mixed at the token before each example's first target; float32."""
    check_examples(examples, model.info.n_ctx, "probed")
    info = model.info
    found = np.zeros((len(examples), len(layers), info.n_heads, info.d_head), np.float32)
    rows = [(index, index) for index in range(len(examples))]
    for batch in micro_batches(rows, examples, info, budget_for(model.device)):
        checkpoint()
        at = torch.tensor([min(examples[i].targets) - 1 for i in batch.examples.tolist()])
        row = torch.arange(len(at))
        with model.captured(tuple(layers), ("z",)) as captured:
            model.logits_at(batch.tokens, torch.stack([row, at], 1))
        for place, layer in enumerate(layers):
            found[batch.examples.numpy(), place] = captured[f"{layer}.z"][row, at].float().cpu().numpy()
    return found


def probe(
    train: Float[np.ndarray, "row feature"],
    labels: Int[np.ndarray, " row"],
    test: Float[np.ndarray, "held_out feature"],
    held_out: Int[np.ndarray, " held_out"],
    controls: Sequence[np.random.Generator],
) -> Probed:
    """Fit and score one head; each control shuffles by a generator of its own."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(train)
    features, others = scaler.transform(train), scaler.transform(test)
    accuracy, settled = _fitted(features, labels, others, held_out)
    control = []
    for source in controls:
        shuffled, compared = source.permutation(labels), source.permutation(held_out)
        score, fine = _fitted(features, shuffled, others, compared)
        control.append(score)
        settled = settled and fine
    return Probed(accuracy, control, settled)


def beyond_chance(
    accuracy: Float64[np.ndarray, "*heads"], control: Float64[np.ndarray, "*heads"], chance: float, n: int
) -> Float64[np.ndarray, "*heads"]:
    """One-sided binomial p of so many right of n, where guessing gets the control's accuracy, or chance."""
    from scipy.stats import binom

    guessing = np.maximum(control, chance)
    return np.asarray(binom.sf(np.round(accuracy * n) - 1, n, guessing), dtype=np.float64)


def _fitted(
    features: np.ndarray, labels: np.ndarray, others: np.ndarray, held_out: np.ndarray
) -> tuple[float, bool]:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ConvergenceWarning)
        regression = LogisticRegression(C=C, max_iter=_MOST_STEPS).fit(features, labels)
    settled = not any(issubclass(warning.category, ConvergenceWarning) for warning in said)
    return float((regression.predict(others) == held_out).mean()), settled
