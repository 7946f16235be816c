"""Heads on someone's own prompt, an endpoint a module.

Each module has a ``plan``: it checks what was asked for and says what the device will do and how much memory
that takes. Whoever asks for the impossible is told so without waiting for the device.
"""
