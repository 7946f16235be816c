"""The HTTP face. Loads no torch."""
