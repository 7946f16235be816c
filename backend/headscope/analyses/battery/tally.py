"""Mean, spread, count and the strongest prompts of every head, kept up block by block.

Blocks are joined by Chan's update of means and sums of squares, so that no block's prompts need be kept and
the order of joining changes nothing but rounding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from jaxtyping import Float, Float64, Int32

from headscope.analyses.base import Arrays
from headscope.analyses.columns import quietly

TOP = 3
"""Prompts that are kept for each head and score."""


@dataclass(frozen=True)
class Tally:
    """[score, layer, head]; ``squares`` is the sum of squared differences to the mean. NaN counts nowhere.

    ``top`` are the prompts with the highest values, the highest first, -1 (and NaN) where there are fewer.
    """

    count: Float64[np.ndarray, "score layer head"]
    mean: Float64[np.ndarray, "score layer head"]
    squares: Float64[np.ndarray, "score layer head"]
    top: Int32[np.ndarray, "score layer head 3"]
    top_value: Float64[np.ndarray, "score layer head 3"]

    @classmethod
    def of(cls, values: Float[np.ndarray, "prompt score layer head"], first: int) -> Tally:
        """Of a block of prompts that are numbered from ``first``."""
        wide = values.astype(np.float64)
        known = np.isfinite(wide)
        count = known.sum(axis=0).astype(np.float64)
        mean = np.where(count > 0, quietly(np.nanmean, wide, axis=0), 0.0)
        squares = np.where(known, (wide - mean) ** 2, 0.0).sum(axis=0)
        numbers = np.broadcast_to(np.arange(first, first + len(wide))[:, None, None, None], wide.shape)
        return cls(count, mean, squares, *_highest(np.moveaxis(numbers, 0, -1), np.moveaxis(wide, 0, -1)))

    @classmethod
    def joined(cls, tallies: Iterable[Tally]) -> Tally:
        """Of all blocks together, in their order."""
        return reduce(cls._with, tallies)

    @classmethod
    def from_arrays(cls, arrays: Arrays, prefix: str = "") -> Tally:
        """The inverse of ``arrays``."""
        return cls(**{name: arrays[f"{prefix}{name}"] for name in cls.__dataclass_fields__})

    def arrays(self, prefix: str = "") -> dict[str, np.ndarray]:
        """By name, as a piece keeps them."""
        return {f"{prefix}{name}": getattr(self, name) for name in self.__dataclass_fields__}

    def spread(self) -> Float64[np.ndarray, "score layer head"]:
        """Standard deviation over prompts with n - 1; NaN below two."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.count > 1, np.sqrt(self.squares / (self.count - 1)), np.nan)

    def means(self) -> Float64[np.ndarray, "score layer head"]:
        """NaN where no prompt gave a value."""
        return np.where(self.count > 0, self.mean, np.nan)

    def _with(self, other: Tally) -> Tally:
        count = self.count + other.count
        safe = np.maximum(count, 1.0)
        apart = other.mean - self.mean
        top = np.concatenate([self.top, other.top], axis=-1)
        value = np.concatenate([self.top_value, other.top_value], axis=-1)
        return Tally(
            count,
            self.mean + apart * other.count / safe,
            self.squares + other.squares + apart**2 * self.count * other.count / safe,
            *_highest(top, value),
        )


def _highest(numbers: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ``TOP`` highest along the last axis, and which they are; equal ones in their order."""
    known = np.where(np.isfinite(values), values, -np.inf)
    short = max(0, TOP - values.shape[-1])
    pad = [(0, 0)] * (values.ndim - 1) + [(0, short)]
    known, numbers = np.pad(known, pad, constant_values=-np.inf), np.pad(numbers, pad, constant_values=-1)
    order = np.argsort(-known, axis=-1, kind="stable")[..., :TOP]
    best = np.take_along_axis(known, order, axis=-1)
    which = np.where(np.isfinite(best), np.take_along_axis(numbers, order, axis=-1), -1)
    return which.astype(np.int32), np.where(np.isfinite(best), best, np.nan)
