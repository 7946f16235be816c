"""What tells one model folder from another: a hash of all that decides what the model computes.

1. Four parts are hashed: the weights, tensor by tensor with name, precision and shape, however they are cut
   into files; the configuration; the tokenizer with its BOS policy; the tokens that end a text.
2. A record (``headscope.json``) may give the parts another revision: that which was written down when the
   weights alone were hashed. It holds as long as every part is the recorded one.
3. Each part is hashed once a process and state of the files. A record also knows the state in which it was
   written, so that large files that nobody touched since aren't read again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from headscope.core.model.folder import end_tokens, headscope_json, read_config, sha256
from headscope.core.model.tokens import Tokenizer
from headscope.core.model.weight_files import stored, weight_files

State = tuple[tuple[str, int, int, int, int], ...]
"""Name, size, times of change of content and of the file's entry, and number of each file."""

_NOT_CONTENT = ("_name_or_path", "_commit_hash", "transformers_version", "torchscript")
"""What says where a configuration came from, not what it computes."""

_BLOCK = 2**22


def revision(folder: Path) -> str:
    """16 hex digits: the record's while its parts are those of the files, else a hash of the parts.

    Raises NotFound without the folder, Invalid where a file is damaged.
    """
    return _revision(folder.absolute(), state(folder))


def state(folder: Path) -> State:
    """Changes whenever one of the folder's files is written or replaced, also by one of the same size."""
    files = sorted(folder.iterdir()) if folder.is_dir() else ()
    return tuple(_entry(file) for file in files if file.is_file())


def parts(folder: Path) -> dict[str, str]:
    """SHA-256 of what the revision covers: weights, config, tokenizer, ends."""
    config = {("dtype" if k == "torch_dtype" else k): v for k, v in read_config(folder).items()}
    content = {name: value for name, value in config.items() if name not in _NOT_CONTENT}
    has_tokenizer = (folder / "tokenizer.json").is_file()
    return {
        "weights": _weights(folder),
        "config": _digest(content),
        "tokenizer": Tokenizer.from_folder(folder).hash if has_tokenizer else "",
        "ends": _digest(sorted(end_tokens(folder))),
    }


def recorded(folder: Path) -> dict[str, Any]:
    """What a record keeps so that its revision can be held against the files later."""
    return {"parts": parts(folder), "state": _large(folder)}


def revision_of_files(folder: Path) -> str:
    """The revision as it was before it covered more than the weights: of the files, in their order."""
    return _of_files(tuple(sorted(folder.absolute().glob("*.safetensors"))), state(folder))


def _large(folder: Path) -> dict[str, list[int]]:
    """The state of the weight files, as JSON gives it back."""
    return {name: numbers for name, *numbers in map(_entry, weight_files(folder))}


def _entry(file: Path) -> tuple[str, int, int, int, int]:
    found = file.stat()
    return file.name, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


@lru_cache(maxsize=64)
def _revision(folder: Path, _: State) -> str:
    record = headscope_json(folder)
    known = record.get("revision")
    if known and "parts" not in record and revision_of_files(folder) == known:
        return str(known)  # written before there were parts
    now = parts(folder)
    return str(known) if known and record.get("parts") == now else _digest(now)[:16]


def _weights(folder: Path) -> str:
    record = headscope_json(folder)
    known = record.get("parts")
    if isinstance(known, Mapping) and record.get("state") == _large(folder):
        return str(known.get("weights"))
    files = tuple(weight_files(folder))
    return _of_tensors(folder.absolute(), tuple(_entry(file) for file in files))


@lru_cache(maxsize=64)
def _of_tensors(folder: Path, _: State) -> str:
    """Over the tensors by name: the same whether they lie in one file or in several."""
    digest = hashlib.sha256()
    for name, tensor in sorted(stored(folder).items()):
        digest.update(f"\n{name} {tensor.dtype} {tensor.shape}\n".encode())
        left = tensor.end - tensor.begin
        with tensor.file.open("rb") as file:
            file.seek(tensor.begin)
            while left:
                block = file.read(min(left, _BLOCK))
                if not block:
                    break
                digest.update(block)
                left -= len(block)
    return digest.hexdigest()


@lru_cache(maxsize=64)
def _of_files(files: tuple[Path, ...], _: State) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(bytes.fromhex(sha256(path)))
    return digest.hexdigest()[:16]


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
