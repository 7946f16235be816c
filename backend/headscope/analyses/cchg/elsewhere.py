"""Is it the skill that is set apart, or the format? What the gates do in surface forms that no fit saw.

Of each fit, on rows that it didn't see and in layouts or wordings that it didn't see:

    kept = mean over retained tasks of (accuracy under the gates / accuracy without)
    left = the same of those forgotten

with the 95 % interval of Student's t over fits. It holds for *the skill* where both intervals lie on their
side of ``BOUND``: kept at or above, left below. It holds for *the format* where one lies whole on the wrong
side. Else the run can't tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import numpy as np
from jaxtyping import Float

from headscope.analyses.cchg.result import Elsewhere, Outcome, Scores, TaskScored
from headscope.tasks.wordings import OTHER_FORMS

BOUND: Final = 0.5
"""The share of its ungated accuracy that separates what is kept from what is lost."""

Interval = tuple[float, float]


def in_other_forms(
    retain: Sequence[str],
    forget: Sequence[str],
    tasks: Sequence[TaskScored],
    accuracy: Scores,
    ungated: Float[np.ndarray, " task"],
) -> Elsewhere | None:
    """None where a fitted task has no other form."""
    places = {task["name"]: k for k, task in enumerate(tasks)}
    wanted = [[name + OTHER_FORMS for name in names] for names in (retain, forget)]
    if not all(name in places for names in wanted for name in names):
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = accuracy.astype(np.float64) / ungated.astype(np.float64)
    kept, left = (shares[:, [places[name] for name in names]].mean(axis=1) for names in wanted)
    of_kept, of_left = interval(kept), interval(left)
    return {
        "kept": _mean(kept),
        "left": _mean(left),
        "kept_interval": of_kept,
        "left_interval": of_left,
        "holds_for": holds_for(of_kept, of_left),
    }


def interval(shares: Float[np.ndarray, " seed"]) -> Interval | None:
    """Student's t, 95 %, of the mean over fits, not below 0; None with fewer than two."""
    from scipy.stats import t

    known = shares[np.isfinite(shares)]
    if len(known) < 2:
        return None
    reach = float(t.ppf(0.975, len(known) - 1) * known.std(ddof=1) / np.sqrt(len(known)))
    return max(0.0, float(known.mean()) - reach), float(known.mean()) + reach


def holds_for(
    kept: Interval | None, left: Interval | None
) -> Literal["the skill", "the format", "can't tell"]:
    """From both intervals; see the module."""
    if kept is None or left is None:
        return "can't tell"
    if kept[0] >= BOUND and left[1] < BOUND:
        return "the skill"
    return "the format" if kept[1] < BOUND or left[0] >= BOUND else "can't tell"


def claims(fits: Sequence[Outcome]) -> Iterator[str]:
    """What each fit sets apart, in a sentence; one for all where there is but one form."""
    if not any("elsewhere" in fit for fit in fits):
        yield (
            "Every prompt of a task stood in one surface form: what is set apart may be the format and not "
            "the skill. Fit more forms (forms=4) to tell."
        )
        return
    for fit in fits:
        if "elsewhere" in fit:
            yield sentence(fit, fit["elsewhere"])


def sentence(fit: Outcome, found: Elsewhere) -> str:
    """The claim that holds, with both shares where fitted and in held-out forms."""
    what = {
        "the skill": "What is set apart is the skill, not the format",
        "the format": "What is set apart is the format, not the skill",
        "can't tell": "Whether the skill or the format is set apart can't be told",
    }[found["holds_for"]]
    which = f"{', '.join(fit['retain'])} without {', '.join(fit['forget'])}, pushed {fit['push']}"
    kept = f"{_share(found['kept'])}{_between(found['kept_interval'])}"
    left = f"{_share(found['left'])}{_between(found['left_interval'])}"
    return (
        f"{what} ({which}): in forms never fitted {kept} is left of what is retained and {left} of what is "
        f"forgotten, in the forms fitted {_share(fit['kept'])} and {_share(fit['left'])}; the skill asks for "
        f"{BOUND:.0%} or more and for less."
    )


def _mean(shares: Float[np.ndarray, " seed"]) -> float | None:
    known = shares[np.isfinite(shares)]
    return float(known.mean()) if len(known) else None


def _share(value: float | None) -> str:
    return "no number" if value is None else f"{value:.0%}"


def _between(found: Interval | None) -> str:
    return "" if found is None else f" ({found[0]:.0%} to {found[1]:.0%})"
