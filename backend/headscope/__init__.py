"""Headscope: what every attention head of a language model is for."""

__version__ = "0.1.0"
