"""The longer fits of ``make gallery``: a real model on every task that it can do, heads closed in two ways:
to zero, and to their mean.

Too long for one sitting. Each is a run in the store: it goes on where it was interrupted, and one that is
done is only written again. Machines share the list by taking different names of it (``--list``, ``--only``),
and their files by copying them into one folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from headscope.gallery.build import ListedRun

CAN_DO: Final[Mapping[str, int]] = {
    "present-past": 5,
    "capitalize": 5,
    "singular-plural": 5,
    "indirect-object": 1,
    "greater-than": 0,
    "successor": 0,
    "gendered-pronoun": 0,
    "copying": 1,
}
"""Tasks that SmolLM2-135M-Instruct answers at least half right, beyond chance, and the in-context examples at
which it does (docs/tasks.md)."""

POOLED: Final[Mapping[str, Any]] = {
    "seeds": 10,
    "steps": 32,
    "batch_size": 13,
    "phase0_lr_end": 0.05,
    "remember": False,
    "settle": False,
    "check_closed": False,
    "demonstrations": "pool",
    "pool_sets": 16,
}
"""Fits of a set number of updates; batches share their beginning (docs/design/pooled-demonstrations.md)."""


def _long() -> Iterator[ListedRun]:
    for ablation in ("zero", "mean"):
        for task, shots in CAN_DO.items():
            params = {**POOLED, "shots": shots, "ablation": ablation}
            yield ListedRun("smollm2-135m", task, params=params)


LONG: Final = tuple(_long())
