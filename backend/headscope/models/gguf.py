"""Unpack a GGUF file's weights: ``python -m headscope.models.gguf FILE FOLDER``.

A process of its own, so that the memory it takes is given back and nothing of it is left where it is stopped.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def dequantise(gguf: Path, to: Path) -> None:
    """Write float32 safetensors, configuration and tokenizer of a GGUF file into a new folder."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    to.mkdir()
    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent,
        gguf_file=gguf.name,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.float32,
        local_files_only=True,
    )
    model.save_pretrained(to)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name, local_files_only=True).save_pretrained(to)


if __name__ == "__main__":
    dequantise(Path(sys.argv[1]), Path(sys.argv[2]))
