"""A changed file under the same path is another model: the worker answers by the files as they are now."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from headscope.core.arrays import decode
from headscope.core.gating.gate_vector import gate_vector
from headscope.core.model.load import load_model
from headscope.errors import Invalid
from headscope.messages import GatesIn, LookIn
from headscope.messages.questions import GATES, LOOK
from headscope.models.placing import record
from headscope.python import model as hs
from headscope.settings import Settings
from worker.conftest import Served

TEXT = "the cat sat on the mat, the cat sat"
OPEN = [[1.0] * 4] * 3


def edit_config(folder: Path) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"layer_norm_epsilon": 10 * config["layer_norm_epsilon"] + 1}))


def replace_weights(folder: Path) -> None:
    """By others of the same size and with the same time of change."""
    path = folder / "model.safetensors"
    before = path.stat()
    weights = {name: 0.7 * tensor for name, tensor in load_file(path).items()}
    save_file(weights, path.with_suffix(".new"), {"format": "pt"})
    path.with_suffix(".new").replace(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


CHANGES: dict[str, tuple[bool, Callable[[Path], None]]] = {
    "config edited": (False, edit_config),
    "config edited beside a record": (True, edit_config),
    "weights replaced beside a record": (True, replace_weights),
    "weights of a plain folder replaced": (False, replace_weights),
}


def said(worker: Served) -> tuple[list[float], list[float]]:
    """What the lab says of the next tokens, and the losses that a look gives."""
    answer = worker.client.ask(GATES, GatesIn(model="tiny", text=TEXT, gates=OPEN, answers=[5, 9], top=1))
    look = worker.client.ask(LOOK, LookIn(model="tiny", text=TEXT))
    return [answer.answers[0].before, answer.answers[1].before], decode(look.loss).tolist()


def true(worker: Served, folder: Path) -> list[float]:
    """The same of transformers, reading the files now."""
    ids = worker.handler.catalogue.tokenizer("tiny").encode(TEXT)
    module = transformers.AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        logp = module(torch.tensor([ids])).logits[0, -1].double().log_softmax(-1)
    return [float(logp[5]), float(logp[9])]


@pytest.mark.parametrize("change", CHANGES)
def test_the_lab_answers_by_the_files_as_they_are_now(worker: Served, change: str) -> None:
    folder = worker.handler.catalogue.folder("tiny")
    (folder / "headscope.json").unlink(missing_ok=True)
    recorded, edit = CHANGES[change]
    if recorded:
        record(folder, {"title": "Tiny"})
    before, losses = said(worker)
    revision = worker.handler.catalogue.info("tiny").revision
    assert before == pytest.approx(true(worker, folder), abs=1e-4)
    edit(folder)
    after, losses_after = said(worker)
    assert after == pytest.approx(true(worker, folder), abs=1e-4)
    assert after != pytest.approx(before, abs=1e-3)
    assert losses_after[1:] != losses[1:]
    assert worker.handler.catalogue.info("tiny").revision != revision
    assert worker.handler.models.names() == ["tiny"], "what the name meant before is dropped"


def test_gates_of_the_files_before_are_refused_and_python_reads_the_files_anew(
    worker: Served, tmp_path: Path
) -> None:
    folder = worker.handler.catalogue.folder("tiny")
    model = hs.load(folder, settings=Settings(data_dir=tmp_path, device="cpu"))
    gates = gate_vector("mine", model.info, torch.ones(3, 4).numpy(), "a test")
    with model.gated(gates):
        before = model.logits(TEXT)
    replace_weights(folder)
    with pytest.raises(Invalid) as error:
        model.gated(gates)
    assert error.value.code == "other-model"
    now = load_model(folder, name="now", device="cpu")
    ids = torch.tensor([model.tokenizer.encode(TEXT)])
    assert torch.equal(torch.from_numpy(model.logits(TEXT)), now.logits(ids)[0])
    assert not torch.equal(torch.from_numpy(model.logits(TEXT)), torch.from_numpy(before))
