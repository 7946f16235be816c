"""A run's few numbers: computed when it ends, told with their words and units wherever it is listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headscope.analyses import ANALYSES
from headscope.analyses.base import Quantity, Unit


@dataclass(frozen=True)
class HeadlineValue:
    """One number, or a head, pair or words; ``value`` None where it isn't known."""

    name: str
    label: str
    value: Any
    unit: Unit


def current(analysis: str, stored: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A stored headline by the names of today."""
    known = ANALYSES.get(analysis)
    return known.retell(stored) if known and stored is not None else stored


def told(analysis: str, stored: Mapping[str, Any] | None) -> tuple[HeadlineValue, ...]:
    """A stored headline in words. A name that the analysis doesn't know says itself."""
    known = ANALYSES.get(analysis)
    quantities = known.quantities if known else {}
    found = []
    for name, value in (current(analysis, stored) or {}).items():
        quantity = quantities.get(name) or Quantity(name.replace("_", " ").capitalize())
        found.append(HeadlineValue(name, quantity.label, value, quantity.unit))
    return tuple(found)
