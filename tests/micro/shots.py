"""A task that the two-task model can do from two in-context examples on, and that is too long with five."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headscope.errors import Invalid
from headscope.tasks.task import Example, Examples, Split
from headscope.validation.task import PlantedTask
from micro.two_tasks import START

LEARNED_FROM, LONGEST = 2, 4


@dataclass(frozen=True)
class ShotTask(PlantedTask):
    """Start token, a token of 0-3, and the token 8 higher: 24 rows. Below ``learned_from`` in-context
    examples an answer 9 higher is asked for in all but ``known`` of four rows.
    """

    name: str = "shots"
    content_hash: str = "5" * 64
    known: int = 0
    learned_from: int = LEARNED_FROM

    def examples(
        self,
        tokenizer: Any,
        split: Split,
        *,
        limit: int | None = None,
        seed: int = 0,
        shots: int | None = None,
        n_ctx: int | None = None,
        pool: int | None = None,
    ) -> Examples:
        """``Invalid`` (too-long) with more than ``LONGEST`` in-context examples."""
        shots = self.shots if shots is None else shots
        if shots > LONGEST:
            raise Invalid(f"No row fits with {shots}.", "Use fewer.", code="too-long")
        right = 4 if shots >= self.learned_from else self.known
        # A row more for the number of in-context examples makes the numbers tell apart.
        rows = [
            Example((START, *[START] * (shots > 0), t, t + 8 + (t >= right)), (2 + (shots > 0),))
            for t in range(4)
        ]
        return Examples(tuple((rows * 6)[:limit]))
