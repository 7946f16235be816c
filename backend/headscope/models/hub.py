"""Models of the Hugging Face hub, by ``org/name``: safetensors, configuration, tokenizer; no pickle, no code.

1. Look: what the hub has, how many bytes, and config.json. A hub that doesn't answer within ``PATIENCE``
   seconds is said so; what can't be used is refused before its weights are downloaded.
2. Download into a folder beside the place where the model shall lie, which it takes when it is whole.

Both run in processes of their own: this one may have been told that the hub is off limits, and a process can
be ended whatever it waits for.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from headscope.core.model.quantised import refuse_quantised
from headscope.core.model.sizes import refuse_kind
from headscope.errors import HeadscopeError, Invalid, NotFound, Refused, Unavailable
from headscope.models.fetch import OnProgress
from headscope.models.placing import disk_full, finish, in_place, record

PATIENCE = 20.0
"""Seconds within which a hub has to answer."""

STALLED = 120.0
"""Seconds without a further byte after which a download is given up."""

_START = 120.0
"""Seconds within which the process that asks has to be up, on a machine that is busy."""

_TOO_LATE = 75

_FILES = (
    *("model*.safetensors", "model.safetensors.index.json", "config.json", "generation_config.json"),
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "LICENSE*", "README.md"),
)
_LEFT_OUT = ("*/*", "*.fp16.safetensors", "*.fp32.safetensors", "*.bf16.safetensors")
_READABLE_8_BIT = ("fp8", "fbgemm_fp8", "compressed-tensors")


@dataclass(frozen=True)
class OnHub:
    """What the hub says of a model: bytes to download, config.json, licence."""

    n_bytes: int
    config: Mapping[str, Any]
    licence: str


def from_hub(name: str, to: Path, on_progress: OnProgress) -> Path:
    """Fetch ``org/name``. Raises what ``look`` does, and Unavailable (disk-full)."""
    on_progress("asking the hub", None, None)
    found = look(name)
    with in_place(to, found.n_bytes) as work:
        _download(name, work, found.n_bytes, on_progress)
        shutil.rmtree(work / "model" / ".cache", ignore_errors=True)
        words = {"name": name, "title": name, "kind": "hub", "source": f"huggingface.co/{name}"}
        words |= {"summary": "From the Hugging Face hub, as published.", "licence": found.licence}
        record(work / "model", words)
        finish(work / "model", to)
    return to


def look(name: str, patience: float = PATIENCE) -> OnHub:
    """Ask the hub for a model, at most ``patience`` seconds long.

    Raises NotFound (unknown-model), Refused (gated-model), Invalid (no-weights, pickled-weights,
    unsupported-architecture, quantised-weights), Unavailable (hub-unreachable).
    """
    words = [sys.executable, "-c", _LOOK, name, json.dumps(_FILES), json.dumps(_LEFT_OUT)]
    words += [str(patience), str(_TOO_LATE)]
    try:
        done = subprocess.run(
            words, env=_environment(), capture_output=True, text=True, check=False, timeout=patience + _START
        )
    except subprocess.TimeoutExpired as error:
        raise _unreachable(name, f"no answer within {patience + _START:g} seconds") from error
    if done.returncode == _TOO_LATE:
        raise _unreachable(name, f"no answer within {patience:g} seconds")
    if done.returncode:
        raise _hub_error(name, done.stderr)
    found = json.loads(done.stdout)
    config = found["config"]
    refuse_kind({**config, **(config.get("text_config") or {}), "architectures": config.get("architectures")})
    if (config.get("quantization_config") or {}).get("quant_method") not in _READABLE_8_BIT:
        refuse_quantised(config, {})
    if not any(file.endswith(".safetensors") for file in found["files"]):
        raise Invalid(
            f"{name} has no safetensors on the hub: its weights may be pickles, which could run code.",
            "Choose a copy that has model.safetensors.",
            code="pickled-weights",
        )
    return OnHub(sum(found["files"].values()), config, found["licence"] or "see its model card")


def _download(name: str, work: Path, n_bytes: int, on_progress: OnProgress) -> None:
    words = [sys.executable, "-c", _SNAPSHOT, name, str(work / "model")]
    words += [json.dumps(_FILES), json.dumps(_LEFT_OUT)]
    with (work / "hub.log").open("w+", encoding="utf-8") as said:
        process = subprocess.Popen(words, env=_environment(), stdout=subprocess.DEVNULL, stderr=said)
        try:
            _watch(process, work, n_bytes, on_progress, said, name)
        finally:
            process.kill()
            process.wait()


def _watch(
    process: subprocess.Popen[bytes], work: Path, n_bytes: int, on_progress: OnProgress,
    said: IO[str], name: str,
) -> None:  # fmt: skip
    """Report bytes until the process ends; raise where it fails, or gets nothing for too long."""
    so_far, since = -1, time.monotonic()
    while process.poll() is None:
        here = _bytes_below(work)
        if here != so_far:
            so_far, since = here, time.monotonic()
            on_progress("downloading from the hub", min(here, n_bytes), n_bytes or None)
        elif time.monotonic() - since > STALLED:
            raise _unreachable(name, f"nothing came for {STALLED:g} seconds")
        time.sleep(0.2)
    if process.returncode:
        said.seek(0)
        output = said.read()
        if "No space left" in output:
            raise disk_full(work.parent, "the download doesn't fit")
        raise _hub_error(name, output)


def _bytes_below(work: Path) -> int:
    total = 0
    for path in work.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:  # renamed when it was whole
            continue
    return total


def _environment() -> dict[str, str]:
    own = {"HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    return {"HF_HUB_ETAG_TIMEOUT": "10", "HF_HUB_DOWNLOAD_TIMEOUT": "20", **os.environ, **own}


def _unreachable(name: str, reason: str) -> Unavailable:
    return Unavailable(
        f"The hub can't be reached for {name}: {reason}.",
        "Check the network, a proxy (HTTPS_PROXY) or a mirror (HF_ENDPOINT), then fetch again; or copy the "
        "model's folder here and run `headscope models add NAME FOLDER`.",
        code="download-failed",
    )


def _hub_error(name: str, output: str) -> HeadscopeError:
    if "GatedRepoError" in output:  # first: it is a kind of RepositoryNotFoundError
        return Refused(
            f"{name} is gated.",
            f"Accept its terms on huggingface.co/{name} and set HF_TOKEN, then fetch again.",
            code="gated-model",
        )
    if "RepositoryNotFoundError" in output:
        return NotFound(
            f"The hub has no model {name}, or it is private.", "Check the name.", code="unknown-model"
        )
    lines = output.strip().splitlines()
    return _unreachable(name, lines[-1][-200:].rstrip(".") if lines else "no reason given")


_LOOK = """
import fnmatch, json, os, sys, tempfile, threading
from huggingface_hub import HfApi, hf_hub_download
name, wanted, left_out, patience, too_late = sys.argv[1:]
clock = threading.Timer(float(patience), lambda: os._exit(int(too_late)))  # also while a name is looked up
clock.daemon = True
clock.start()
found = HfApi().model_info(name, files_metadata=True, timeout=float(patience))
match = lambda file, patterns: any(fnmatch.fnmatch(file, pattern) for pattern in json.loads(patterns))
files = {f.rfilename: f.size or 0 for f in found.siblings}
files = {f: size for f, size in files.items() if match(f, wanted) and not match(f, left_out)}
config = {}
if "config.json" in files:
    with tempfile.TemporaryDirectory() as folder, open(
        hf_hub_download(name, "config.json", local_dir=folder), encoding="utf-8"
    ) as file:
        config = json.load(file)
licence = (found.card_data.to_dict().get("license") if found.card_data else None) or ""
print(json.dumps({"files": files, "config": config, "licence": str(licence)}))
"""

_SNAPSHOT = """
import json, sys
from huggingface_hub import snapshot_download
name, folder, wanted, left_out = sys.argv[1:]
snapshot_download(
    name, local_dir=folder, allow_patterns=json.loads(wanted), ignore_patterns=json.loads(left_out)
)
"""
