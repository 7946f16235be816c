"""Heads on someone's own prompt, an endpoint a module.

Each module has a ``plan``: it checks what was asked for and says what the device will do and how much memory
that takes. An impossible request is refused without waiting for the device.
"""
