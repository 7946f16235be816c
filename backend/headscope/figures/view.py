"""How a result is looked at: a threshold and a mode, never a refit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from headscope.errors import Invalid
from headscope.figures.theme import Palette, palette

Mode = Literal["every", "always", "any"]
"""Stripes for every seed; only what holds in all of them; what holds in at least one."""


@dataclass(frozen=True)
class View:
    """What a figure function needs beside the result."""

    threshold: float
    mode: Mode
    colours: Palette


def view(threshold: float = 0.5, mode: str = "every", theme: str = "light") -> View:
    """Checked: ``Invalid`` for a threshold outside (0, 1], an unknown mode or theme."""
    if not 0 < threshold <= 1:
        raise Invalid(
            f"A threshold of {threshold} tells no heads apart.",
            "Use a threshold above 0 and up to 1.",
            code="bad-threshold",
        )
    for known in get_args(Mode):
        if known == mode:
            return View(threshold, known, palette(theme))
    raise Invalid(f"There is no mode {mode!r}.", "Use every, always or any.", code="unknown-mode")
