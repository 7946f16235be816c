"""Sequential ablation: heads removed one after another, in the order of a gating run's scores."""
