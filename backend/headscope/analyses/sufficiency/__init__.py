"""Sufficiency: the fewest heads that keep the task, opened from all closed in the order of a gating run."""
