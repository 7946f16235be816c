"""Which heads take over from one that is closed: a head's refits in short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from headscope.analyses.agreement.disagreement import Head
from headscope.analyses.base import Arrays

OPENS: Final = 0.3
"""How far a gate must rise for its head to have opened."""
_RELIEVES = 0.25
"""The share of the cost that a backup head's opening takes away by itself."""
_MOST = 3


def summary(refits: Sequence[Arrays]) -> Arrays:
    """Over the refits of a head (``refit.refit``): what they find on average.

    ``stand_ins`` [place, (layer, head)] are the backup heads: those that open and give relief, most relief
    first; ``relief`` (nats), ``shut`` and ``opened`` (its gates before and after) are theirs, [place];
    ``closing`` and ``refitted`` as there. A head that opens in some of the refits only counts there.
    """
    closing, refitted = (np.mean([each[name] for each in refits], axis=0) for name in ("closing", "refitted"))
    tried = np.stack([each["relief"] for each in refits])
    opened = np.isfinite(tried)
    times = opened.sum(axis=0)
    relief = np.where(times > 0, np.nan_to_num(tried).sum(axis=0) / np.maximum(times, 1), -np.inf)
    order = np.argsort(-relief, axis=None, kind="stable")[:_MOST]
    places: list[Head] = [divmod(int(index), relief.shape[1]) for index in order]
    places = [place for place in places if relief[place] >= max(_RELIEVES * float(closing[0]), 0)]
    return {
        "stand_ins": np.array(places, np.int64).reshape(-1, 2),
        "relief": np.array([relief[place] for place in places], float),
        **{
            word: np.array([_mean(refits, name, opened, place) for place in places], float)
            for word, name in (("shut", "before"), ("opened", "after"))
        },
        "closing": closing,
        "refitted": refitted,
    }


def _mean(refits: Sequence[Arrays], name: str, opened: np.ndarray, place: Head) -> float:
    return float(np.mean([each[name][place] for n, each in enumerate(refits) if opened[n][place]]))
