"""Time to roles: a fit of the quick preset, which settles, against the plain one of the paper's length.

On smollm2-135m and singular-plural, batch 16 for the plain one: (a) ten updates of ``PlainFit`` timed and
multiplied by the paper's three phases, (c) one seed of the quick preset from its first update to its last.
How the roles that both find compare is measured in docs/design/settling.md.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.test_gating import SEED, UPDATES, examples, models, take_turns  # noqa: F401
from headscope.analyses.chg.phases import PHASES, phase
from headscope.analyses.chg.schema import PRESETS, ChgParams
from headscope.core.gating.fit import FitState, advance, initial_logits
from headscope.core.model.head_model import HeadModel
from headscope.tasks.task import Examples
from models.test_smollm2 import folder  # noqa: F401
from services.bench import Bench

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]


def test_time_to_roles_against_the_plain_fit(
    folder: Path,  # noqa: F811
    models: Callable[[str], HeadModel],  # noqa: F811
    examples: Examples,  # noqa: F811
    bench: Bench,
) -> None:
    model = models("float32")
    plain = UPDATES * statistics.median(take_turns(folder, model, examples).plain)
    params = ChgParams(**PRESETS["quick"])
    started = time.perf_counter()
    start = FitState.fresh(initial_logits([SEED], model.info.n_layers, model.info.n_heads))
    updates = []
    for each in PHASES:
        fitted = advance(model, examples, [SEED], phase(each, params), start)
        updates.append(int(fitted.watch.updates))
        if each == "zero":
            start = FitState.fresh(fitted.logits)
    took = time.perf_counter() - started
    name = "chg smollm2-135m x singular-plural, quick preset"
    bench.noted(f"{name}: (c) seconds a seed, {', '.join(map(str, updates))} updates", took, "s")
    bench.at_least(f"{name}: (a) over (c), time to roles", plain / took, 6, "x")
