"""How types are checked while tests run: by beartype, with numbers as mypy has them (an int is a float)."""

from __future__ import annotations

from beartype import BeartypeConf, beartype
from jaxtyping import install_import_hook

typechecker = beartype(conf=BeartypeConf(is_pep484_tower=True))


def check_shapes() -> None:
    """Check shapes and types in the mathematics' signatures at every call; before it is imported."""
    install_import_hook(["headscope.core", "headscope.analyses"], f"{__name__}.typechecker")
