"""Gates that a contrastive run gives, to try on a prompt: of each fit, whole and rounded to open or shut."""

from __future__ import annotations

import numpy as np

from headscope.analyses.cchg.result import CchgResult
from headscope.analyses.chg.gates import OPEN_FROM
from headscope.analyses.offered_gates import AskedGates, GatePreset
from headscope.errors import NotFound, Refused


def offered(result: CchgResult, asked: AskedGates) -> list[GatePreset]:
    """The gates of one seed, or of the mean over those that finished.

    Raises ``Refused`` (no-gates) where no fit finished, ``NotFound`` (unknown-seed).
    """
    found: list[GatePreset] = []
    pushes = {fit["push"] for fit in result.fits}
    for fit in result.fits:
        gates, of = _one(result, fit["key"], asked.seed)
        if gates is None:
            continue
        words = f"{', '.join(fit['retain'])} without {', '.join(fit['forget'])}"
        name = fit["key"].replace("_", "-")
        pushed = f"pushed {fit['push']}"
        if len(pushes) > 1:
            words += f", {pushed}"
        found += [
            GatePreset(name, words, f"The gates, {pushed}{of}.", gates),
            GatePreset(
                f"{name}-rounded",
                f"{words}, rounded",
                f"Open from {OPEN_FROM:g} on, else shut; {pushed}{of}.",
                (gates >= OPEN_FROM).astype(np.float32),
            ),
        ]
    if not found:
        raise Refused("No fit of this run finished.", "Choose another run.", code="no-gates")
    return found


def _one(result: CchgResult, key: str, seed: int | None) -> tuple[np.ndarray | None, str]:
    """The gates [layer, head] of a fit, and how the words go on; None where no seed of it finished."""
    stack = result.g[key]
    ran = np.array([np.isfinite(gates).all() for gates in stack])
    if seed is None:
        if not ran.any():
            return None, ""
        mean = stack[ran].mean(axis=0, dtype=np.float64).astype(np.float32)
        return mean, f", on average over {int(ran.sum())} seeds" if ran.sum() > 1 else ""
    seeds = [s for s, ended in zip(result.seeds, ran.tolist(), strict=True) if ended]
    if seed not in seeds:
        raise NotFound(
            f"The run has no fit of seed {seed} that finished.",
            f"Its seeds are {', '.join(map(str, seeds))}.",
            code="unknown-seed",
        )
    return np.asarray(stack[list(result.seeds).index(seed)], np.float32), f", seed {seed}"
