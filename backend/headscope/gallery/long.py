"""The longer fits of ``make gallery``: real models on every task that they can do, heads closed in two ways:
to zero, and to their mean.

Too long for one sitting. Each is a run in the store: it goes on where it was interrupted, and one that is
done is only written again. Machines share the list by taking different names of it (``--list``, ``--only``),
and their files by copying them into one folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from headscope.gallery.build import POOLED, ListedRun

CAN_DO: Final[Mapping[str, Mapping[str, int]]] = {
    "smollm2-135m": {
        "present-past": 5,
        "capitalize": 5,
        "singular-plural": 5,
        "indirect-object": 1,
        "greater-than": 0,
        "successor": 0,
        "gendered-pronoun": 0,
        "copying": 1,
    },
    "gemma3-270m": {
        "present-past": 10,
        "capitalize": 10,
        "singular-plural": 10,
        "country-capital": 5,
    },
}
"""Tasks that a model answers at least half right, beyond chance, and the in-context examples at which it does
(docs/tasks.md)."""


def _long() -> Iterator[ListedRun]:
    for model, tasks in CAN_DO.items():
        for ablation in ("zero", "mean"):
            for task, shots in tasks.items():
                params = {**POOLED, "shots": shots, "ablation": ablation}
                yield ListedRun(model, task, params=params)


LONG: Final = tuple(_long())
