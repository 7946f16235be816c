"""While transformers builds a model in half precision, that is torch's default dtype in every thread:
nothing that is computed meanwhile may follow it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from headscope.analyses.induction.measure import Rows, ablate, measure
from headscope.core.attribution.ablation import ablate_head
from headscope.core.attribution.logit import attribute, lens
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.core.patterns.reading import look

IDS = [0, 7, 8, 9, 7, 8, 9, 9, 9, 7, 11, 12, 8, 11]
BEFORE: list[list[int]] = [[k for k in range(1, i) if IDS[k] == IDS[i]] for i in range(len(IDS))]


@contextmanager
def half_by_default() -> Iterator[None]:
    torch.set_default_dtype(torch.bfloat16)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def everything(model: HeadModel) -> dict[str, np.ndarray]:
    """What the lab and the analyses of prompts compute."""
    info = model.info
    rows = Rows(torch.tensor([IDS[:1] + IDS[1:7] * 2]), 6, 2)
    gates = torch.tensor([[0.3] * info.n_heads] * info.n_layers, dtype=torch.float32)
    seen = look(model, IDS, BEFORE, weighted=True)
    shares = attribute(model, IDS)
    found = measure(model, rows, gates, lambda: None)
    scores, losses = found.scores, found.loss
    with torch.no_grad(), model.gated(gates):
        gated = model.logits(torch.tensor([IDS]))
    return {
        "scores": seen.values,
        "losses": seen.loss,
        "gated": gated.numpy(),
        "one head off": ablate_head(model, IDS, 1, 2).numpy(),
        "attribution": shares.heads.numpy(),
        "lens": lens(model, IDS).log_probabilities.numpy(),
        "random scores": scores.numpy(),
        "random losses": losses.numpy(),
        "heads off": ablate(model, rows, [(1, 0)], gates, lambda: None).numpy(),
    }


def test_a_model_that_is_being_built_changes_no_number(tiny_folder: Path) -> None:
    model = load_model(tiny_folder, name="tiny", device="cpu")
    expected = everything(model)
    with half_by_default():
        found = everything(model)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype, name
        np.testing.assert_array_equal(found[name], array, err_msg=name)
