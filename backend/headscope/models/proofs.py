"""What was proved of models: made on the first load of weights in a precision, kept in the data folder.

A proof belongs to a revision, a dtype, a version of Headscope and the transformers that was the plain model:
where one of them is another, it is made anew. Loads no torch but to prove.
"""

from __future__ import annotations

import importlib.metadata
import json
import logging
import os
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from headscope import __version__
from headscope.core.model.capabilities import VERSION, Proof
from headscope.core.model.info import ModelInfo

if TYPE_CHECKING:
    from headscope.core.model.bridge import BridgedModel
    from headscope.core.model.head_model import HeadModel

log = logging.getLogger(__name__)


class Proofs:
    """The proofs that a folder keeps, a file each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, info: ModelInfo) -> Proof | None:
        """What was proved of these very weights; None where nothing was yet, or by another version."""
        try:
            stored = json.loads(self._path(info.revision, info.dtype).read_text(encoding="utf-8"))
            proof = Proof.from_json(stored)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if (proof.revision, proof.dtype) != (info.revision, info.dtype):
            return None
        if (proof.version, proof.code_version) != (VERSION, __version__):
            return None
        if _library() not in ("", proof.library):
            return None
        return replace(proof, model=info.name)

    def prove(self, model: HeadModel) -> Proof:
        """Check a model now, whatever is kept, and keep what is found."""
        from headscope.core.proof import prove

        bridged = _bridged(model)
        bridged.proof = proof = prove(bridged)
        self.put(proof)
        return proof

    def of(self, model: HeadModel) -> Proof:
        """What was proved of a loaded model; made now where nothing was."""
        return self.get(model.info) or self.prove(model)

    def load(self, folder: Path, *, name: str, dtype: str, device: str, attention: str) -> HeadModel:
        """Load a folder, with its proof: the one that is kept, or one made now. Raises what loading does."""
        from headscope.core.model.load import load_model

        model = load_model(folder, name=name, dtype=dtype, device=device, attention=attention)
        _bridged(model).proof = self.of(model)
        return model

    def put(self, proof: Proof) -> None:
        """Keep a proof, in place of an earlier one; where it can't be written, it is made anew next time."""
        path = self._path(proof.revision, proof.dtype)
        temporary = path.with_suffix(f".{os.getpid()}.part")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(proof.to_json(), indent=1), encoding="utf-8")
            temporary.replace(path)
        except OSError as error:
            log.warning("What was proved of %s can't be kept: %s", proof.model, error)

    def _path(self, revision: str, dtype: str) -> Path:
        return self._folder / f"{re.sub(r'[^A-Za-z0-9._-]', '-', revision)}-{dtype}.json"


def _bridged(model: HeadModel) -> BridgedModel:
    from headscope.core.model.bridge import BridgedModel

    assert isinstance(model, BridgedModel)  # noqa: S101 - the one kind that is loaded from folders
    return model


@cache
def _library() -> str:
    """The version of transformers here; empty where pages are served without it."""
    try:
        return importlib.metadata.version("transformers")
    except importlib.metadata.PackageNotFoundError:
        return ""
