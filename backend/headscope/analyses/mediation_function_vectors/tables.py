"""The table twins of the function vectors' figures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.base import Result
from headscope.analyses.columns import Column, Table, flat, places, table
from headscope.figures.view import View


def effect(result: Result, view: View) -> Table:
    """A row for each head: its effect over tasks, in each task, and whether it stands out."""
    arrays = result.arrays
    columns: list[Column] = [
        *places(result.model),
        ("over_tasks", "effect, mean over tasks", "probability", flat(arrays["over_tasks"])),
        ("over_tasks_significant", "stands out over tasks", "", flat(arrays["over_tasks_significant"]) > 0),
    ]
    for number, name in enumerate(result.values["tasks"]):
        columns += [
            (f"effect_{name}", f"effect, {name}", "probability", flat(arrays["effect"][number])),
            (f"error_{name}", f"standard error, {name}", "probability", flat(arrays["error"][number])),
            (f"significant_{name}", f"stands out, {name}", "", flat(arrays["significant"][number]) > 0),
        ]
    return table(columns)


def answers(result: Result, view: View) -> Table:
    """A row for each task: the answer's probability in clean and shuffled prompts, and with the best head."""
    arrays = result.arrays
    best = arrays["effect"].reshape(len(arrays["effect"]), -1)
    heads = [f"{index // result.model.n_heads}.{index % result.model.n_heads}" for index in best.argmax(1)]
    columns: list[Column] = [
        ("task", "task", "", np.array(result.values["tasks"])),
        ("n_clean", "clean prompts", "", arrays["n_clean"]),
        ("n_prompts", "shuffled prompts", "", arrays["n_prompts"]),
        ("p_clean", "probability, clean", "", arrays["p_clean"]),
        ("right_clean", "on top, clean", "share", arrays["right_clean"]),
        ("p_shuffled", "probability, shuffled", "", arrays["p_shuffled"]),
        ("right_shuffled", "on top, shuffled", "share", arrays["right_shuffled"]),
        (
            "p_patched",
            "probability, shuffled with the strongest head",
            "",
            arrays["p_shuffled"] + best.max(1),
        ),
        ("strongest", "strongest head", "", np.array(heads)),
        ("limit", "effect from which a head stands out", "probability", np.array(result.values["limits"])),
        ("significant", "heads that stand out", "", arrays["significant"].sum((1, 2))),
    ]
    return table(columns)


TABLES: dict[str, Callable[[Result, View], Table]] = {
    "effect": effect,
    "heads": effect,
    "tasks": effect,
    "answers": answers,
}
