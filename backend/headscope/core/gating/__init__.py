"""Causal head gating: fits, roles, gates as something to keep, and models under gates."""
