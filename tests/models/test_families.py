"""Every family against its plain model in float64: what the proof says holds, holds; the rest is refused.

The figures here are computed anew from transformers' module (``plain_family``), not taken from the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from headscope.core.attribution.logit import attribute
from headscope.core.circuits.weights import read_weights
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.capabilities import CAPABILITIES, Proof
from headscope.core.model.load import load_model
from headscope.core.model.packing import pack
from headscope.core.patterns.reading import look
from headscope.core.proof import prove
from headscope.errors import HeadscopeError, Invalid, Refused
from models.families import FAMILIES, REFUSED, Family, save
from models.families_page import PAGE, Row, page
from models.plain_family import Pass, PlainFamily

TOKENS = torch.tensor([[5, 17, 9, 200, 17, 9, 33, 5, 64, 17, 9, 7]])
ROWS: dict[str, Row] = {}
"""What the tests found, for the page."""


@dataclass(frozen=True)
class Pair:
    """A family's model as Headscope reads it, beside the plain one."""

    family: Family
    model: BridgedModel
    plain: PlainFamily
    seen: Pass
    proof: Proof

    def close(self, found: torch.Tensor, expected: torch.Tensor) -> None:
        """Norms compute in float32 whatever the dtype, so nothing is nearer than that."""
        scale = float(expected.double().abs().max())
        torch.testing.assert_close(found.double(), expected.double(), rtol=0, atol=1e-5 * max(1.0, scale))


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda family: family.name)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    family: Family = request.param
    folder = save(family, tmp_path_factory.mktemp("family"))
    plain = PlainFamily(family, folder)
    dtype = str(plain.dtype).removeprefix("torch.")
    model = load_model(folder, name="the model", dtype=dtype, device="cpu")
    assert isinstance(model, BridgedModel)
    proof = prove(model)
    ROWS[family.name] = Row.of(proof, model.info, circuit_limits(model, proof))
    return Pair(family, model, plain, plain.run(TOKENS), proof)


def circuit_limits(model: BridgedModel, proof: Proof) -> list[str]:
    return read_weights(model).limits if proof.has("circuits") else []


@torch.no_grad()
def test_logits_are_the_plain_models_and_causal_and_untouched_by_padding(pair: Pair) -> None:
    pair.close(pair.model.logits(TOKENS), pair.seen.logits)
    pair.close(pair.model.logits(TOKENS[:, :5])[0], pair.seen.logits[0, :5])
    short = torch.cat([TOKENS[:, 3:8], torch.zeros(1, 7, dtype=torch.long)], 1)
    together = pair.model.logits(torch.cat([TOKENS, short]))
    pair.close(together[1, :5], pair.plain.run(TOKENS[:, 3:8]).logits[0])
    assert pair.proof.has("logits")


@torch.no_grad()
def test_patterns_are_those_by_which_values_are_mixed(pair: Pair) -> None:
    found: list[torch.Tensor] = []
    with pair.model.reading(lambda _, pattern, __: found.append(pattern.clone())):
        pair.close(pair.model.logits(TOKENS), pair.seen.logits)
    for pattern, expected in zip(found, pair.seen.patterns, strict=False):
        pair.close(pattern, expected)
    assert pair.seen.patterns or pair.family.eager_is_wrong
    n_heads = pair.model.info.n_heads
    z = [z.unflatten(-1, (n_heads, -1)).transpose(1, 2) for z in pair.seen.z]
    mixed = [
        float((pattern @ value.repeat_interleave(n_heads // value.shape[1], 1) - z).abs().max())
        for pattern, value, z in zip(found, pair.seen.values, z, strict=False)
    ]
    if pair.proof.has("patterns"):
        assert max(mixed, default=0.0) < 1e-5
    else:
        assert max(mixed) > 1e-2, "refused without a reason"
    assert all(value.shape[1] in (pair.model.info.n_kv_heads, n_heads) for value in pair.seen.values)
    assert sum(float(pattern.triu(1).abs().max()) for pattern in found) == 0


@torch.no_grad()
def test_each_gate_is_its_heads_slice(pair: Pair) -> None:
    info = pair.model.info
    for layer in range(info.n_layers):
        for head in range(info.n_heads):
            gates = torch.ones(info.n_layers, info.n_heads, dtype=torch.float64)
            gates[layer, head] = 0
            expected = pair.plain.run(TOKENS, gates).logits
            assert (expected - pair.seen.logits).abs().max() > 1e-6
            with pair.model.gated(gates):
                pair.close(pair.model.logits(TOKENS), expected)
    assert pair.proof.has("gating")


@torch.no_grad()
def test_targets_of_packed_rows_are_those_of_rows_alone(pair: Pair) -> None:
    info, (ids,) = pair.model.info, TOKENS.tolist()
    rows = [(0, ids[:9]), (0, [*ids[:4], 77]), (1, ids[:4])]
    where = [(0, 3), (0, 8), (1, 4), (2, 2)]
    gates = torch.rand(2, info.n_layers, info.n_heads, generator=torch.Generator().manual_seed(0))
    found = pair.model.target_logits(pack(rows, where), gates)
    expected = [
        pair.plain.run(torch.tensor([rows[row][1]]), gates[rows[row][0]]).logits[0, at] for row, at in where
    ]
    pair.close(found, torch.stack(expected))


@torch.no_grad()
def test_weights_are_what_heads_compute_with(pair: Pair) -> None:
    """Patterns times x W_V + b_V are z, and through W_O what attention writes; W_U ends in the logits."""
    if not pair.proof.has("circuits"):
        pytest.skip("refused, see the next test")
    weights = read_weights(pair.model, "raw", torch.float64)
    clipped = any("cut there" in limit for limit in weights.limits)
    found: list[torch.Tensor] = []
    with pair.model.reading(lambda _, pattern, __: found.append(pattern[0].double())):
        pair.model.logits(TOKENS)
    for layer, (pattern, entered, written) in enumerate(
        zip(found, pair.seen.entered, pair.seen.written, strict=True)
    ):
        of = weights.layer(layer)
        z = pattern @ (entered[0].double() @ of.W_V + of.b_V[:, None])
        wrote = (z @ of.W_O).sum(0) + of.b_O
        if clipped:
            z = pair.seen.z[layer][0].double().unflatten(-1, (pair.model.info.n_heads, -1)).transpose(0, 1)
            wrote = (z @ of.W_O).sum(0) + of.b_O
        pair.close(wrote, written.flatten(0, -2) * pair.model.parts.factor)
    pair.close(weights.W_E[TOKENS[0]].mean(0), _embedded(pair).mean(0))


def _embedded(pair: Pair) -> torch.Tensor:
    seen: list[torch.Tensor] = []
    hook = pair.model.parts.blocks[0].register_forward_pre_hook(
        lambda _, args, kwargs: seen.append(args[0] if args else kwargs["hidden_states"]), with_kwargs=True
    )
    pair.model.logits(TOKENS)
    hook.remove()
    weights = read_weights(pair.model, "raw", torch.float64)
    place = 0 if weights.W_pos is None else weights.W_pos[: TOKENS.shape[1]]
    return seen[0][0].double() - place


@torch.no_grad()
def test_attribution_adds_up_to_the_plain_logit_or_is_refused(pair: Pair) -> None:
    (ids,) = TOKENS.tolist()
    if not pair.proof.has("attribution"):
        with pytest.raises(HeadscopeError) as refused:
            attribute(pair.model, ids, token=7)
        assert refused.value.remedy
        return
    found = attribute(pair.model, ids, token=7)
    total = torch.tensor([found.total], dtype=torch.float64)
    logit = pair.model.tail(total) if pair.model.tail.kind == "cap" else total
    assert float(logit) == pytest.approx(float(pair.seen.logits[0, -1, 7]), abs=1e-4)


def test_what_fails_is_refused_by_name(pair: Pair) -> None:
    lost = [name for name in CAPABILITIES if not pair.proof.has(name)]
    for capability in lost:
        with pytest.raises(Refused) as refused:
            pair.proof.require([capability])
        assert refused.value.code == "not-proved"
        assert "What it can give is" in refused.value.remedy


def test_the_lab_reads_each_family(pair: Pair) -> None:
    (ids,) = TOKENS.tolist()
    seen = look(pair.model, ids, [[] for _ in ids], weighted=True)
    expected = -pair.seen.logits[0].double().log_softmax(-1)[:-1].gather(1, TOKENS[0, 1:, None])[:, 0]
    pair.close(torch.from_numpy(seen.loss[1:]), expected)


@pytest.mark.parametrize("family", REFUSED, ids=lambda family: family.name)
def test_families_without_heads_are_refused_by_what_they_are(family: Family, tmp_path: Path) -> None:
    folder = save(family, tmp_path)
    with pytest.raises(Invalid) as refused:
        load_model(folder, name=family.name, device="cpu")
    assert refused.value.code == "unsupported-architecture"
    assert "decoder-only" in refused.value.remedy
    ROWS[family.name] = Row.refused(refused.value.message)


def test_there_are_many() -> None:
    assert len(FAMILIES) >= 65
    assert len({family.name for family in (*FAMILIES, *REFUSED)}) == len(FAMILIES) + len(REFUSED)


def test_the_page_says_what_was_found() -> None:
    if len(ROWS) < len(FAMILIES) + len(REFUSED):
        pytest.skip("needs the whole file")
    assert PAGE.read_text(encoding="utf-8") == page(ROWS), "docs/models.md is out of step: make families"


def test_parameters_are_those_that_transformers_counts(pair: Pair) -> None:
    assert pair.model.info.n_params == pair.plain.module.num_parameters()
