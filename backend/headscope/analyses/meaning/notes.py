"""What a run of meaning says in sentences: how many heads got a name, why others didn't, what lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, UInt8

from headscope.analyses.base import Spec
from headscope.analyses.meaning.evidence import RATE, Evidence
from headscope.analyses.meaning.roles import SIGNIFICANT
from headscope.analyses.meaning.schema import MeaningParams

_RUNS = {
    "induction": "induction",
    "eigen": "eigenvalues",
    "rules": "abstract rules",
    "functions": "function vectors",
}
"""What runs of evidence are called, by parameter."""


def notes(
    spec: Spec[MeaningParams],
    found: Evidence,
    n_names: UInt8[np.ndarray, "layer head"],
    always: Bool[np.ndarray, "layer head"] | None,
    kept: Mapping[str, Any],
) -> Iterator[str]:
    """``always`` are the heads that the gating run always needs, ``kept`` the arrays of the piece."""
    named = int((n_names > 0).sum())
    yield (
        f"{named} of {n_names.size} heads have a name that passes its test (false-discovery rate {RATE:g} "
        f"over the heads), {n_names.size - named} have none."
    )
    yield from _resting(kept["resting"], spec.params)
    if not found.complete:
        missing = [words for name, words in _RUNS.items() if name not in found.sources]
        yield (
            f"No run of {', '.join(missing)} was given: a head without a name is unknown, "
            "not without a function."
        )
    for each in found.tested:
        if each.q is not None and not np.isfinite(each.q).any() and each.test.how:
            yield f"{each.test.name}: there is no error to test by, so that no head has the name."
        close = int(each.close.sum())
        if close:
            heads = "1 head lies" if close == 1 else f"{close} heads lie"
            yield f"{each.test.name}: {heads} within two standard errors of the threshold."
    if always is not None:
        unnamed = int((always & (n_names == 0)).sum())
        if unnamed:
            yield f"{unnamed} of the {int(always.sum())} heads that are always needed have no name."
    if "cross_corrected" in kept:
        yield from _ties(kept["cross_corrected"], kept["cross_least"])


def _resting(resting: Float[np.ndarray, "layer head"], params: MeaningParams) -> Iterator[str]:
    """Attending the first token is what heads do that have nothing to do: it names none."""
    there = int((resting >= params.sink).sum())
    if not there:
        return
    bare = int((1 - resting < params.remaining).sum())
    text = (
        f"{there} heads give {100 * params.sink:.0f} % of their attention or more to the first token of "
        "random text. That is no name: what they do with the rest is"
    )
    if bare:
        least = f"{100 * params.remaining:.0f} %"
        text += f", except for {bare} that keep less than {least}, too little to be named by"
    yield text + "."


def _ties(corrected: Float[np.ndarray, "role test"], least: Float[np.ndarray, "role test"]) -> Iterator[str]:
    tested = int(np.isfinite(corrected).sum())
    if not tested or (corrected < SIGNIFICANT).any():
        return
    able = int((least < SIGNIFICANT).sum())
    yield (
        f"No role goes together with a name beyond chance. Of {tested} cells of role and name, {able} have "
        f"heads enough for a p below {SIGNIFICANT:g} before any correction: names of one or two heads can't "
        "tell."
    )
