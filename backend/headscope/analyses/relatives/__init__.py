"""Relatives: what every head is worth to a task by cheaper measures than causal head gating."""
