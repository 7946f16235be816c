"""Eigenvalues as an analysis: on the bundled model the induction heads stand in the corner."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from analyses.circuit_runs import run, two_layer
from core.circuits.conftest import load, save
from figures.circuit_samples import eigen as sample
from headscope.analyses import ANALYSES, figures
from headscope.analyses.base import Spec
from headscope.analyses.eigen.result import QUANTITIES, EigenResult
from headscope.analyses.eigen.schema import EigenParams
from headscope.core.arrays import decode
from headscope.core.circuits.weights import read_weights
from headscope.core.model.head_model import HeadModel
from headscope.errors import Invalid

EIGEN = ANALYSES["eigen"]


def eigen(model: HeadModel, **params: Any) -> EigenResult:
    result = run("eigen", model, **params)
    assert isinstance(result, EigenResult)
    return result


@pytest.fixture(scope="module")
def model() -> HeadModel:
    return two_layer()


@pytest.fixture(scope="module")
def result(model: HeadModel) -> EigenResult:
    return eigen(model, seeds=2)


@pytest.fixture(scope="module")
def rotary(tmp_path_factory: pytest.TempPathFactory) -> EigenResult:
    return eigen(load(save("llama", tmp_path_factory.mktemp("llama"))), seeds=1, length=12)


def test_the_induction_heads_and_no_others_stand_in_the_corner(result: EigenResult) -> None:
    corner = (result.positivity["qk_best"] > 0.5) & (result.positivity["ov"] > 0.5)
    assert {(int(layer), int(head)) for layer, head in np.argwhere(corner)} == {(1, 5), (1, 2)}
    assert result.best_previous.tolist() == [[-1, -1], [0, 3]]
    measured = result.induction.mean(axis=0)
    assert (measured[corner] > 0.7).all()
    assert measured[~corner].max() < 0.2


def test_shapes_and_what_is_said(result: EigenResult) -> None:
    assert result.spectra["ov"].shape == (2, 8, 32, 2)
    assert result.previous.shape == (2, 2, 8)
    assert result.model.weight_processing == "folded"
    assert "qk_offset" not in result.spectra
    assert "Learned positions" in result.notes[0]
    headline = EIGEN.headline(result)
    assert set(headline) == set(QUANTITIES)
    assert headline["previous_token_head"] == "0.3"
    assert headline["heads_that_copy_and_match"] == 2


def test_raw_and_folded_are_different_runs_and_different_numbers(
    model: HeadModel, result: EigenResult
) -> None:
    raw = eigen(model, seeds=2, weight_processing="raw")
    assert raw.model.weight_processing == "raw"
    assert not np.allclose(raw.spectra["ov"], result.spectra["ov"], rtol=0.05)
    assert "norm weights are left out" in figures.build(raw, "plane")["layout"]["meta"]["reading"]


def test_rotary_models_have_a_distance_too(rotary: EigenResult) -> None:
    assert not np.allclose(rotary.spectra["qk_offset"], rotary.spectra["qk"], rtol=1e-3)
    assert any("at a distance of 1" in note for note in rotary.notes)
    assert any("position-free" in note for note in rotary.limits)


@pytest.mark.parametrize("name", figures.names("eigen"))
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_every_figure_can_be_drawn_and_read(
    result: EigenResult, rotary: EigenResult, name: str, colours: str
) -> None:
    for one in (result, rotary):
        figure = figures.build(one, name, theme=colours)
        json.dumps(figure, allow_nan=False)
        go.Figure(figure)
        assert figure["layout"]["meta"]["reading"].endswith(".")
        assert json.loads(json.dumps(figures.table(one, name), allow_nan=False))["rows"]


def test_a_dot_of_the_plane_is_its_head(result: EigenResult) -> None:
    (trace,) = figures.build(result, "plane")["data"]
    places, x = decode(trace["customdata"]), decode(trace["x"])
    assert len(places) == 8, "heads of the first layer have no earlier head"
    for (layer, head), value in zip(places.tolist(), x.tolist(), strict=True):
        assert value == pytest.approx(float(result.positivity["qk_best"][layer, head]))


def test_spectra_are_of_the_head_asked_for(result: EigenResult) -> None:
    assert figures.build(result, "spectra")["layout"]["meta"]["head"] == [1, 5]
    figure = figures.build(result, "spectra", head="0.3")
    assert figure["layout"]["meta"]["title"].endswith("0.3")
    assert len(figure["data"]) == 2, "a head of the first layer has no QK through another"
    ov = figure["data"][0]
    radius = np.hypot(decode(ov["x"]), decode(ov["y"]))
    assert radius.max() == pytest.approx(1, abs=1e-5)
    row = figures.table(result, "spectra", head="0.3")["rows"][0]
    assert row[:2] == ["0.3", 0]
    assert row[2] == pytest.approx(float(result.spectra["ov"][0, 3, 0, 0]), rel=1e-5)
    for bad in ("2.0", "0.8", "a", "1"):
        with pytest.raises(Invalid) as refused:
            figures.build(result, "spectra", head=bad)
        assert refused.value.code == "no-head"


def test_an_estimate_grows_with_the_model_and_too_long_is_refused(model: HeadModel) -> None:
    params = EigenParams()
    small = EIGEN.estimate(Spec(params, model.info))
    large = EIGEN.estimate(Spec(params, replace(model.info, n_layers=30, d_model=576, d_vocab=49152)))
    assert small.seconds < large.seconds
    assert small.peak_bytes < large.peak_bytes
    with pytest.raises(Invalid, match="context of 256"):
        EIGEN.plan(Spec(EigenParams(length=200), model.info))


def test_ov_spectra_are_the_eigenvalues_that_numpy_finds(model: HeadModel) -> None:
    import torch

    raw = eigen(model, seeds=1, weight_processing="raw", dtype="float64")
    weights = read_weights(model, "raw", torch.float64)
    for layer, head in ((0, 3), (1, 5)):
        part = weights.layer(layer)
        # W_E W_V W_O W_U has the eigenvalues of W_O W_U W_E W_V, and zeros
        small = part.W_O[head] @ weights.W_U @ weights.W_E @ part.W_V[head]
        wanted = np.linalg.eigvals(small.numpy())
        got = raw.spectra["ov"][layer, head]
        moduli = np.hypot(got[:, 0], got[:, 1])
        assert (np.diff(moduli) <= 1e-3 * moduli[0]).all(), "the largest modulus first"
        np.testing.assert_allclose(np.sort(moduli), np.sort(np.abs(wanted)), rtol=1e-3, atol=1e-4 * moduli[0])
        positivity = wanted.real.sum() / np.abs(wanted).sum()
        assert raw.positivity["ov"][layer, head] == pytest.approx(positivity, abs=1e-4)


def test_positivity_is_of_each_spectrum(result: EigenResult) -> None:
    for name, values in result.spectra.items():
        real, imaginary = np.moveaxis(values.astype(float), -1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            wanted = real.sum(-1) / np.hypot(real, imaginary).sum(-1)
        np.testing.assert_allclose(result.positivity[name], wanted, rtol=1e-5)
        known = result.positivity[name][np.isfinite(result.positivity[name])]
        assert (np.abs(known) <= 1 + 1e-6).all()


def test_the_headline_counts_by_hand() -> None:
    found = sample()
    assert isinstance(found, EigenResult)
    numbers = EIGEN.headline(found)
    ov, through = found.positivity["ov"], found.positivity["qk_best"]
    pairs = list(zip(ov.reshape(-1).tolist(), through.reshape(-1).tolist(), strict=True))
    assert numbers["copying_heads"] == sum(copies > 0.5 for copies, _ in pairs)
    both = sum(copies > 0.5 and matches > 0.5 for copies, matches in pairs)
    assert numbers["heads_that_copy_and_match"] == both
    layer, head = map(int, numbers["most_copying_head"].split("."))
    assert numbers["most_copying_score"] == ov.max() == ov[layer, head]
    assert numbers["previous_token_head"] == "0.2"


def test_the_heads_table_is_the_arrays() -> None:
    found = sample()
    assert isinstance(found, EigenResult)
    table = figures.table(found, "plane")
    names = [column["name"] for column in table["columns"]]
    for place, row in enumerate(dict(zip(names, row, strict=True)) for row in table["rows"]):
        at = divmod(place, 4)
        assert (row["layer"], row["head"]) == at
        assert row["ov_positivity"] == pytest.approx(float(found.positivity["ov"][at]), rel=1e-5)
        assert row["best_previous"] == ("" if at[0] == 0 else "0.2")
        assert (row["qk_best_positivity"] is None) == (at[0] == 0)
        assert row["induction"] == pytest.approx(float(found.induction[:, *at].mean()), rel=1e-5)


def test_without_a_distance_there_is_no_map_of_it_and_it_says_why(result: EigenResult) -> None:
    figure = figures.build(result, "qk-offset")
    assert np.isnan(decode(figure["data"][0]["z"])).all()
    assert "can't be turned by a fixed distance" in figure["layout"]["meta"]["reading"]
    names = [column["name"] for column in figures.table(result, "qk-offset")["columns"]]
    assert "qk_offset_positivity" not in names
    assert "qk_offset_positivity" in [c["name"] for c in figures.table(sample(), "plane")["columns"]]


def test_draws_are_by_their_seeds(model: HeadModel, result: EigenResult) -> None:
    second = eigen(model, seeds=1, first_seed=1)
    assert second.seeds == (1,)
    for name in ("induction", "previous", "current"):
        np.testing.assert_allclose(second.arrays[name][0], result.arrays[name][1], atol=1e-5)
