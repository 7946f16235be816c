"""Whether a model can do a task, from its accuracy on some held-out examples. Loads no torch."""

from __future__ import annotations

from typing import Literal

from headscope.core.statistics.enough import enough

Verdict = Literal["can", "weak", "cannot", "too-few"]


def judge(accuracy: float, chance: float, n: int) -> Verdict:
    """``too-few``: examples to tell; ``cannot``: within two standard errors of guessing; ``can``: half way
    from guessing to perfect.

    ``chance`` is what always guessing the same gets of ``n`` examples; all three in [0, 1] but ``n``.
    """
    if not enough(n):
        return "too-few"
    spread = 2 * (max(chance * (1 - chance), 1 / (4 * n)) / n) ** 0.5
    if accuracy <= chance + spread:
        return "cannot"
    return "can" if accuracy >= (1 + chance) / 2 else "weak"
