"""Parts sum to the logit; a head's share is what leaving it out takes away, norm held; the lens ends at the
model.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core import reference
from headscope.core.attribution.logit import attribute, lens
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.load import load_model
from headscope.core.model.readout import Tail, measure_tail
from headscope.errors import Invalid, Refused

IDS = [0, 7, 8, 9, 7, 8, 9, 9, 9, 7, 11, 12, 8, 11]


@pytest.fixture(scope="module")
def model(tiny_folder: Path) -> BridgedModel:
    loaded = load_model(tiny_folder, name="tiny", device="cpu")
    assert isinstance(loaded, BridgedModel)
    return loaded


def gates_of(model: BridgedModel) -> torch.Tensor:
    return torch.rand(model.info.n_layers, model.info.n_heads, generator=torch.Generator().manual_seed(1))


def uncapped(logits: np.ndarray, model: BridgedModel) -> np.ndarray:
    """The reference's logits before the soft cap."""
    if model.tail.kind != "cap":
        return logits
    return model.tail.value * np.arctanh(logits / model.tail.value)


@pytest.mark.parametrize("gated", [False, True])
def test_parts_sum_to_the_logit(model: BridgedModel, tiny_folder: Path, gated: bool) -> None:
    gates = gates_of(model) if gated else torch.ones(model.info.n_layers, model.info.n_heads)
    logits = uncapped(reference.forward(tiny_folder, IDS, gates.double().numpy())[0], model)
    for at, token, against in ((13, 5, None), (13, 5, 11), (0, 7, None), (6, 7, 8)):
        with model.gated(gates):
            found = attribute(model, IDS, at, token, against)
        wanted = logits[at, token] - (0 if against is None else logits[at, against])
        assert found.total == pytest.approx(found.logit, abs=1e-5)
        assert found.total == pytest.approx(wanted, abs=1e-4)
        assert found.heads.shape == (model.info.n_layers, model.info.n_heads)
        assert found.total == pytest.approx(float(found.heads.sum()) + sum(found.parts.values()))


def test_the_most_likely_token_of_the_last_position_is_meant_where_none_is_said(model: BridgedModel) -> None:
    with torch.no_grad():
        logits = model.logits(torch.tensor([IDS]))[0, -1]
    found = attribute(model, IDS)
    if model.tail.kind == "plain":
        assert found.token == int(logits.argmax())
        assert found.logit == pytest.approx(float(logits.max()), abs=1e-5)
    assert float(logits[found.token]) == pytest.approx(float(logits.max()), abs=1e-6)


def test_a_closed_heads_share_is_nothing(model: BridgedModel) -> None:
    gates = torch.ones(model.info.n_layers, model.info.n_heads)
    gates[-1, 1] = 0
    with model.gated(gates):
        found = attribute(model, IDS, token=5)
    assert found.heads[-1, 1] == 0
    assert (found.heads != 0).sum() == found.heads.numel() - 1


def test_a_last_layers_heads_share_is_what_it_writes(model: BridgedModel, tiny_folder: Path) -> None:
    """Without MLPs and later norms a head of the last layer can be taken out of the stream by hand."""
    if model.info.architecture != "HeadscopeAttentionOnly":
        pytest.skip("others have an MLP between the last head and the stream's end")
    streams: list[torch.Tensor] = []
    norm: Any = model.parts.final_norm
    hook = norm.register_forward_pre_hook(lambda _, args: streams.append(args[0][0, -1]))
    off = torch.ones(2, 4)
    off[1, 2] = 0
    with torch.no_grad():
        model.logits(torch.tensor([IDS]))
        with model.gated(off):
            model.logits(torch.tensor([IDS]))
    hook.remove()
    unembedding: Any = model.parts.unembedding
    written = (streams[0] - streams[1]).double()
    centred = (streams[0] - streams[0].mean()).double()
    scaled = (written - written.mean()) / (centred.square().mean() + norm.eps).sqrt() * norm.weight.double()
    share = float(scaled @ unembedding.weight[5].double())
    assert float(attribute(model, IDS, token=5).heads[1, 2]) == pytest.approx(share, abs=1e-6)


def test_transformer_lens_says_the_same_where_its_parts_sum(model: BridgedModel) -> None:
    if model.tail.kind == "cap":
        pytest.skip("TransformerLens leaves Gemma-2's norm after attention out")
    with torch.no_grad():
        _, cache = model.bridge.run_with_cache(torch.tensor([IDS]))
        parts, labels = cache.get_full_resid_decomposition(
            layer=-1, mlp_input=False, expand_neurons=False, return_labels=True, pos_slice=11
        )
        shares = cache.logit_attrs(parts, tokens=torch.tensor([5]), pos_slice=11, has_batch_dim=True)
    theirs = dict(zip(labels, shares.flatten().tolist(), strict=True))
    ours = attribute(model, IDS, at=11, token=5)
    for layer in range(model.info.n_layers):
        for head in range(model.info.n_heads):
            share = float(ours.heads[layer, head])
            assert share == pytest.approx(theirs[f"L{layer}H{head}"], abs=1e-4)
        if f"mlp.{layer}" in ours.parts:
            assert ours.parts[f"mlp.{layer}"] == pytest.approx(theirs[f"{layer}_mlp_out"], abs=1e-4)
    embedding = theirs["embed"] + theirs.get("pos_embed", 0)
    assert ours.parts["embedding"] == pytest.approx(embedding, abs=1e-4)


@pytest.mark.parametrize("gated", [False, True])
def test_the_lens_ends_at_the_model_and_starts_at_the_embedding(model: BridgedModel, gated: bool) -> None:
    gates = gates_of(model) if gated else torch.ones(model.info.n_layers, model.info.n_heads)
    with model.gated(gates), torch.no_grad():
        found = lens(model, IDS, at=9).log_probabilities
        logits = model.logits(torch.tensor([IDS]))[0, 9]
    assert found.shape == (model.info.n_layers + 1, model.info.d_vocab)
    torch.testing.assert_close(found[-1], logits.log_softmax(-1), rtol=1e-5, atol=1e-5)
    same_token = lens(model, [*IDS[:9], 7, 3], at=9).log_probabilities
    torch.testing.assert_close(found[0], same_token[0])
    assert (found[0] - found[-1]).abs().max() > 1e-3


def test_the_lens_between_is_the_norm_and_unembedding_of_the_stream(model: BridgedModel) -> None:
    streams: list[torch.Tensor] = []
    block = model.parts.blocks[1]
    hook = block.register_forward_pre_hook(lambda _, args: streams.append(args[0][0, 4]))
    with torch.no_grad():
        model.logits(torch.tensor([IDS]))
        hook.remove()
        norm = model.parts.final_norm
        assert norm is not None
        wanted = model.tail(model.parts.unembedding(norm(streams[0][None]))).log_softmax(-1)[0]
        torch.testing.assert_close(lens(model, IDS, at=4).log_probabilities[1], wanted, rtol=1e-4, atol=1e-5)


def test_the_note_names_the_cap(model: BridgedModel) -> None:
    note = attribute(model, IDS).note
    assert ("soft cap" in note) == ("norms after attention" in note) == (model.tail.kind == "cap")


def test_parts_that_dont_sum_are_refused(model: BridgedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """An architecture that scales what it adds to the stream, unknown to attribution."""
    block = model.parts.blocks[0]

    def hidden(_: Any, __: Any, out: Any) -> Any:
        return (out[0] * 1.5, *out[1:]) if isinstance(out, tuple) else out * 1.5

    hook = block.register_forward_hook(hidden)
    with pytest.raises(Refused, match=r"parts of .* sum to .*, its logit is"):
        attribute(model, IDS, token=5)
    hook.remove()
    attribute(model, IDS, token=5)
    monkeypatch.setattr(model, "tail", Tail("other"))
    with pytest.raises(Refused, match="does more to its logits"):
        attribute(model, IDS)
    monkeypatch.setattr(model, "parts", replace(model.parts, final_norm=None))
    with pytest.raises(Refused, match="no norm before its unembedding"):
        lens(model, IDS)


def test_positions_and_tokens_that_arent_there_are_refused(model: BridgedModel) -> None:
    with pytest.raises(Invalid, match=r"no position 14 among 14.*run 0-13"):
        attribute(model, IDS, at=14)
    with pytest.raises(Invalid, match=r"no token 300.*0-299"):
        attribute(model, IDS, token=5, against=300)
    with pytest.raises(Invalid, match="no tokens"):
        lens(model, [])


def test_the_tail_is_measured() -> None:
    raw = torch.randn(2, 50, generator=torch.Generator().manual_seed(0))
    assert measure_tail(raw, raw, 30.0) == Tail("plain")
    assert measure_tail(raw, torch.tanh(raw / 2) * 2, 2.0) == Tail("cap", 2.0)
    factor = measure_tail(raw, raw * 0.0625, None)
    assert factor.kind == "factor"
    assert factor.value == pytest.approx(0.0625)
    assert measure_tail(raw, raw.relu(), None).kind == "other"
    torch.testing.assert_close(Tail("cap", 2.0)(raw), torch.tanh(raw / 2) * 2)
