"""From a path as people give it to what it means: a model folder, or a GGUF file.

A path may name the folder itself; a model in the hub's own cache (``models--org--name``, whose snapshots are
links into its blobs); a folder around one model; or a GGUF file, or a folder that holds nothing but one.
"""

from __future__ import annotations

from pathlib import Path

from headscope.errors import Invalid


def located(path: Path) -> Path:
    """The model folder or the GGUF file that a path means; the path itself where it means neither.

    Raises Invalid (several-models) where it could mean several.
    """
    path = path.expanduser().resolve()
    if not path.is_dir() or (path / "config.json").is_file():
        return path
    if (path / "snapshots").is_dir():
        return _snapshot(path)
    inside = [folder for folder in sorted(path.iterdir()) if (folder / "config.json").is_file()]
    files = sorted(path.glob("*.gguf"))
    found = inside or files
    if len(found) > 1:
        raise Invalid(
            f"{path} holds several models: {', '.join(one.name for one in found[:5])}.",
            "Name one of them.",
            code="several-models",
        )
    return found[0] if found else path


def is_gguf(path: Path) -> bool:
    """Whether the path is a GGUF file."""
    return path.suffix == ".gguf" and path.is_file()


def _snapshot(cache: Path) -> Path:
    """The snapshot that the hub's main branch means, else the only one."""
    main = cache / "refs" / "main"
    if main.is_file():
        named = cache / "snapshots" / main.read_text(encoding="utf-8").strip()
        if named.is_dir():
            return named.resolve()
    snapshots = [folder for folder in sorted((cache / "snapshots").iterdir()) if folder.is_dir()]
    if len(snapshots) != 1:
        raise Invalid(
            f"{cache} holds {len(snapshots)} snapshots and doesn't say which is the main one.",
            f"Name one: {cache / 'snapshots'}/...",
            code="several-models",
        )
    return snapshots[0].resolve()
