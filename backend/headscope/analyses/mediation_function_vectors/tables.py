"""The table twins of the function vectors' figures."""

from __future__ import annotations

import numpy as np

from headscope.analyses.columns import Column, Table, flat, places, table
from headscope.analyses.mediation_function_vectors.result import FunctionVectorsResult
from headscope.figures.view import View


def effect(result: FunctionVectorsResult, view: View) -> Table:
    """A row for each head: its effect over tasks, in each task, and whether it stands out."""
    columns: list[Column] = [
        *places(result.model),
        ("over_tasks", "effect, mean over tasks", "probability", flat(result.over_tasks)),
        ("over_tasks_significant", "stands out over tasks", "", flat(result.over_tasks_significant) > 0),
    ]
    for number, name in enumerate(result.tasks):
        columns += [
            (f"effect_{name}", f"effect, {name}", "probability", flat(result.effect[number])),
            (f"error_{name}", f"standard error, {name}", "probability", flat(result.error[number])),
            (f"significant_{name}", f"stands out, {name}", "", flat(result.significant[number]) > 0),
        ]
    return table(columns)


def answers(result: FunctionVectorsResult, view: View) -> Table:
    """A row for each task: the answer's probability in clean and shuffled prompts, and with the best head."""
    best = result.effect.reshape(len(result.effect), -1)
    heads = [f"{index // result.model.n_heads}.{index % result.model.n_heads}" for index in best.argmax(1)]
    columns: list[Column] = [
        ("task", "task", "", np.array(result.tasks)),
        ("n_clean", "clean prompts", "", result.n_clean),
        ("n_prompts", "shuffled prompts", "", result.n_prompts),
        ("p_clean", "probability, clean", "", result.p_clean),
        ("right_clean", "on top, clean", "share", result.right_clean),
        ("p_shuffled", "probability, shuffled", "", result.p_shuffled),
        ("right_shuffled", "on top, shuffled", "share", result.right_shuffled),
        (
            "p_patched",
            "probability, shuffled with the strongest head",
            "",
            result.p_shuffled + best.max(1),
        ),
        ("strongest", "strongest head", "", np.array(heads)),
        ("limit", "effect from which a head stands out", "probability", np.array(result.limits)),
        ("significant", "heads that stand out", "", result.significant.sum((1, 2))),
    ]
    return table(columns)
