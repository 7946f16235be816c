"""Closing heads in other circumstances: each cost by other means, on tiny models and on a planted one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
import torch

from core import reference
from core.attribution.test_relatives import EXAMPLES
from headscope.core.attribution.backup_heads import Substitution
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.hooks import changing_input
from headscope.core.model.load import load_model
from headscope.validation.model import as_model
from headscope.validation.planted import build
from micro.planted import NEEDED, PLAN, REDUNDANT, planted_examples

ONE = EXAMPLES[:1]


@pytest.fixture(scope="module")
def tiny(llama_folder: Path) -> BridgedModel:
    loaded = load_model(llama_folder, name="tiny", device="cpu", dtype="float64")
    assert isinstance(loaded, BridgedModel)
    return loaded


@pytest.fixture(scope="module")
def planted() -> Substitution:
    return Substitution(as_model(build(PLAN), PLAN, "planted"), planted_examples(8))


def test_closed_heads_are_gates_of_zero_elsewhere(tiny: BridgedModel, llama_folder: Path) -> None:
    run = Substitution(tiny, ONE)
    gates = np.ones((3, 4))
    gates[0, 1] = gates[2, 3] = 0

    def loss(gates: np.ndarray) -> float:
        losses = reference.losses(reference.forward(llama_folder, ONE[0].tokens, gates)[0], ONE[0].tokens)
        return float(np.mean([losses[position] for position in ONE[0].targets]))

    assert float(run.loss) == pytest.approx(loss(np.ones((3, 4))), abs=1e-5)
    found = run.closed([[(0, 1), (2, 3)], []])
    assert found.tolist() == pytest.approx([loss(gates), float(run.loss)], abs=1e-5)
    half = np.ones((3, 4))
    half[1, 2] = 0.5
    assert run.curve((1, 2), [0.5, 1.0]).tolist() == pytest.approx([loss(half), float(run.loss)], abs=1e-5)


def test_closed_at_the_answers_leaves_other_positions_alone(tiny: BridgedModel) -> None:
    """By a hook written out, and: at the last layer other positions don't matter at all."""
    run, d = Substitution(tiny, ONE), tiny.info.d_head
    tokens, targets = torch.tensor([ONE[0].tokens]), list(ONE[0].targets)

    def silent(z: torch.Tensor) -> torch.Tensor:
        z = z.clone()
        for position in targets:
            z[0, position - 1, d : 2 * d] = 0
        return z

    with torch.no_grad(), changing_input(tiny.parts.projections[0], silent):
        logits = tiny.logits(tokens)[0]
    wanted = [-float(logits[p - 1].log_softmax(-1)[tokens[0, p]]) for p in targets]
    assert run.closed_at_answers((0, 1)) == pytest.approx(float(np.mean(wanted)), abs=1e-9)
    assert run.closed_at_answers((2, 1)) == pytest.approx(float(run.closed([[(2, 1)]])[0]), abs=1e-9)


def test_holding_all_later_heads_leaves_the_direct_way(tiny: BridgedModel) -> None:
    """With nothing held it is the closed head; else later layers' z are written in by hand."""
    run, d = Substitution(tiny, ONE), tiny.info.d_head
    tokens, targets = torch.tensor([ONE[0].tokens]), list(ONE[0].targets)
    later = [(layer, head) for layer in (1, 2) for head in range(4)]
    nothing, held = run.closed_holding((0, 1), [[], later]).tolist()
    assert nothing == pytest.approx(float(run.closed([[(0, 1)]])[0]), abs=1e-9)
    clean: dict[int, torch.Tensor] = {}

    def silent(z: torch.Tensor) -> torch.Tensor:
        return torch.cat([z[..., :d], 0 * z[..., d : 2 * d], z[..., 2 * d :]], -1)

    def keeping(layer: int) -> Callable[[torch.Tensor], torch.Tensor]:
        return lambda z: clean.setdefault(layer, z)

    with torch.no_grad(), ExitStack() as hooks:
        for layer in (1, 2):
            hooks.enter_context(changing_input(tiny.parts.projections[layer], keeping(layer)))
        tiny.logits(tokens)
        hooks.enter_context(changing_input(tiny.parts.projections[0], silent))
        logits = tiny.logits(tokens)[0]
    wanted = [-float(logits[p - 1].log_softmax(-1)[tokens[0, p]]) for p in targets]
    assert held == pytest.approx(float(np.mean(wanted)), abs=1e-9)
    assert held != pytest.approx(nothing, abs=1e-4)


def test_the_planted_previous_token_head_acts_elsewhere_and_through_the_induction_head(
    planted: Substitution,
) -> None:
    previous, induction = NEEDED
    closed = float(planted.closed([[previous]])[0] - planted.loss)
    assert closed > 1
    assert planted.closed_at_answers(previous) - float(planted.loss) < 0.25 * closed
    alone = planted.closed_holding(previous, [[induction], [(1, 2)]]) - planted.loss
    assert float(alone[0]) < 0.01 * closed
    assert float(alone[1]) == pytest.approx(closed)


def test_either_of_the_planted_pair_is_enough(planted: Substitution) -> None:
    one, other = REDUNDANT
    costs = planted.closed([[one], [other], [one, other]]) - planted.loss
    assert costs[:2].abs().max() < 0.05
    assert float(costs[2]) > 0.5
