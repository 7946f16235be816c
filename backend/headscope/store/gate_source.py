"""Gates from wherever someone has them: a file, or the database by their id."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headscope.core.gating.gate_file import read_gates
from headscope.core.gating.gate_vector import GateVector, gate_vector
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid, NotFound
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.store import gates
from headscope.store.opening import opened


def from_file(
    filename: str,
    content: bytes,
    info_of: Callable[[str], ModelInfo],
    *,
    name: str = "",
    model: str = "",
    insist: bool = True,
) -> GateVector:
    """The gates in a file, checked against their model; ``name`` and ``model`` win over the file's words.

    Without ``insist`` a ``model`` other than the file's own is refused. ``info_of`` knows models by name.
    Raises ``Invalid`` (no-model) where nobody says whose they are, (other-model) where the file names another
    model or other weights of it than those here, and what reading and checking raise.
    """
    found = read_gates(filename, content)
    wanted = model or found.model
    if not wanted:
        raise Invalid(
            f"{filename} doesn't say whose gates these are.",
            "Name the model as well.",
            code="no-model",
            remedies={"command": "Name it with --model."},
        )
    if found.model and found.model != wanted and not insist:
        raise Invalid(
            f"The gates in {filename} are of {found.model}, not of {wanted}.",
            f"Name {found.model}, or remove `model` from the file if they are meant for {wanted}.",
            code="other-model",
            remedies={"page": f"Look at {found.model} to use them."},
        )
    info = info_of(wanted)
    called = name or found.name or Path(filename).stem
    try:
        vector = gate_vector(
            called, info, found.gates, found.origin or "from a file", found.ablation or "zero"
        )
    except Invalid as error:
        raise error.about(filename) from error
    if found.revision and found.model == info.name and found.revision != info.revision:
        raise Invalid(
            f"The gates in {filename} belong to other weights of {info.name} than those here.",
            "Remove `revision` from the file if they are meant for these.",
            code="other-model",
        )
    return vector


def load_gates(source: str | Path, *, model: str = "", settings: Settings | None = None) -> GateVector:
    """Gates [layer, head] to use in Python: from a file of theirs, or by the id of kept ones.

    ``model`` names the model for a file that doesn't (CSV); ``settings`` say which database and models, those
    of the environment where unset. Raises ``NotFound`` where there is neither file nor id, ``Invalid`` for a
    file that can't be read or gates that don't fit the model.
    """
    settings = settings or Settings()
    path = Path(source)
    if path.is_file():
        return from_file(path.name, path.read_bytes(), Catalogue(settings).info, model=model)
    if path.suffix:
        raise NotFound(
            f"There is no file {path}.", "Name a .json, .csv, .tsv or .safetensors file.", code="no-file"
        )
    with opened(settings) as store, store.session() as session:
        return gates.load(session, str(source))
