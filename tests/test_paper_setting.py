"""The paper's setting: its schedule to the letter, and Llama 3 models from a folder through the same code."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from core.model.test_llama3 import save_llama3
from headscope.analyses.base import Result
from headscope.analyses.chg.phases import phase
from headscope.analyses.chg.schema import PRESETS, ChgParams
from headscope.cli import app
from headscope.core.gating.fit import Phase
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings


def test_the_preset_paper_is_the_papers_schedule() -> None:
    """arXiv 2505.13737, section 3 and its appendix; SCIENCE section 1."""
    paper = ChgParams.model_validate(PRESETS["paper"])
    stated = {
        "seeds": 10,
        "steps": 500,  # in each of the three phases
        "batch_size": 64,
        "phase0_lr_start": 0.1,
        "phase0_lr_end": 0.01,
        "lr_start": 0.5,
        "lr_end": 0.1,
        "regularisation": 0.1,
        "clamp": 4.0,
        "clip": 1.0,
        "settle": False,  # every update is taken
        "remember": False,  # each by its own batch alone
        "dtype": "float32",
    }
    assert {name: getattr(paper, name) for name in stated} == stated
    assert paper.n_train is None, "all of the training split"
    assert paper == ChgParams(check_closed=True), "the defaults are the paper's; the check is after the fit"


def test_its_phases_differ_by_the_push_and_start_where_the_paper_says() -> None:
    paper = ChgParams.model_validate(PRESETS["paper"])
    assert phase("zero", paper) == Phase(500, 0.0, 0.1, 0.01, 64, clamp=4.0, clip=1.0, stream="zero")
    assert phase("plus", paper) == Phase(500, 0.1, 0.5, 0.1, 64, clamp=4.0, clip=1.0, stream="push")
    assert phase("minus", paper) == Phase(500, -0.1, 0.5, 0.1, 64, clamp=4.0, clip=1.0, stream="push")


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
def test_a_llama3_folder_runs_by_its_path(tied: bool, tmp_path: Path) -> None:
    folder = save_llama3(tmp_path / "llama3", tied=tied, positions=512)
    info = Catalogue(Settings(data_dir=tmp_path / "data")).info(str(folder))
    assert (info.n_heads, info.n_kv_heads, info.n_ctx) == (4, 2, 512)
    words = ["run", "chg", "--model", str(folder), "--task", "singular-plural", "--preset", "paper"]
    for setting in ("steps=2", "seeds=2", "batch_size=4", "n_train=8", "n_test=4"):
        words += ["--param", setting]
    environment = {"HEADSCOPE_DATA_DIR": str(tmp_path / "data"), "HEADSCOPE_DEVICE": "cpu"}
    ran = CliRunner().invoke(app, [*words, "--json", str(tmp_path / "result.json")], env=environment)
    assert ran.exit_code == 0, f"{ran.stdout}\n{ran.stderr}"
    result = Result.from_json(json.loads((tmp_path / "result.json").read_text()))
    assert result.model.architecture == "LlamaForCausalLM"
    for gates in (result.arrays["g_plus"], result.arrays["g_minus"]):
        assert gates.shape == (2, 3, 4)
        assert ((gates > 0) & (gates < 1)).all()
    assert np.isfinite(result.arrays["heldout_log_probability"]).all()
