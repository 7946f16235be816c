"""Results as they are stored, read back into the classes of their analyses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headscope.analyses import ANALYSES
from headscope.analyses.result import Result


def read(content: Mapping[str, Any]) -> Result:
    """A result from its JSON, of its analysis' own class; a plain ``Result`` where the analysis is unknown.

    ``Invalid`` (malformed-result) where something is missing or has another shape than the class says.
    """
    known = ANALYSES.get(str(content.get("analysis")))
    return (known.result if known else Result).from_json(content)
