"""Predict what a gate does, then intervene: every architecture, every head."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from headscope.core.model.bridge import BridgedModel
from headscope.core.model.info import model_info
from headscope.core.model.load import load_model
from headscope.errors import Invalid, NotFound


def bridged(folder: Path, dtype: str = "float32") -> BridgedModel:
    """The folder's model as what it is, so that tests may look beneath the protocol."""
    loaded = load_model(folder, name="tiny", dtype=dtype, device="cpu")
    assert isinstance(loaded, BridgedModel)
    return loaded


@pytest.fixture(scope="module")
def model(tiny_folder: Path) -> BridgedModel:
    return bridged(tiny_folder)


@pytest.fixture(scope="module")
def tokens() -> torch.Tensor:
    return torch.randint(1, 300, (3, 20), generator=torch.Generator().manual_seed(0))


def _ones(model: BridgedModel) -> torch.Tensor:
    return torch.ones(model.info.n_layers, model.info.n_heads)


def _ablated(folder: Path, layer: int, head: int, tokens: torch.Tensor) -> torch.Tensor:
    """Logits of a fresh copy of the plain module in which the head's rows of W_O are zero."""
    fresh = bridged(folder)
    projection: Any = fresh._projections[layer]
    d = fresh.info.d_head
    with torch.no_grad():
        by_input = projection.weight if type(projection).__name__ == "Conv1D" else projection.weight.T
        by_input[head * d : (head + 1) * d] = 0
        return fresh.logits(tokens)


def test_logits_equal_hugging_face(model: BridgedModel, tiny_folder: Path, tokens: torch.Tensor) -> None:
    if model.info.architecture == "HeadscopeAttentionOnly":
        pytest.skip("not an architecture of transformers")
    plain = transformers.AutoModelForCausalLM.from_pretrained(tiny_folder, attn_implementation="eager").eval()
    with torch.no_grad():
        expected = plain(tokens).logits
        torch.testing.assert_close(model.logits(tokens), expected, rtol=1e-5, atol=1e-5)
        from_bridge = model.bridge.original_model(tokens, use_cache=False).logits
    torch.testing.assert_close(from_bridge, expected, rtol=1e-5, atol=1e-5)


def test_gate_one_is_bit_exact(model: BridgedModel, tokens: torch.Tensor) -> None:
    with torch.no_grad():
        plain = model.logits(tokens)
        with model.gated(_ones(model)):
            assert torch.equal(model.logits(tokens), plain)
        with model.gated(_ones(model).expand(3, -1, -1)):
            assert torch.equal(model.logits(tokens), plain)
        assert torch.equal(model.logits(tokens), plain)


def test_each_gate_at_zero_is_zero_ablation(
    model: BridgedModel, tiny_folder: Path, tokens: torch.Tensor
) -> None:
    with torch.no_grad():
        plain = model.logits(tokens)
        for layer in range(model.info.n_layers):
            for head in range(model.info.n_heads):
                gates = _ones(model)
                gates[layer, head] = 0
                with model.gated(gates):
                    without = model.logits(tokens)
                assert (without - plain).abs().max() > 1e-4, f"{layer}.{head} does nothing"
                expected = _ablated(tiny_folder, layer, head, tokens)
                torch.testing.assert_close(without, expected, rtol=1e-5, atol=1e-5)


def test_rows_have_gates_of_their_own(model: BridgedModel, tokens: torch.Tensor) -> None:
    shape = (3, model.info.n_layers, model.info.n_heads)
    gates = torch.rand(shape, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        with model.gated(gates):
            together = model.logits(tokens)
        for row in range(3):
            with model.gated(gates[row]):
                alone = model.logits(tokens[row : row + 1])
            torch.testing.assert_close(together[row], alone[0], rtol=1e-5, atol=1e-5)


def test_logits_at_are_the_logits_there(model: BridgedModel, tokens: torch.Tensor) -> None:
    where = torch.tensor([[0, 3], [2, 19], [1, 0], [0, 3]])
    with torch.no_grad():
        everywhere = model.logits(tokens)
        here = model.logits_at(tokens, where)
    assert here.shape == (4, model.info.d_vocab)
    torch.testing.assert_close(here, everywhere[where[:, 0], where[:, 1]], rtol=1e-6, atol=1e-6)


def test_padding_on_the_right_changes_nothing(model: BridgedModel, tokens: torch.Tensor) -> None:
    padded = torch.cat([tokens, torch.zeros(3, 7, dtype=torch.long)], 1)
    with torch.no_grad():
        torch.testing.assert_close(model.logits(padded)[:, :20], model.logits(tokens), rtol=1e-5, atol=1e-5)


def test_gradients_reach_gates_and_no_weight(model: BridgedModel, tokens: torch.Tensor) -> None:
    gates = (_ones(model) * 0.5).requires_grad_()
    where = torch.tensor([[0, 19], [1, 19]])
    with model.gated(gates):
        model.logits_at(tokens, where).logsumexp(-1).sum().backward()
    assert gates.grad is not None
    assert (gates.grad.abs() > 0).all()
    assert not any(p.requires_grad or p.grad is not None for p in model.module.parameters())


def test_a_gradient_predicts_a_small_step(tiny_folder: Path, tokens: torch.Tensor) -> None:
    model = bridged(tiny_folder, "float64")
    gates = (_ones(model).double() * 0.7).requires_grad_()
    where = torch.tensor([[0, 19]])

    def loss(at: torch.Tensor) -> torch.Tensor:
        with model.gated(at):
            return -model.logits_at(tokens, where).log_softmax(-1)[0, 5]

    (gradient,) = torch.autograd.grad(loss(gates), gates)
    step = torch.zeros_like(gates)
    step[-1, 2] = 1e-3  # the architectures' norms compute in float32 whatever the dtype
    with torch.no_grad():
        slope = (loss(gates + step) - loss(gates - step)) / 2e-3
    assert slope.item() == pytest.approx(gradient[-1, 2].item(), rel=5e-3)


def test_patterns_sum_to_one_and_mix_the_values(model: BridgedModel, tokens: torch.Tensor) -> None:
    layers = tuple(range(model.info.n_layers))
    with torch.no_grad(), model.captured(layers, ("z", "pattern")) as found:
        patterned = model.logits(tokens)
    for layer in layers:
        pattern = found[f"{layer}.pattern"]
        assert pattern.shape == (3, model.info.n_heads, 20, 20)
        torch.testing.assert_close(pattern.sum(-1), torch.ones(3, model.info.n_heads, 20))
        assert pattern.triu(1).abs().max() == 0
        z = found[f"{layer}.z"]
        assert z.shape == (3, 20, model.info.n_heads, model.info.d_head)
    with torch.no_grad():
        torch.testing.assert_close(model.logits(tokens), patterned, rtol=1e-4, atol=1e-5)


def test_z_is_the_same_with_and_without_patterns(model: BridgedModel, tokens: torch.Tensor) -> None:
    """The fused pass and the eager one are two computations of one thing."""
    with torch.no_grad():
        with model.captured((1,), ("z",)) as fused:
            model.logits(tokens)
        with model.captured((1,), ("z", "pattern")) as stepwise:
            model.logits(tokens)
    torch.testing.assert_close(fused["1.z"], stepwise["1.z"], rtol=1e-4, atol=1e-5)


def test_gates_act_while_patterns_are_captured(model: BridgedModel, tokens: torch.Tensor) -> None:
    gates = _ones(model)
    gates[0] = 0
    with torch.no_grad():
        with model.captured((1,), ("pattern",)) as plain:
            model.logits(tokens)
        with model.gated(gates), model.captured((1,), ("pattern", "z")) as muted:
            patterned = model.logits(tokens)
        with model.gated(gates):
            torch.testing.assert_close(model.logits(tokens), patterned, rtol=1e-4, atol=1e-5)
    assert (plain["1.pattern"] - muted["1.pattern"]).abs().max() > 1e-4


def test_captured_z_is_before_the_gate(model: BridgedModel, tokens: torch.Tensor) -> None:
    zero = torch.zeros(model.info.n_layers, model.info.n_heads)
    with torch.no_grad(), model.gated(zero), model.captured((0,), ("z",)) as inside:
        model.logits(tokens)
    with torch.no_grad(), model.captured((0,), ("z",)) as outside, model.gated(zero):
        model.logits(tokens)
    assert inside["0.z"].abs().max() > 0
    assert torch.equal(inside["0.z"], outside["0.z"])


def test_soft_caps_make_attention_eager(model: BridgedModel) -> None:
    eager = model.info.architecture in ("Gemma2ForCausalLM", "HeadscopeAttentionOnly")
    assert model.attention == ("eager" if eager else "sdpa")


def test_info_counts(model: BridgedModel, tiny_folder: Path) -> None:
    info = model_info(tiny_folder, name="tiny")
    assert info == model.info
    total = sum(p.numel() for p in model.module.parameters())
    assert info.n_params == total
    embedding = info.d_vocab * info.d_model
    assert info.n_params_non_embedding <= total - embedding
    assert info.bos
    grouped = info.architecture in ("LlamaForCausalLM", "Gemma2ForCausalLM")
    assert (info.n_heads, info.n_kv_heads) == (4, 2 if grouped else 4)


def test_wrong_gates_layers_and_lengths_are_refused(model: BridgedModel, tokens: torch.Tensor) -> None:
    with pytest.raises(Invalid, match="don't fit"), model.gated(torch.ones(model.info.n_layers, 5)):
        pass
    with model.gated(_ones(model).expand(2, -1, -1)), pytest.raises(Invalid, match="batch of 3"):
        model.logits(tokens)
    with pytest.raises(Invalid, match="Layers run 0-"), model.captured((9,), ("z",)):
        pass
    with pytest.raises(Invalid, match="can't be captured"), model.captured((0,), ("mlp",)):
        pass
    with pytest.raises(Invalid, match="context of 64"):
        model.logits(torch.zeros(1, 65, dtype=torch.long))
    with torch.no_grad():
        model.logits(tokens)  # nothing of the failures above is left on the model


def test_bridge_shares_the_weights(model: BridgedModel) -> None:
    ours = {p.data_ptr() for p in model.module.parameters()}
    projections = {id(layer.attn.o.original_component) for layer in model.bridge.blocks}
    assert projections == {id(p) for p in model._projections}
    assert model.bridge.unembed.original_component.weight.data_ptr() in ours


def _copy(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to / "copy"))


def test_a_cut_weight_file_is_named(llama_folder: Path, tmp_path: Path) -> None:
    folder = _copy(llama_folder, tmp_path)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(
        Invalid, match=r"model\.safetensors is not a whole safetensors file.*bytes instead of"
    ):
        load_model(folder, name="cut", device="cpu")
    weights.write_bytes(b"not safetensors at all")
    with pytest.raises(Invalid, match="header is longer"):
        load_model(folder, name="noise", device="cpu")
    weights.write_bytes(b"")
    with pytest.raises(Invalid, match=r"corrupt|whole"):
        load_model(folder, name="empty", device="cpu")


def test_pickles_and_missing_things_are_refused(llama_folder: Path, tmp_path: Path) -> None:
    folder = _copy(llama_folder, tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(Invalid, match="pickled weights only"):
        load_model(folder, name="pickled", device="cpu")
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(Invalid, match=r"holds no \*\.safetensors"):
        load_model(folder, name="empty", device="cpu")
    with pytest.raises(NotFound, match="no folder"):
        load_model(tmp_path / "nowhere", name="nowhere", device="cpu")


def test_an_architecture_without_gates_is_refused(llama_folder: Path, tmp_path: Path) -> None:
    folder = _copy(llama_folder, tmp_path)
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(
        config.replace("LlamaForCausalLM", "MarsForCausalLM").replace('"llama"', '"mars"')
    )
    with pytest.raises(Invalid, match="MarsForCausalLM"):
        load_model(folder, name="mars", device="cpu")


def test_weights_that_lack_a_tensor_are_refused(llama_folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = _copy(llama_folder, tmp_path)
    tensors = load_file(folder / "model.safetensors")
    del tensors["model.layers.1.self_attn.o_proj.weight"]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(Invalid, match="lack 1 tensors"):
        load_model(folder, name="holes", device="cpu")


def test_revision_follows_the_weights(llama_folder: Path, tmp_path: Path) -> None:
    folder = _copy(llama_folder, tmp_path)
    before = model_info(folder, name="a").revision
    assert before == model_info(llama_folder, name="a").revision
    weights = folder / "model.safetensors"
    changed = bytearray(weights.read_bytes())
    changed[-1] ^= 1
    weights.write_bytes(changed)
    assert model_info(folder, name="a").revision != before
