"""Circuits from weights [A Mathematical Framework for Transformer Circuits, 2021]: one file an idea."""
