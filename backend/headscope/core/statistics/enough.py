"""How many held-out rows a verdict needs. A right answer more or less of 19 moves a share by 5 points, and an
exact interval at 95 % is then up to 46 points wide. **Choice**: one bound for every verdict. Loads no torch.
"""

from __future__ import annotations

from typing import Final

FEWEST_ROWS: Final = 20
"""Held-out rows below which nothing is judged."""

TOO_FEW: Final = "too few to tell"


def enough(rows: int | None) -> bool:
    """Whether so many held-out rows bear a verdict; as before where an older result doesn't say how many."""
    return rows is None or rows >= FEWEST_ROWS


def too_few(rows: int, what: str = "") -> str:
    """ "12 held-out rows are too few to tell whether the model can do it: 20 are needed."; ``what`` from
    "whether", "what" on.
    """
    counted = "One held-out row is" if rows == 1 else f"{rows} held-out rows are"
    return f"{counted} {TOO_FEW}{what and f' {what}'}: {FEWEST_ROWS} are needed."


FEW_FITS: Final = 5
"""Fits below which a role that all of them gave is said of few: five of five lean towards it, as a rule, and
four of four don't (``core.statistics.replication``).
"""


def few_fits(fits: int) -> str | None:
    """What must be said of so few fits: "Only 2 fits: ..."; None where there are enough, or none."""
    if not 0 < fits < FEW_FITS:
        return None
    if fits == 1:
        return "Only 1 fit: which roles another would give isn't known."
    every = "both" if fits == 2 else f"all {fits}"
    return f"Only {fits} fits: a role that {every} give may be missing in the next."
