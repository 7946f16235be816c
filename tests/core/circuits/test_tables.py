"""Token tables and their largest cells against whole tables in float64."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.core.circuits import tables
from headscope.core.circuits.tables import Cells, best, largest_cells, table
from headscope.core.circuits.weights import read_weights
from headscope.core.model.bridge import BridgedModel
from headscope.errors import Invalid, TooLarge


def test_cells_rows_and_columns_are_those_of_the_whole_table(model: BridgedModel) -> None:
    weights = read_weights(model, dtype=torch.float64)
    part = weights.layer(1)
    W_E, W_U = weights.W_E, weights.W_U
    scale = weights.score_scale(1)
    whole = {
        "ov": W_E @ part.W_V[3] @ part.W_O[3] @ W_U,
        "qk": W_E @ part.W_Q[3] @ part.W_K[3].T @ W_E.T / scale,
        "direct": W_E @ W_U,
    }
    for circuit, wanted in whole.items():
        found = table(weights, circuit, 1, 3)  # type: ignore[arg-type]
        torch.testing.assert_close(found.row(7), wanted[7])
        torch.testing.assert_close(found.column(9), wanted[:, 9])
        torch.testing.assert_close(found.cells([1, 2], [3, 4, 5]), wanted[[1, 2]][:, [3, 4, 5]])
        torch.testing.assert_close(found.centred().row(7), wanted[7] - wanted[7].mean())
        top = found.largest(10)
        order = wanted.reshape(-1).argsort(descending=True)[:10]
        assert list(zip(top.rows.tolist(), top.columns.tolist(), strict=True)) == [
            divmod(int(index), 50) for index in order
        ]
        torch.testing.assert_close(top.values, wanted.reshape(-1)[order])


def test_scores_are_divided_as_the_architecture_does(model: BridgedModel) -> None:
    wanted = {"Gemma2ForCausalLM": 8**0.5}.get(model.info.architecture, model.info.d_head**0.5)
    assert read_weights(model).score_scale(0) == pytest.approx(wanted)


@settings(deadline=None, max_examples=40)
@given(
    rows=st.integers(1, 70), columns=st.integers(1, 70), count=st.integers(1, 120), seed=st.integers(0, 99)
)
def test_tiles_find_what_a_full_sort_finds(rows: int, columns: int, count: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    left, right = torch.randn(rows, 3, generator=generator), torch.randn(3, columns, generator=generator)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "TILE", (16, 8))
        found = largest_cells(left, right, count)
    whole = left @ right
    wanted = whole.reshape(-1).sort(descending=True).values[:count]
    torch.testing.assert_close(found.values, wanted)
    torch.testing.assert_close(whole[found.rows, found.columns], found.values)
    assert len(set(zip(found.rows.tolist(), found.columns.tolist(), strict=True))) == len(wanted)


def test_the_best_of_one_row(attention_only: BridgedModel) -> None:
    row = table(read_weights(attention_only, dtype=torch.float64), "ov", 0, 0).row(3)
    found = best(row, 4)
    assert isinstance(found, Cells)
    assert found.rows.tolist() == row.argsort(descending=True)[:4].tolist()


def test_part_of_the_vocabulary(attention_only: BridgedModel) -> None:
    weights = read_weights(attention_only)
    assert table(weights, "ov", 0, 0, most=20).row(3).shape == (20,)
    with pytest.raises(Invalid, match="Token 20 is not in the vocabulary"):
        table(weights, "ov", 0, 0, most=20).row(20)


def test_bad_requests_are_refused_with_a_remedy(attention_only: BridgedModel) -> None:
    weights = read_weights(attention_only)
    found = table(weights, "qk", 1, 0)
    with pytest.raises(Invalid, match="Token 50 is not in the vocabulary"):
        found.row(50)
    with pytest.raises(Invalid, match="Token -1 is not in the vocabulary"):
        found.column(-1)
    with pytest.raises(Invalid, match="Token 99 is not in the vocabulary"):
        found.cells([0], [99])
    with pytest.raises(Invalid, match="Head 4 of 4"):
        table(weights, "ov", 0, 4)
    with pytest.raises(Invalid, match="Layer 2 of 2"):
        table(weights, "ov", 2, 0)


def test_a_table_too_large_is_refused_with_numbers(
    attention_only: BridgedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MOST_FLOP", 1e3)
    with pytest.raises(TooLarge, match="50 x 50 cells") as refused:
        table(read_weights(attention_only), "direct").largest(5)
    assert "one token's row" in refused.value.remedy
