"""How fast heads are patched: SmolLM2, one task, 25 prompts, and against one full pass a head."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
import torch

from core.plain_patching import put_at
from headscope.analyses.base import Spec
from headscope.analyses.in_place import compute
from headscope.analyses.mediation_function_vectors import FUNCTION_VECTORS
from headscope.analyses.mediation_function_vectors.schema import FunctionVectorParams
from headscope.core.attribution.mediation import effects, mean_z
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.load import load_model
from headscope.tasks.builtin import builtin_tasks
from headscope.tasks.shuffled import label_prompts
from models.test_smollm2 import folder  # noqa: F401
from services.bench import Bench

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]

TASK = "country-capital"
SOME = 12
"""Heads timed the plain way; the others are taken to cost as much."""


@pytest.fixture(scope="module")
def model(folder: Path) -> BridgedModel:  # noqa: F811
    loaded = load_model(folder, name="smollm2-135m", device="cpu")
    assert isinstance(loaded, BridgedModel)
    return loaded


def test_one_task_of_25_prompts(model: BridgedModel, bench: Bench) -> None:
    spec = Spec(FunctionVectorParams(), model.info, builtin_tasks()[TASK])
    assert spec.params.prompts == 25
    started = time.monotonic()
    result = compute(FUNCTION_VECTORS, spec, model)
    bench.at_most("function vectors, smollm2-135m, one task, 25 prompts", time.monotonic() - started, 60)
    assert result.n_prompts.tolist() == [25]


def test_against_one_full_pass_a_head(model: BridgedModel, bench: Bench) -> None:
    prompts = label_prompts(
        builtin_tasks()[TASK], model.tokenizer, clean=4, shuffled=2, shots=10, seed=0, n_ctx=model.info.n_ctx
    )
    z = mean_z(model, prompts.clean).z.float()
    example = prompts.shuffled[0]
    ids, answer = example.tokens[: example.targets[0]], example.target_ids[0]
    effects(model, prompts.shuffled[1], z)  # the first pass proves and warms up
    started = time.monotonic()
    found = effects(model, example, z)
    batched = time.monotonic() - started
    heads = [divmod(i, model.info.n_heads) for i in range(model.info.n_layers * model.info.n_heads)]
    some = random.Random(0).sample(heads, SOME)
    tokens, last = torch.tensor([ids]), torch.tensor([[0, len(ids) - 1]])
    plain: dict[tuple[int, int], float] = {}
    started = time.monotonic()
    for layer, head in some:
        with (
            torch.no_grad(),
            put_at(model.parts.projections[layer], model.info, head, [len(ids) - 1], z[layer, head][None]),
        ):
            plain[layer, head] = float(model.logits_at(tokens, last)[0].softmax(-1)[answer])
    one_by_one = (time.monotonic() - started) / SOME * len(heads)
    for place, probability in plain.items():
        assert found.rise[place].item() == pytest.approx(probability - found.probability, abs=1e-5)
    bench.at_least(
        "heads patched at once, times faster than one full pass a head", one_by_one / batched, 10, "x"
    )
