"""The longer fits of ``make gallery``: a real model on every task that it can do, heads closed in two ways:
to zero, and to their mean.

Too long for one sitting. Each is a run in the store: it goes on where it was interrupted, and one that is
done is only written again. Machines share the list by taking different names of it (``--list``, ``--only``),
and their files by copying them into one folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from headscope.gallery.build import POOLED, ListedRun

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


def _long() -> Iterator[ListedRun]:
    for ablation in ("zero", "mean"):
        for task, shots in CAN_DO.items():
            params = {**POOLED, "shots": shots, "ablation": ablation}
            yield ListedRun("smollm2-135m", task, params=params)


LONG: Final = tuple(_long())
