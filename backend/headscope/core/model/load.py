"""A model folder into memory."""

from __future__ import annotations

from pathlib import Path

from headscope.core.model.head_model import HeadModel


def load_model(
    folder: Path, *, name: str, dtype: str = "float32", device: str = "auto", attention: str = "sdpa"
) -> HeadModel:
    """Load a model folder (config.json, *.safetensors, tokenizer.json). See models/ for where they come from.

    ``device`` auto takes a CUDA device if there is one. ``attention`` sdpa is fused; soft caps make it eager.
    Patterns always come from an eager pass, which their capture switches on.

    Raises NotFound without the folder, Invalid for damaged files and architectures that can't be gated.
    """
    # Torch and TransformerLens load here, so that this module's types cost a web process nothing.
    from headscope.core.model.bridge import load

    return load(folder, name=name, dtype=dtype, device=device, attention=attention)
