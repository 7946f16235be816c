"""What both sides of the durable engine must call the same."""

from __future__ import annotations

import json
from typing import Any

from dbos import Serializer

APPLICATION = "headscope"
WORKFLOW = "headscope.run"

JOB_FORMAT = "1"
"""Goes up when new code can't resume a started job; workers only take jobs of their own format."""


class JsonSerializer(Serializer):
    """Arguments and answers as JSON. DBOS' own choice is pickle, which would run what a database holds."""

    def serialize(self, data: Any) -> str:
        """Plain JSON; an exception, which only a fault of ours brings here, becomes its text."""
        return json.dumps(data, default=str)

    def deserialize(self, serialized_data: str) -> Any:
        """The inverse."""
        return json.loads(serialized_data)

    def name(self) -> str:
        """What DBOS notes beside each value."""
        return "headscope-json"
