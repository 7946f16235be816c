"""A run's few numbers: computed when it ends, told with their words and units wherever it is listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headscope.analyses import ANALYSES
from headscope.analyses.base import Quantity, Unit


@dataclass(frozen=True)
class HeadlineValue:
    """One number, or a head, pair or words; ``value`` None where it isn't known, ``low`` and ``high`` the
    ends of its 95 % interval where it has one.
    """

    name: str
    label: str
    value: Any
    unit: Unit
    low: float | None = None
    high: float | None = None


def current(analysis: str, stored: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A stored headline by the names of today."""
    known = ANALYSES.get(analysis)
    return known.retell(stored) if known and stored is not None else stored


def told(analysis: str, stored: Mapping[str, Any] | None) -> tuple[HeadlineValue, ...]:
    """A stored headline in words. A name that the analysis doesn't know says itself; ends of intervals stand
    with their number.
    """
    known = ANALYSES.get(analysis)
    quantities = known.quantities if known else {}
    found = []
    numbers = current(analysis, stored) or {}
    for name, value in numbers.items():
        if _is_end(name, numbers):
            continue
        quantity = quantities.get(name) or Quantity(name.replace("_", " ").capitalize())
        low, high = (numbers.get(f"{end}_{name}") for end in _ENDS)
        found.append(HeadlineValue(name, quantity.label, value, quantity.unit, low, high))
    return tuple(found)


_ENDS = ("low", "high")


def _is_end(name: str, numbers: Mapping[str, Any]) -> bool:
    """Whether a number is an end of another's interval: ``low_always_needed`` of ``always_needed``."""
    end, _, of = name.partition("_")
    return end in _ENDS and of in numbers
