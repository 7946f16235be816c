from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.core.model.batches import budget_for, micro_batches
from headscope.core.model.cost import (
    ACCELERATOR_BUDGET,
    CPU_BUDGET,
    Budget,
    forward_flop,
)
from headscope.core.model.memory import activation_bytes
from micro.model import MicroExample, random_examples, random_model

INFO = random_model().info


def test_padded_equals_unpadded() -> None:
    model, examples = random_model(), random_examples(6, lengths=(3, 5, 9))
    (batch,) = micro_batches([(0, i) for i in range(6)], examples, INFO, CPU_BUDGET)
    assert batch.tokens.shape == (6, 9)
    together = model.logits_at(batch.tokens, batch.where)
    alone = torch.cat(
        [
            model.logits(torch.tensor([examples[i].tokens]))[0, torch.tensor(examples[i].targets) - 1]
            for i in batch.examples.tolist()
        ]
    )
    torch.testing.assert_close(together, alone, rtol=1e-12, atol=1e-13)


@settings(deadline=None)
@given(
    lengths=st.lists(st.integers(2, 16), min_size=1, max_size=30),
    flop=st.floats(1, 2e6),
    memory=st.floats(1, 1e6),
)
def test_every_row_is_in_one_piece_and_pieces_keep_to_the_budget(
    lengths: list[int], flop: float, memory: float
) -> None:
    examples = [MicroExample((1,) * n, (n - 1,)) for n in lengths]
    rows = [(i % 3, i) for i in range(len(lengths))]
    pieces = micro_batches(rows, examples, INFO, Budget(flop, memory))
    found = [
        row for piece in pieces for row in zip(piece.owners.tolist(), piece.examples.tolist(), strict=True)
    ]
    assert sorted(found) == sorted(rows)
    for piece in pieces:
        for cost, limit in ((forward_flop, flop), (activation_bytes, memory)):
            total = sum(cost(INFO, len(examples[i].tokens), 1) for i in piece.examples.tolist())
            assert len(piece.tokens) == 1 or total <= limit * (1 + 1e-9)
    widths = [piece.tokens.shape[1] for piece in pieces]
    assert widths == sorted(widths, reverse=True)


def test_answers_weights_and_positions_belong_to_their_rows() -> None:
    examples = [MicroExample((5, 6, 7), (1, 2)), MicroExample((8, 9), (1,))]
    (batch,) = micro_batches([(0, 1), (1, 0)], examples, INFO, CPU_BUDGET)
    assert batch.owners.tolist() == [1, 0]
    assert batch.where.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert batch.answers.tolist() == [6, 7, 9]
    assert batch.weights.tolist() == [0.5, 0.5, 1.0]


def test_no_rows_are_no_pieces() -> None:
    assert micro_batches([], [], INFO, CPU_BUDGET) == []


@pytest.mark.parametrize(("device", "budget"), [("cpu", CPU_BUDGET), ("cuda", ACCELERATOR_BUDGET)])
def test_the_budget_depends_on_the_kind_of_device_alone(device: str, budget: Budget) -> None:
    assert budget_for(torch.device(device)) == budget
