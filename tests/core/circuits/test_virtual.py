"""Virtual weights against products formed in full."""

from __future__ import annotations

import pytest
import torch

from headscope.core.circuits.composition import composition
from headscope.core.circuits.virtual import in_tokens, reader, virtual, writer
from headscope.core.circuits.weights import Weights, read_weights
from headscope.core.model.bridge import BridgedModel
from headscope.errors import Invalid


@pytest.fixture(scope="module")
def weights(grouped: BridgedModel) -> Weights:
    return read_weights(grouped, dtype=torch.float64)


def written(weights: Weights, name: str) -> torch.Tensor:
    if name == "embed":
        return weights.W_E
    if name.startswith("mlp"):
        mlp = weights.mlp(int(name[4:]))
        assert mlp is not None
        return mlp.W_out
    layer, head = map(int, name.split("."))
    part = weights.layer(layer)
    return part.W_V[head] @ part.W_O[head]


def read(weights: Weights, name: str) -> torch.Tensor:
    if name == "unembed":
        return weights.W_U
    if name.startswith("mlp"):
        mlp = weights.mlp(int(name[4:]))
        assert mlp is not None
        return mlp.W_in
    place, kind = name.split()
    layer, head = map(int, place.split("."))
    part = weights.layer(layer)
    W_QK = part.W_Q[head] @ part.W_K[head].T
    return {"q": W_QK, "k": W_QK.T, "v": part.W_V[head] @ part.W_O[head]}[kind]


PAIRS = [
    ("embed", "0.1 q"), ("embed", "unembed"), ("embed", "mlp 2"), ("0.2", "1.3 k"), ("0.2", "0.2 v"),
    ("1.0", "2.3 v"), ("1.1", "mlp 1"), ("2.0", "unembed"), ("mlp 0", "1.2 q"), ("mlp 0", "mlp 1"),
    ("mlp 2", "unembed"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "two"), [pair for pair in PAIRS if pair != ("0.2", "0.2 v")])
def test_norm_values_and_directions_are_those_of_the_whole_product(
    weights: Weights, one: str, two: str
) -> None:
    found = virtual(writer(weights, one), reader(weights, two), top=3)
    W, R = written(weights, one), read(weights, two)
    M = W @ R
    assert found.norm == pytest.approx(float(M.norm()))
    assert found.share == pytest.approx(float(M.norm() / (W.norm() * R.norm())))
    wanted = torch.linalg.svdvals(M)
    torch.testing.assert_close(found.values, wanted[:3])
    for index in range(3):
        left, right = found.left[:, index], found.right[:, index]
        torch.testing.assert_close(M @ right, found.values[index] * left, rtol=1e-6, atol=1e-8)
        assert float(left.norm()) == pytest.approx(1)
        assert float(right.norm()) == pytest.approx(1)


def test_the_share_of_a_pair_of_heads_is_its_composition(weights: Weights) -> None:
    scores = composition(weights).scores
    for number, kind in enumerate("qkv"):
        found = virtual(writer(weights, "0.3"), reader(weights, f"2.1 {kind}"))
        assert found.share == pytest.approx(float(scores[number, 0, 3, 2, 1]), rel=1e-6)


def test_directions_in_tokens(weights: Weights) -> None:
    found = virtual(writer(weights, "0.3"), reader(weights, "1.2 v"))
    part = weights.layer(0)
    left, right = found.left[:, 0], found.right[:, 0]
    tokens = in_tokens(weights, found.writer.side, left)
    torch.testing.assert_close(tokens, weights.W_E @ left)
    torch.testing.assert_close(in_tokens(weights, found.reader.side, right), right @ weights.W_U)
    assert part.W_V[3].shape[0] == len(left)
    assert in_tokens(weights, "neurons", left) is None


@pytest.mark.parametrize(
    ("one", "two"), [("1.0", "1.1 q"), ("1.0", "0.1 k"), ("mlp 1", "1.1 v"), ("mlp 1", "mlp 1")]
)
def test_a_reader_comes_after_its_writer(weights: Weights, one: str, two: str) -> None:
    with pytest.raises(Invalid, match="doesn't come after"):
        virtual(writer(weights, one), reader(weights, two))


@pytest.mark.parametrize("name", ["unembed", "1.1 q", "head 3", "", "1.9", "5.0", "mlp 7", "position"])
def test_unknown_writers_are_refused(weights: Weights, name: str) -> None:
    with pytest.raises(Invalid):
        writer(weights, name)


@pytest.mark.parametrize("name", ["embed", "1.1", "1.1 o", "1.4 q", "mlp", "mlp 3"])
def test_unknown_readers_are_refused(weights: Weights, name: str) -> None:
    with pytest.raises(Invalid):
        reader(weights, name)


def test_positions_write_where_there_are_any(attention_only: BridgedModel) -> None:
    weights = read_weights(attention_only, dtype=torch.float64)
    found = virtual(writer(weights, "position"), reader(weights, "0.1 q"))
    assert weights.W_pos is not None
    assert found.norm == pytest.approx(float((weights.W_pos @ read(weights, "0.1 q")).norm()))
    with pytest.raises(Invalid, match="no MLP"):
        writer(weights, "mlp 0")
