"""What the paper reports of Llama models: reference rows that stand beside runs and enter no statistic.

Nam et al., *Causal Head Gating*, NeurIPS 2025 (arXiv 2505.13737), table 2: the share of heads, in percent,
that is facilitating or interfering in all of 10 seeds (Always) and in at least one (Any), at a threshold of
0.5. The paper's schedule is 500 updates a phase of 64 examples; its tasks are its own, not the built-in ones.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "Nam et al. 2025, table 2 (arXiv 2505.13737)"
SEEDS, THRESHOLD = 10, 0.5
BRIEFLY = "Nam et al. 2025, Llama models, 10 seeds"
CAUTION = (
    "Published rows are the paper’s: Llama models, its own tasks, 10 seeds, 500 updates a phase, threshold "
    "0.5. They show what is usual; none of the numbers here is computed from them."
)


@dataclass(frozen=True)
class Published:
    """One model on one task; percentages of heads. The paper's irrelevant shares are not given here."""

    model: str
    task: str
    always_needed: float
    always_harmful: float
    any_needed: float
    any_harmful: float


LLAMA = (
    Published("Llama-3.2-1B", "syntax", 1.2, 0.2, 72.1, 57.2),
    Published("Llama-3.2-1B", "common sense", 3.9, 0.0, 56.6, 41.0),
    Published("Llama-3.2-1B", "math", 38.3, 0.4, 81.1, 26.0),
    Published("Llama-3.2-3B", "syntax", 1.5, 0.1, 67.9, 51.3),
    Published("Llama-3.2-3B", "common sense", 4.5, 0.0, 75.4, 52.4),
    Published("Llama-3.2-3B", "math", 24.6, 1.3, 75.1, 13.8),
    Published("Llama-3.2-3B-Instruct", "syntax", 0.7, 0.0, 72.8, 56.1),
    Published("Llama-3.2-3B-Instruct", "common sense", 3.0, 0.0, 68.2, 55.7),
    Published("Llama-3.2-3B-Instruct", "math", 18.3, 0.1, 74.4, 47.2),
    Published("Llama-3.1-8B", "syntax", 1.4, 0.0, 68.5, 59.2),
    Published("Llama-3.1-8B", "common sense", 18.7, 0.6, 60.3, 22.2),
    Published("Llama-3.1-8B", "math", 25.3, 1.0, 75.0, 21.2),
)
