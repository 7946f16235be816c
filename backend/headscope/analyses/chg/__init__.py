"""Causal head gating: which heads a task needs, which harm it, which don't matter."""
