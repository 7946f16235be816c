"""Write the OpenAPI document: ``python -m headscope.web.openapi > frontend/openapi.json``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from headscope.settings import Settings
from headscope.web.app import create_app


def document() -> str:
    """The document as indented JSON; the same for every setting, database and machine."""
    return (
        json.dumps(create_app(Settings(data_dir=Path("unused"))).openapi(), indent=2, ensure_ascii=False)
        + "\n"
    )


if __name__ == "__main__":
    sys.stdout.write(document())
