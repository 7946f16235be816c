"""Which heads take over from one that is closed: a head's refits in short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from headscope.analyses.agreement.disagreement import Head
from headscope.analyses.base import Arrays

OPENS: Final = 0.3
"""How far a gate must rise for its head to have taken over."""
_MOST = 3


def summary(head: Head, refits: Sequence[Arrays]) -> dict[str, np.ndarray]:
    """Means over the refits of a head (``refit.refit``).

    ``stand_ins`` [place, (layer, head)] are those whose gate rises enough, the one that rises most first;
    ``shut`` and ``opened`` [place] their gates before and after; ``closing`` and ``refitted`` as there.
    """
    before, after = (np.mean([each[name] for each in refits], axis=0) for name in ("before", "after"))
    rise = np.array(after - before)
    rise[head] = -1
    order = np.argsort(-rise, axis=None, kind="stable")[:_MOST]
    places = [divmod(int(index), rise.shape[1]) for index in order if rise.reshape(-1)[index] >= OPENS]
    return {
        "stand_ins": np.array(places, np.int64).reshape(-1, 2),
        "shut": np.array([before[place] for place in places], float),
        "opened": np.array([after[place] for place in places], float),
        "closing": np.mean([each["closing"] for each in refits], axis=0),
        "refitted": np.mean([each["refitted"] for each in refits], axis=0),
    }
