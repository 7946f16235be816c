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
    head: tuple[int, int] | None = None
    """The (layer, head) that a figure about one head shows; its own choice where None."""


def view(threshold: float = 0.5, mode: str = "every", theme: str = "light", head: str | None = None) -> View:
    """Checked: ``Invalid`` for a threshold outside (0, 1], an unknown mode or theme, a head not like 1.5."""
    if not 0 < threshold <= 1:
        raise Invalid(
            f"A threshold of {threshold} tells no heads apart.",
            "Use a threshold above 0 and up to 1.",
            code="bad-threshold",
        )
    for known in get_args(Mode):
        if known == mode:
            return View(threshold, known, palette(theme), _head(head))
    raise Invalid(f"There is no mode {mode!r}.", "Use every, always or any.", code="unknown-mode")


def _head(words: str | None) -> tuple[int, int] | None:
    if words is None:
        return None
    layer, _, head = words.partition(".")
    if not (layer.isascii() and layer.isdigit() and head.isascii() and head.isdigit()):
        raise Invalid(f"{words[:20]!r} is no head.", "Name layer and head, e.g. 1.5.", code="no-head")
    return int(layer), int(head)
