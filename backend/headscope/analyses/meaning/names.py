"""From tests to names: which a head has, which comes first, what contradicts what.

1. A head has the name of every test that it passes.
2. Its first name, for the map, is the most specific: what it causes before where it looks, where it looks
   before what it copies.
3. A head without a name is ``unknown``; only where runs of all kinds are there is it ``none``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Bool, UInt8

from headscope.analyses.meaning.evidence import Evidence, Tested


@dataclass(frozen=True)
class Family:
    """Names of one kind: as the legend says it, and the letter in a cell."""

    key: str
    title: str
    letter: str


FAMILIES: Final = (
    Family("function_vector", "function vector", "F"),
    Family("symbol_abstraction", "symbol abstraction", "Y"),
    Family("symbolic_induction", "symbolic induction", "N"),
    Family("retrieval", "retrieval", "R"),
    Family("induction", "induction", "I"),
    Family("previous", "previous token", "P"),
    Family("duplicate", "duplicate", "D"),
    Family("anti_copying", "anti-copying", "A"),
    Family("copying", "copying", "C"),
    Family("sink", "sink", "S"),
)
"""The most specific first. ``sink`` was a name in results of version 1."""

UNKNOWN, NONE = 254, 255
"""Codes of a head without a name, among indices of ``FAMILIES``."""

_LOOKS: Final = ("induction", "previous", "duplicate")
_CAUSES: Final = ("function_vector", "symbol_abstraction", "symbolic_induction", "retrieval")


def family(key: str) -> int:
    """Index of the family that a test's key belongs to."""
    return next(i for i, each in enumerate(FAMILIES) if each.key == key.split(":")[0])


def first_names(found: Evidence) -> UInt8[np.ndarray, "layer head"]:
    """A family's index for each head, ``UNKNOWN`` or ``NONE``."""
    shape = found.tested[0].score.shape
    codes = np.full(shape, NONE if found.complete else UNKNOWN, np.uint8)
    for each in sorted(found.tested, key=lambda one: -family(one.test.key)):
        codes[each.passed] = family(each.test.key)
    untested = np.all([~np.isfinite(each.score) for each in found.tested], axis=0)
    codes[untested] = UNKNOWN
    return codes


def names_of(found: Evidence, head: tuple[int, int]) -> list[Tested]:
    """The tests that a head passes, the most specific name first."""
    passed = [each for each in found.tested if each.passed[head]]
    return sorted(passed, key=lambda each: family(each.test.key))


def conflicts(
    found: Evidence, gated: Mapping[str, Bool[np.ndarray, "layer head"]], task: str
) -> list[dict[str, str]]:
    """What doesn't fit together, head by head: ``head``, ``kind``, ``text``.

    ``gated`` holds heads by role (``always_irrelevant`` is read), of the gating run's ``task``.
    """
    shape = found.tested[0].score.shape
    told = []
    for layer, head in np.ndindex(*shape):
        for kind, text in _of(found, (layer, head), gated, task):
            told.append({"head": f"{layer}.{head}", "kind": kind, "text": text})
    return told


def _of(
    found: Evidence, head: tuple[int, int], gated: Mapping[str, Bool[np.ndarray, "layer head"]], task: str
) -> Iterator[tuple[str, str]]:
    passed = {each.test.key: each for each in found.tested if each.passed[head]}
    looks = [passed[key] for key in _LOOKS if key in passed]
    if len(looks) > 1:
        where = " and ".join(f"{each.test.name} ({each.score[head]:.2f})" for each in looks)
        yield "looks-twice", f"Passes for {where}: it does one at some tokens and the other at others."
    copying = next((each for each in found.tested if each.test.key == "copying"), None)
    if "induction" in passed and copying is not None and copying.score[head] <= 0:
        yield (
            "does-not-copy",
            f"Looks like an induction head ({passed['induction'].score[head]:.2f}), but its OV circuit "
            f"doesn't copy (positivity {copying.score[head]:.2f}).",
        )
    causes = [each for key, each in passed.items() if key.split(":")[0] in _CAUSES]
    useless = gated.get("always_irrelevant")
    if useless is not None and useless[head]:
        for each in causes:
            if each.test.key == f"function_vector:{task}":
                yield (
                    "not-needed",
                    f"Is {each.test.name}, but matters in no seed of the gating run on that task.",
                )
