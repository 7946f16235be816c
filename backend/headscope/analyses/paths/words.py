"""Words for where a path starts; in the order of ``core.circuits.frozen.SOURCES``."""

from __future__ import annotations

SOURCE_WORDS = ("token", "position", "bias")
