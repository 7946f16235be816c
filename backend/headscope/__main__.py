"""``python -m headscope`` is ``headscope``."""

from headscope.cli import app

app()
