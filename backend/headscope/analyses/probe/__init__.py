"""Probe: whether a task's label can be read off what each head mixed."""
