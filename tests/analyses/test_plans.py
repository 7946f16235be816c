"""Plans and estimates of every analysis: what must hold whatever is asked for, on a model of any size."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyses.specs import LARGE, OTHER, SMALL, TASK, asked, models, sized
from headscope.analyses import ANALYSES, cutting
from headscope.analyses.base import Piece, Spec
from headscope.analyses.costing import LOAD_SECONDS
from headscope.core.model.cost import CPU_BUDGET
from headscope.core.model.info import ModelInfo
from headscope.core.model.memory import PROGRAM_BYTES
from headscope.errors import Invalid, Refused

NAMES = [name for name in ANALYSES if name not in ("agreement", "meaning")]
"""Those two read other runs and cut nothing by the model's size: test_agreement.py, test_meaning.py."""

FLOP_WEIGHED = (
    "chg", "cchg", "induction", "in-context-learning", "battery", "relatives", "mediation-function-vectors",
    "mediation-abstract-rules",
)  # fmt: skip
"""Those whose weights are FLOP, in pieces that grow to what a piece may take."""

SIZES: dict[str, dict[str, tuple[int, int]]] = {
    "chg": {
        "seeds": (1, 24),
        "null_fits": (0, 12),
        "steps": (1, 900),
        "batch_size": (1, 128),
        "n_test": (1, 2000),
    },
    "cchg": {"seeds": (1, 24), "steps": (1, 300), "batch_size": (1, 128), "n_test": (1, 900)},
    "ability": {"n_test": (2, 4000)},
    "evaluation": {"n_test": (1, 4000)},
    "induction": {"seeds": (1, 90), "length": (4, 200), "ablate": (0, 64)},
    "in-context-learning": {"documents": (20, 64)},
    "battery": {},
    "sufficiency": {"points": (2, 60), "orders": (1, 9), "n_test": (1, 3000)},
    "sequential-ablation": {"points": (2, 60), "orders": (1, 9), "n_test": (1, 3000)},
    "circuit-test": {"circuits": (1, 300), "orders": (1, 60), "subsets": (1, 100), "n_test": (2, 3000)},
    "relatives": {"n_examples": (2, 600), "points": (1, 16)},
    "probe": {"n_train": (4, 900), "n_test": (2, 900), "controls": (1, 8)},
    "mediation-function-vectors": {"shots": (2, 16), "clean": (1, 300), "prompts": (2, 200)},
    "mediation-abstract-rules": {"shots": (1, 16), "pairs": (2, 300), "candidates": (2, 400)},
    "eigen": {"seeds": (1, 64), "length": (4, 512)},
    "composition": {},
    "skip-trigrams": {"vocabulary": (16, 9000), "count": (1, 200)},
    "paths": {"rows": (1, 64), "length": (4, 100)},
    "residual": {},
}
"""Parameters that decide how much work there is, and the range that is tried."""

MORE_WORK = [(name, param) for name, sizes in SIZES.items() for param in sizes if param != "count"]
"""``count`` says how many of the strongest trigrams are kept: all are scored anyway."""

Request = tuple[str, ModelInfo, dict[str, int]]


def sketch(piece: Piece) -> tuple[str, str, tuple[str, ...], float]:
    """All of a piece but its function."""
    return piece.key, piece.label, piece.needs, piece.weight


def uncut(piece: Piece) -> bool:
    """The model as it is, on all held-out rows at once."""
    return piece.key == "ungated" or piece.key.startswith(("task/", "ability/"))


@st.composite
def requests(draw: st.DrawFn) -> Request:
    name = draw(st.sampled_from(NAMES))
    return name, draw(models), {param: draw(st.integers(*ends)) for param, ends in SIZES[name].items()}


@settings(deadline=None, max_examples=120)
@given(requests())
def test_a_plan_holds_together(request: Request) -> None:
    name, model, params = request
    spec = asked(name, model, **params)
    pieces = ANALYSES[name].plan(spec)
    keys = [piece.key for piece in pieces]
    assert not [key for key, count in Counter(keys).items() if count > 1]
    before: set[str] = set()
    for piece in pieces:
        assert before.issuperset(piece.needs), "a piece needs earlier ones only"
        assert len(set(piece.needs)) == len(piece.needs)
        assert piece.label
        assert piece.weight >= 0
        before.add(piece.key)
    assert sum(piece.weight for piece in pieces) > 0
    assert [sketch(piece) for piece in ANALYSES[name].plan(spec)] == [sketch(piece) for piece in pieces]


@settings(deadline=None, max_examples=60)
@given(requests())
def test_an_estimate_is_of_at_least_the_program_and_the_weights(request: Request) -> None:
    name, model, params = request
    spec = asked(name, model, **params)
    found = ANALYSES[name].estimate(spec)
    assert found.seconds > LOAD_SECONDS
    assert found.peak_bytes > PROGRAM_BYTES + 4 * model.n_params
    assert found.basis
    fast, slow = (ANALYSES[name].estimate(spec, throughput=speed) for speed in (1e12, 1e10))
    assert fast.seconds < slow.seconds
    assert fast.peak_bytes == slow.peak_bytes, "a faster machine needs as much memory"


@pytest.mark.parametrize("name", NAMES)
def test_a_larger_model_takes_longer(name: str) -> None:
    small, large = (ANALYSES[name].estimate(asked(name, model)) for model in (SMALL, LARGE))
    assert small.seconds < large.seconds


@pytest.mark.parametrize("name", NAMES)
def test_a_toy_needs_no_more_than_the_program_and_what_a_pass_may_hold(name: str) -> None:
    """However many of its examples would fit the arithmetic of a pass."""
    for model in (SMALL, sized(2, 2, 8)):
        found = ANALYSES[name].estimate(asked(name, model))
        assert found.peak_bytes < PROGRAM_BYTES + 16 * model.n_params + 1.1 * CPU_BUDGET.bytes


def test_no_more_examples_are_held_than_there_are() -> None:
    few, many = (ANALYSES["evaluation"].estimate(asked("evaluation", SMALL, n_test=n)) for n in (1, 24))
    assert few.peak_bytes < many.peak_bytes < PROGRAM_BYTES + 2**25


@pytest.mark.parametrize(("name", "param"), MORE_WORK)
def test_more_work_takes_longer(name: str, param: str) -> None:
    """Each parameter by itself; what the task has no rows for is no work."""
    low, high = SIZES[name][param]
    few, middle, many = (
        ANALYSES[name].estimate(asked(name, LARGE, **{param: size})).seconds
        for size in (low, (low + high) // 2, high)
    )
    assert few < many
    assert few <= middle <= many


@pytest.mark.parametrize("name", FLOP_WEIGHED)
@pytest.mark.parametrize("model", [SMALL, LARGE, sized(16, 32, 64, 128_000)], ids=["small", "large", "1B"])
def test_no_piece_is_longer_than_it_may_be_unless_it_can_be_cut_no_further(
    name: str, model: ModelInfo
) -> None:
    pieces = ANALYSES[name].plan(asked(name, model))
    longest = max(pieces, key=lambda piece: piece.weight)
    cut_no_further = {"0-0", "1-1", "2-2", "3-3", "1", "0"} & set(longest.key.split("/"))
    assert longest.weight <= 1.3 * cutting.PIECE_FLOP or cut_no_further or uncut(longest), sketch(longest)


@pytest.mark.parametrize("name", FLOP_WEIGHED)
def test_however_it_is_cut_the_work_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = asked(name, LARGE, **({"batch_size": 1} if "batch_size" in SIZES[name] else {}))
    whole = ANALYSES[name].plan(spec)
    longest = max(piece.weight for piece in whole if not uncut(piece))
    monkeypatch.setattr(cutting, "PIECE_FLOP", min(longest, cutting.PIECE_FLOP) / 7)
    cut = ANALYSES[name].plan(spec)
    assert len(cut) > len(whole)
    total = sum(piece.weight for piece in whole)
    # induction reads the patterns it holds once more for every block of heads
    slack = 0.5 if name == "induction" else 1e-9
    assert total <= sum(piece.weight for piece in cut) * (1 + 1e-9) <= total * (1 + slack) * (1 + 2e-9)


# -- every unit of work once ------------------------------------------------------------------------


def numbers(word: str) -> range:
    """``3-5`` as it stands in keys."""
    first, last = map(int, word.split("-"))
    return range(first, last + 1)


def once(ranges: list[range], whole: range) -> None:
    assert [number for each in ranges for number in each] == list(whole)


@settings(deadline=None, max_examples=40)
@given(
    model=models, seeds=st.integers(1, 40), steps=st.integers(1, 400), batch=st.integers(1, 200),
    n_test=st.integers(1, 2000),
)  # fmt: skip
def test_every_update_of_every_seed_is_fitted_once_after_the_one_before(
    model: ModelInfo, seeds: int, steps: int, batch: int, n_test: int
) -> None:
    spec = asked("chg", model, seeds=seeds, steps=steps, batch_size=batch, n_test=n_test)
    pieces = {piece.key: piece for piece in ANALYSES["chg"].plan(spec)}
    for phase in ("zero", "plus", "minus"):
        fits = [key.split("/") for key in pieces if key.startswith(f"{phase}/")]
        groups = list(dict.fromkeys(group for _, group, _ in fits))
        once([numbers(group) for group in groups], range(seeds))
        for group in groups:
            stops = [int(stop) for _, of, stop in fits if of == group]
            assert stops == sorted(set(stops))
            assert stops[-1] == steps
            begun = () if phase == "zero" else (f"zero/{group}/{steps}",)
            before = [begun, *((f"{phase}/{group}/{stop}",) for stop in stops[:-1])]
            assert [pieces[f"{phase}/{group}/{stop}"].needs for stop in stops] == before
        scored = [key.split("/")[2] for key in pieces if key.startswith(f"heldout/{phase}/")]
        once([numbers(block) for block in scored], range(seeds))


@settings(deadline=None, max_examples=30)
@given(
    model=models, seeds=st.integers(1, 40), steps=st.integers(1, 300), push=st.sampled_from(("open", "both"))
)
def test_every_fit_is_scored_on_every_task(model: ModelInfo, seeds: int, steps: int, push: str) -> None:
    spec = asked("cchg", model, seeds=seeds, steps=steps, push=push)
    keys = [piece.key for piece in ANALYSES["cchg"].plan(spec)]
    fits = [f"{way}_{each}" for each in (("open", "shut") if push == "both" else (push,))
            for way in ("named", "exchanged")]  # fmt: skip
    assert [key for key in keys if key.startswith("task/")] == ["task/0", "task/1", "task/2"]
    for fit, task in product(fits, range(3)):
        scored = [key.split("/")[3] for key in keys if key.startswith(f"scored/{fit}/{task}/")]
        once([numbers(block) for block in scored], range(seeds))
    for fit in fits:
        last = [key.split("/")[1] for key in keys if key.startswith(f"{fit}/") and key.endswith(f"/{steps}")]
        once([numbers(group) for group in last], range(seeds))


@settings(deadline=None, max_examples=40)
@given(model=models, seeds=st.integers(1, 90), ablate=st.integers(0, 64), length=st.integers(4, 300))
def test_every_draw_is_measured_once_and_every_head_gated_off_on_it_once(
    model: ModelInfo, seeds: int, ablate: int, length: int
) -> None:
    spec = asked("induction", model, seeds=seeds, ablate=ablate, length=length)
    pieces = ANALYSES["induction"].plan(spec)
    draws = [piece.key for piece in pieces if piece.key.startswith("draws/")]
    once([numbers(key.split("/")[1]) for key in draws], range(seeds))
    gone = [piece for piece in pieces if piece.key.startswith("ablation/")]
    assert all(piece.needs == tuple(draws) for piece in gone)
    heads = min(ablate, model.n_layers * model.n_heads)
    covered = Counter(
        pair for piece in gone for pair in product(*(numbers(word) for word in piece.key.split("/")[1:]))
    )
    assert covered == Counter(product(range(seeds), range(heads)))


@settings(deadline=None, max_examples=30)
@given(model=models, points=st.integers(2, 60), orders=st.integers(1, 9), n_test=st.integers(1, 5000))
def test_every_point_of_every_curve_is_asked_once(
    model: ModelInfo, points: int, orders: int, n_test: int
) -> None:
    spec = asked("sufficiency", model, points=points, orders=orders, n_test=n_test)
    pieces = {piece.key: piece for piece in ANALYSES["sufficiency"].plan(spec)}
    chosen = [key for key in pieces if key.startswith("chosen/")]
    tried = [numbers(key.split("/")[1]) for key in chosen]
    once(tried, range(tried[-1].stop))
    assert tried[-1].stop <= min(points + 2, model.n_layers * model.n_heads + 1)
    assert pieces["narrow"].needs == tuple(chosen)
    for order in range(orders):
        inner = [numbers(key.split("/")[2]) for key in pieces if key.startswith(f"random/{order}/")]
        once(inner, range(1, tried[-1].stop - 1))


@settings(deadline=None, max_examples=30)
@given(model=models, clean=st.integers(1, 300), prompts=st.integers(2, 300), pairs=st.integers(2, 300))
def test_every_prompt_and_pair_is_patched_once(
    model: ModelInfo, clean: int, prompts: int, pairs: int
) -> None:
    pieces = {
        piece.key: piece
        for piece in ANALYSES["mediation-function-vectors"].plan(
            asked("mediation-function-vectors", model, clean=clean, prompts=prompts)
        )
    }
    for task in range(2):
        means = [key for key in pieces if key.startswith(f"clean/{task}/")]
        once([numbers(key.split("/")[2]) for key in means], range(clean))
        patched = [key for key in pieces if key.startswith(f"effects/{task}/")]
        once([numbers(key.split("/")[2]) for key in patched], range(prompts))
        assert all(pieces[key].needs == tuple(means) for key in patched)
    rules = [piece.key.split("/") for piece in ANALYSES["mediation-abstract-rules"].plan(
        asked("mediation-abstract-rules", model, pairs=pairs)
    )]  # fmt: skip
    for swapped in ("rule", "items"):
        once([numbers(w) for kind, s, w in rules if (kind, s) == ("scores", swapped)], range(pairs))
        once([numbers(w) for kind, s, w in rules if (kind, s) == ("screen", swapped)], range(100))


@settings(deadline=None, max_examples=30)
@given(model=models, heads=st.lists(st.integers(0, 10**6), min_size=1, max_size=6))
def test_every_layer_is_probed_and_every_head_asked_for_looked_at_once(
    model: ModelInfo, heads: list[int]
) -> None:
    probes = [piece.key.split("/")[1] for piece in ANALYSES["probe"].plan(asked("probe", model))]
    once([numbers(layers) for layers in probes], range(model.n_layers))
    names = [
        f"{layer}.{head}"
        for layer, head in (divmod(n % (model.n_layers * model.n_heads), model.n_heads) for n in heads)
    ]
    skip = asked("skip-trigrams", model, heads=", ".join(names))
    assert [piece.key for piece in ANALYSES["skip-trigrams"].plan(skip)] == ["bigrams", *dict.fromkeys(names)]


def test_a_paths_run_has_a_piece_for_each_sequence_there_is() -> None:
    from headscope.tasks.prompts import prompt_set

    drawn = asked("paths", SMALL, rows=5)
    keys = [f"row/{row}" for row in range(5)]
    assert [piece.key for piece in ANALYSES["paths"].plan(drawn)] == ["terms", *keys, "virtual"]
    prompts = replace(drawn, inputs={"prompts": prompt_set(["one", "two", "three"])})
    *first, last = ANALYSES["paths"].plan(prompts)
    assert [piece.key for piece in first] == ["terms", *keys[:3]]
    assert last.needs == ("terms", *keys[:3])


# -- what is refused before anything runs -----------------------------------------------------------


REFUSED: list[tuple[str, Any, type[Exception], str]] = [
    ("chg", lambda: asked("chg", SMALL, adds_to="0" * 20), Invalid, "run-missing"),
    ("cchg", lambda: replace(asked("cchg", SMALL), inputs={"retain": (TASK,), "forget": (TASK,)}), Invalid,
     "same-task"),
    ("evaluation", lambda: _without("evaluation", "tasks"), Invalid, "task-missing"),
    ("evaluation", lambda: replace(asked("evaluation", SMALL), inputs={"tasks": (OTHER, OTHER)}), Invalid,
     "same-task"),
    ("induction", lambda: asked("induction", SMALL, length=1024, copies=3), Invalid, "too-long"),
    ("in-context-learning", lambda: asked("in-context-learning", replace(SMALL, n_ctx=511)), Invalid,
     "context-too-short"),
    ("in-context-learning", lambda: asked("in-context-learning", SMALL, heads="9.9"), Invalid,
     "unknown-head"),
    ("sequential-ablation", lambda: _without("sequential-ablation", "gating"), Invalid, "run-missing"),
    ("mediation-function-vectors", lambda: replace(asked("mediation-function-vectors", SMALL), task=None),
     Invalid, "task-missing"),
    ("eigen", lambda: asked("eigen", replace(SMALL, n_ctx=20)), Invalid, "too-long"),
    ("composition", lambda: asked("composition", sized(1, 4, 8)), Refused, "one-layer"),
    ("skip-trigrams", lambda: asked("skip-trigrams", SMALL, heads="9.9"), Invalid, "no-head"),
]  # fmt: skip


def _without(name: str, param: str) -> Spec[Any]:
    spec = asked(name, SMALL)
    return replace(spec, inputs={key: value for key, value in spec.inputs.items() if key != param})


@pytest.mark.parametrize(("name", "spec", "kind", "code"), REFUSED)
def test_plans_are_refused_with_a_code_and_a_remedy(
    name: str, spec: Any, kind: type[Exception], code: str
) -> None:
    with pytest.raises(kind) as refused:
        ANALYSES[name].plan(spec())
    assert refused.value.code == code  # type: ignore[attr-defined]
    assert refused.value.remedy  # type: ignore[attr-defined]


def test_patterns_that_no_machine_holds_are_refused_before_they_are_made() -> None:
    with pytest.raises(Refused) as refused:
        ANALYSES["paths"].estimate(asked("paths", LARGE, text="word " * 4000))
    assert refused.value.code == "no-room"
