"""Composition: which later heads read what which earlier heads write."""
