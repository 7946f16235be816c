"""Induction: what every head does on random tokens that repeat, and what the repeat costs without it."""
