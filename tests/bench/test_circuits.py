"""What circuits from weights promise in seconds, beside TransformerLens on the same weights. `make bench`."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from headscope.core.circuits.composition import composition
from headscope.core.circuits.eigen import spectra
from headscope.core.circuits.frozen import freeze
from headscope.core.circuits.paths import expand
from headscope.core.circuits.weights import read_weights
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.load import load_model
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from models.test_smollm2 import folder  # noqa: F401
from services.bench import Bench

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1200)]

SAMPLED = 9
"""Heads on which TransformerLens is timed; its time is per head times 270."""


@pytest.fixture(scope="module")
def model(folder: Path) -> BridgedModel:  # noqa: F811
    loaded = load_model(folder, name="smollm2-135m", device="cpu")
    assert isinstance(loaded, BridgedModel)
    loaded.bridge.eval()  # made now, so that nothing that is timed makes it
    return loaded


def timed(work: Callable[[], Any], times: int = 1) -> tuple[float, Any]:
    """The least seconds of so many runs, and what the last one gave."""
    least, out = float("inf"), None
    for _ in range(times):
        started = time.perf_counter()
        out = work()
        least = min(least, time.perf_counter() - started)
    return least, out


def test_spectra_of_all_heads(model: BridgedModel, bench: Bench) -> None:
    took, found = timed(lambda: spectra(read_weights(model, "raw")), times=2)
    bench.at_most("OV and QK spectra of smollm2-135m's 270 heads", took, 3.0)
    from transformer_lens import FactoredMatrix

    bridge = model.bridge
    W_E, W_U = bridge.W_E.detach(), bridge.W_U.detach()

    def theirs(layer: int, head: int) -> tuple[torch.Tensor, torch.Tensor]:
        attention, group = bridge.blocks[layer].attn, head // 3
        W_Q, W_O = attention.W_Q[head].detach(), attention.W_O[head].detach()
        W_K, W_V = attention.W_K[group].detach(), attention.W_V[group].detach()
        ov = W_E @ FactoredMatrix(W_V, W_O) @ W_U
        qk = W_E @ FactoredMatrix(W_Q, W_K.T) @ W_E.T
        return ov.eigenvalues, qk.eigenvalues

    heads = [(layer, layer % 9) for layer in range(0, 30, -(-30 // SAMPLED))]
    per_head, wanted = timed(lambda: [theirs(*head) for head in heads])
    times = per_head / len(heads) * 270 / took
    name = f"spectra, times faster than FactoredMatrix ({len(heads)} heads timed, scaled to 270)"
    bench.at_least(name, times, 25, "x")
    worst = max(
        distance(ours[layer, head], other)
        for ours, number in ((found.ov, 0), (found.qk, 1))
        for (layer, head), pair in zip(heads, wanted, strict=True)
        for other in [pair[number]]
    )
    bench.at_most("spectra, largest difference to FactoredMatrix, of a head's largest", worst, 1e-4, "share")


def distance(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """How far the farthest eigenvalue of one lies from the nearest of the other, of the largest modulus."""
    apart = (ours[:, None].to(torch.complex128) - theirs[None].to(torch.complex128)).abs()
    return float(max(apart.min(0).values.max(), apart.min(1).values.max()) / theirs.abs().max())


def test_the_cost_per_head_does_not_grow_with_the_vocabulary(model: BridgedModel, bench: Bench) -> None:
    weights = read_weights(model, "raw")
    assert weights.gram_ue.shape == weights.gram_ee.shape == (576, 576)
    took, _ = timed(lambda: spectra(weights), times=2)
    bench.at_most("spectra of 270 heads once the two Gram products are there", took, 2.5)


def test_composition_of_all_pairs(model: BridgedModel, bench: Bench) -> None:
    """TransformerLens holds the product of every pair at once, 22 GB for all: it is asked for a tenth."""
    took, ours = timed(lambda: composition(read_weights(model, "raw")))
    bench.at_most("Q, K and V composition of all pairs of smollm2-135m's heads", took, 10.0)
    from transformer_lens import FactoredMatrix
    from transformer_lens.utilities.matrix import composition_scores

    attention = [block.attn for block in model.bridge.blocks]
    W_V = torch.stack([each.W_V.detach().repeat_interleave(3, dim=0) for each in attention])
    W_O = torch.stack([each.W_O.detach() for each in attention])
    earlier = slice(0, 30, 10)
    left, right = FactoredMatrix(W_V[earlier], W_O[earlier]), FactoredMatrix(W_V, W_O)
    theirs, scores = timed(lambda: composition_scores(left, right))
    name = "composition, times faster than composition_scores (its V of three layers timed, times 3 x 10)"
    bench.at_least(name, 30 * theirs / took, 6, "x")
    found = ours.above[2][earlier] + ours.baseline
    later = ~found.isnan()
    worst = float((found[later] - scores[later]).abs().max())
    bench.at_most("composition, largest difference to composition_scores", worst, 1e-4, "score")


_TOP_CELLS = """
import json, sys, time
from pathlib import Path
from headscope.core.model.load import load_model
from headscope.core.circuits.weights import read_weights
from headscope.core.circuits.tables import table
model = load_model(Path(sys.argv[1]), name="smollm2-135m", device="cpu")
weights = read_weights(model)
took = []
for circuit in ("ov", "qk"):
    started = time.perf_counter()
    cells = table(weights, circuit, 17, 4).largest(50)
    took.append(time.perf_counter() - started)
# Not getrusage, which counts the parent's peak before the exec too.
status = Path("/proc/self/status").read_text().splitlines()
peak = int(next(line for line in status if line.startswith("VmHWM")).split()[1]) * 1024
print(json.dumps({"took": took, "peak": peak, "cells": len(cells.values)}))
"""


def test_the_strongest_cells_of_a_whole_table(folder: Path, bench: Bench) -> None:  # noqa: F811
    run = subprocess.run(
        [sys.executable, "-c", _TOP_CELLS, str(folder)], check=True, capture_output=True, text=True
    )
    said = json.loads(run.stdout.splitlines()[-1])
    assert said["cells"] == 50
    for circuit, took in zip(("OV", "QK"), said["took"], strict=True):
        bench.at_most(f"top 50 cells of a 49,152 x 49,152 {circuit} table", took, 15.0)
    bench.at_most("peak memory of that process, model and all", said["peak"] / 1e9, 1.5, "GB")


def test_paths_of_the_bundled_model(bench: Bench) -> None:
    two = load_model(
        Catalogue(Settings(data_dir=Path("unused"))).folder("headscope-2l"), name="headscope-2l", device="cpu"
    )
    ids = [0, *range(40, 103)]
    every = torch.arange(two.info.d_vocab)

    def paths() -> Any:
        weights = read_weights(two)
        return expand(weights, freeze(weights, ids), 63, every)

    paths()  # the bridge is made once a model
    took, terms = timed(paths)
    bench.at_most("headscope-2l, 64 tokens: all path terms to all logits", took, 2.0)
    logits = two.logits(torch.tensor([ids]))[0, 63]
    bench.at_most("their sum, from the logits", float((terms.total - logits).abs().max()), 1e-4, "logits")
