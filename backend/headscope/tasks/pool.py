"""In-context examples from a pool: sets drawn once and shared by many rows, so that these begin alike.

A row of the training split belongs to one set that doesn't hold it. Rows are dealt to the sets in turn, in
the split's order, so that sets have as many rows; a row whose turn comes at a set that holds it goes to the
next one that doesn't. Held-out rows keep examples of their own: what is measured there hangs on no few sets.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from headscope.errors import Invalid

MOST_SETS = 1024


def check_sets(sets: int) -> int:
    """How many sets to draw. Raises ``Invalid`` (pool) outside 1 .. 1024."""
    if not 1 <= sets <= MOST_SETS:
        raise Invalid(f"{sets} sets of in-context examples.", f"Ask for 1 to {MOST_SETS}.", code="pool")
    return sets


def set_of(task: str, place: int, sets: Sequence[Collection[int]], asked: Collection[int]) -> int:
    """Which set the row at ``place`` belongs to: the next in turn that holds nothing of what is ``asked``.

    Raises ``Invalid`` (too-few-rows) where each of them does.
    """
    for turn in range(len(sets)):
        chosen = (place + turn) % len(sets)
        if not any(item in sets[chosen] for item in asked):
            return chosen
    raise Invalid(
        f"Each of the {len(sets)} sets of in-context examples holds a row of task {task} to be asked.",
        "Ask for more sets or fewer in-context examples, or let each row have examples of its own.",
        code="too-few-rows",
    )
