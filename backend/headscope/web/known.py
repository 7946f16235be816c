"""The list of known models as the API gives it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from headscope.models.known import KNOWN, KnownModel
from headscope.web.schemas import KnownModelOut, KnownModelsOut

_WHY: Final = (
    "Whoever runs the server adds models, on its command line: a page that could download models or read "
    "folders could be made to by others."
)


def known_models_out(memory: int | None, here: Collection[str]) -> KnownModelsOut:
    """All of them; ``memory`` in bytes is what is here, ``here`` the names of models that are."""
    models = [known_model_out(known, memory, known.name in here) for known in KNOWN]
    return KnownModelsOut(models=models, memory_bytes=memory, why=_WHY)


def known_model_out(known: KnownModel, memory: int | None, here: bool) -> KnownModelOut:
    """One of them."""
    return KnownModelOut(
        name=known.name,
        title=known.title,
        summary=known.summary,
        licence=known.licence,
        gated=known.gated,
        n_params=known.n_params,
        n_layers=known.n_layers,
        n_heads=known.n_heads,
        n_kv_heads=known.n_kv_heads,
        n_ctx=known.n_ctx,
        bytes_to_download=known.n_bytes,
        memory_float32=known.memory_bytes("float32"),
        memory_bfloat16=known.memory_bytes("bfloat16"),
        fits=known.fits(memory),
        here=here,
        command=known.command,
    )
