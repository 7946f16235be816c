"""Whether a model can do a task at all, and with how many in-context examples. Loads no torch.

With a the accuracy of the model as it is on n held-out examples, and c what guessing the most frequent answer
gets of them:

1. The model *can do* the task where a >= ``LEAST`` and the lower end of a's exact interval exceeds c.
2. Elsewhere gates that raise a show what could be made of the heads, not what they do: such a map is a
   *steering map*, and no head of it is called needed or harmful.
3. Of fewer than 20 held-out examples neither is said, whatever the map shows.
4. Of several numbers of in-context examples, the fewest at which a is within ``NEAR`` of its best is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from headscope.core.statistics.enough import enough, too_few
from headscope.core.statistics.intervals import Interval, clopper_pearson

LEAST: Final = 0.5
"""The accuracy below which a model isn't said to do a task."""

NEAR: Final = 0.05
"""An accuracy this close to the best is as good."""


@dataclass(frozen=True)
class Ability:
    """Accuracy without gates in [0, 1] of ``n`` held-out examples, and what guessing gets of them.

    ``n`` and ``chance`` are None where an older result doesn't know them; the bound ``LEAST`` then decides
    alone.
    """

    accuracy: float
    n: int | None
    chance: float | None

    @cached_property
    def interval(self) -> Interval | None:
        """Where the accuracy lies at 95 %; None where ``n`` isn't known."""
        return clopper_pearson(self.accuracy, self.n) if self.n else None

    @property
    def can_do(self) -> bool:
        """Whether the model can do the task; not so where the accuracy is NaN."""
        beyond = self.interval is None or self.chance is None or self.interval[0] > self.chance
        return self.accuracy >= LEAST and beyond

    @property
    def told(self) -> bool:
        """Whether there are held-out examples enough to say that the model can or can't."""
        return enough(self.n)

    @property
    def caution(self) -> str | None:
        """That nothing is said of what it can do, where there are too few examples."""
        return None if self.n is None or self.told else too_few(self.n, "whether the model can do the task")

    @property
    def words(self) -> str:
        """ "answers 22.9 % right (95 %: 15.0 to 32.6 %; chance 2.1 %)"."""
        around = (
            [] if self.interval is None else ["95 %: {:.1f} to {:.1f} %".format(*_percents(self.interval))]
        )
        guessed = "chance isn't known" if self.chance is None else f"chance {100 * self.chance:.1f} %"
        return f"answers {100 * self.accuracy:.1f} % right ({'; '.join([*around, guessed])})"


def fewest(shots: Sequence[int], accuracy: Sequence[float]) -> int:
    """The fewest in-context examples at which the accuracy is within ``NEAR`` of its best."""
    best = float(np.max(accuracy))
    return min(n for n, found in zip(shots, accuracy, strict=True) if found >= best - NEAR - 1e-9)


def _percents(interval: Interval) -> Interval:
    return 100 * interval[0], 100 * interval[1]
