"""Parameters of ability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from headscope.analyses.base import Params
from headscope.analyses.parameters import Precision, SplitSeed
from headscope.analyses.shots import ROWS, TRIED


def _numbers(given: object) -> object:
    """Also one text with commas between, as on a command line, or a single number."""
    if isinstance(given, str):
        return tuple(number.strip() for number in given.split(",") if number.strip())
    return (given,) if isinstance(given, int) else given


NumbersOfShots = Annotated[
    tuple[Annotated[int, Field(ge=0, le=64)], ...],
    BeforeValidator(_numbers),
    AfterValidator(lambda given: tuple(sorted(set(given)))),
]


class AbilityParams(Params):
    """Which numbers of in-context examples, on how many held-out rows."""

    shots: NumbersOfShots = Field(
        default=TRIED,
        min_length=1,
        max_length=16,
        title="In-context examples",
        description="Numbers of solved examples before each question, with commas between.",
    )
    n_test: int = Field(
        default=ROWS,
        ge=2,
        le=1_000_000,
        title="Held-out examples, at most",
        description="The same rows for each number; each has in-context examples of its own.",
    )
    split_seed: SplitSeed = 0
    dtype: Precision = "float32"


PRESETS: Mapping[str, Mapping[str, Any]] = {"quick": {"n_test": 32}, "full": {"n_test": 256}}
