"""Look-ups in a model's weights that a page waits for."""
