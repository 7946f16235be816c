"""Where gates start: open where asked for, and the push within the clamp where asked for."""

from __future__ import annotations

import numpy as np
import torch

from headscope.analyses.base import Context
from headscope.analyses.chg.pieces import Updates, _start
from headscope.analyses.chg.schema import ChgParams
from headscope.core.gating.fit import open_logits
from headscope.core.gating.settling import SideHistory
from headscope.validation.chg import QUICK_SETTINGS
from headscope.validation.model import as_model
from headscope.validation.planted import build
from headscope.validation.suite import Case

PLAN = Case("small", "attention-only", 0.0, 0).plan
PUSH = Updates("plus", range(2), range(10), "zero")


def start(params: ChgParams, work: Updates, logits: torch.Tensor) -> torch.Tensor:
    watch = SideHistory.fresh(logits)
    kept = {name: getattr(watch, name).numpy() for name in SideHistory.names()}
    pieces = {"zero": {"logits": logits.numpy(), **kept, "losses": np.zeros((2, 1))}}
    model = as_model(build(PLAN), PLAN, "planted")
    return _start(params, work, [0, 1], Context(model, pieces, lambda: None, lambda _: None)).logits


def test_a_head_beyond_the_clamp_starts_at_its_edge_only_where_asked_for() -> None:
    logits = torch.linspace(-9, 9, 16).view(2, 2, 4)
    assert start(QUICK_SETTINGS, PUSH, logits).equal(logits)
    within = QUICK_SETTINGS.model_copy(update={"within_clamp": True, "clamp": 3.0})
    assert start(within, PUSH, logits).equal(logits.clamp(-3, 3))


def test_gates_start_open_where_asked_for_and_each_seed_on_its_own() -> None:
    first = Updates("zero", range(2), range(10), None)
    nothing = torch.zeros(2, 2, 4)
    gates = torch.sigmoid(start(QUICK_SETTINGS.model_copy(update={"start_open": True}), first, nothing))
    assert 0.88 <= float(gates.min()) < float(gates.max()) <= 0.983
    assert float(torch.sigmoid(start(QUICK_SETTINGS, first, nothing)).min()) < 0.5
    assert open_logits([1], 2, 4).equal(open_logits([0, 1], 2, 4)[1:])


def test_earlier_runs_keep_their_ids() -> None:
    old = QUICK_SETTINGS.model_dump(mode="json")
    asked = ChgParams.identifying(old)
    assert not {"start_open", "within_clamp"} & set(asked)
    assert "within_clamp" in ChgParams.identifying({**old, "within_clamp": True})
