"""What a request becomes before a model sees it, and what an answer becomes that makes no sense."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from hypothesis import given
from hypothesis import strategies as st

from core.conftest import save_model
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.errors import Forbidden, HeadscopeError, Invalid, NotFound, Refused, TooLarge, Unavailable
from headscope.messages import GlyphOut, LabIn, LensIn, LensOut, PatternsIn
from headscope.messages.questions import LENS, PATTERNS, QUESTIONS
from headscope.settings import Settings
from headscope.store import migrate, workers
from headscope.store.session import open_store
from headscope.worker.client import WorkerClient, no_accuracy
from headscope.worker.identity import take_name
from headscope.worker.lab.plan import Plan, admit
from headscope.worker.lab.prompt import Prompt, known_token, next_token, read, sequence_out, vocabulary_token
from services.served import served
from worker.conftest import Served


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> HeadModel:
    folder = save_model("gpt2", tmp_path_factory.mktemp("tiny"))
    return load_model(folder, name="tiny", device="cpu")


# -- prompts ---------------------------------------------------------------------------------------------


def test_a_prompt_is_its_tokens_bos_first_where_the_tokenizer_says_so(model: HeadModel) -> None:
    prompt = read(model, LabIn(model="tiny", text="the cat"))
    assert prompt.ids == model.tokenizer.encode("the cat")
    assert prompt.tokens[0].special
    assert [token.id for token in prompt.out] == prompt.ids
    assert prompt.batch(model).tolist() == [prompt.ids]
    without = read(model, LabIn(model="tiny", text="the cat", bos=False))
    assert without.ids == prompt.ids[1:]
    assert len(without) == len(prompt) - 1


def test_a_text_is_never_cut(model: HeadModel) -> None:
    assert len(read(model, LabIn(model="tiny", text="z" * 63))) == model.info.n_ctx == 64
    with pytest.raises(Invalid, match="has 66 tokens; tiny reads 64") as error:
        read(model, LabIn(model="tiny", text="z" * 65))
    assert (error.value.code, error.value.remedy) == ("too-long", "Shorten it by 2 tokens.")


def test_texts_that_are_none(model: HeadModel) -> None:
    with pytest.raises(Invalid) as empty:
        read(model, LabIn(model="tiny", text="", bos=False))
    with pytest.raises(Invalid) as stored:
        read(model, LabIn(model="tiny", prompt="an id"))
    with pytest.raises(Invalid) as half:
        read(model, LabIn.model_construct(model="tiny", text="\ud800", bos=None))
    assert (empty.value.code, stored.value.code, half.value.code) == ("empty-text", "no-text", "not-text")


def test_positions_run_to_the_last(model: HeadModel) -> None:
    prompt = read(model, LabIn(model="tiny", text="the cat"))
    assert prompt.position(None) == len(prompt) - 1
    assert prompt.position(0) == 0
    with pytest.raises(Invalid, match=f"the prompt has {len(prompt)} tokens") as error:
        prompt.position(len(prompt))
    assert error.value.code == "unknown-position"
    assert error.value.remedy == f"Positions run 0-{len(prompt) - 1}."


@pytest.mark.parametrize("index", [-1, 300, 10**9])
def test_tokens_that_a_model_can_not_predict(model: HeadModel, index: int) -> None:
    with pytest.raises(Invalid, match="Ids run 0-299") as error:
        known_token(model, index)
    assert error.value.code == "unknown-token"
    assert known_token(model, 299) == 299


def test_rows_that_no_token_uses_have_no_text(model: HeadModel) -> None:
    hole = vocabulary_token(model, model.tokenizer.n_vocab)
    assert (hole.id, hole.text, hole.hex, hole.special) == (model.tokenizer.n_vocab, None, "", False)
    assert vocabulary_token(model, 0).special


def test_a_sequence_covers_its_text(model: HeadModel) -> None:
    text = "the cat größer"
    placed = sequence_out(model, model.tokenizer.encode(text))
    assert (placed[0].start, placed[0].end, placed[0].special) == (0, 0, True)
    assert b"".join(bytes.fromhex(token.hex) for token in placed[1:]) == text.encode()
    assert [token.start for token in placed[1:]] == [token.end for token in placed[:-1]]


def test_what_ends_a_character_is_called_by_it(model: HeadModel) -> None:
    prompt = Prompt("日", model.tokenizer.tokens("日", bos=True))
    assert [token.glyph and token.glyph.part for token in prompt.out] == [None, 1, 2, 3]
    last = next_token(model, prompt, 2, prompt.ids[3])
    assert last.glyph == GlyphOut(text="日", part=3, parts=3)
    assert next_token(model, prompt, 1, prompt.ids[3]).glyph is None  # a byte is still missing
    assert next_token(model, prompt, 3, prompt.ids[3]).glyph is None  # nothing is begun
    assert next_token(model, prompt, 2, model.tokenizer.encode("a", bos=False)[0]).glyph is None


# -- room ------------------------------------------------------------------------------------------------


@given(st.integers(1, 5000), st.integers(0, 10**9), st.integers(1, 3))
def test_what_does_not_fit_says_how_much_would(n_tokens: int, free: int, power: int) -> None:
    plan = Plan(lambda n: 1000.0 * n**power, lambda: None)
    if plan.n_bytes(n_tokens) <= free:
        admit(plan, n_tokens, free)
        return
    with pytest.raises(Refused) as error:
        admit(plan, n_tokens, free)
    assert error.value.code == "no-room"
    words = error.value.remedy.split()
    if words[0] == "Shorten":
        fits = int(words[4])
        assert plan.n_bytes(fits) <= free < plan.n_bytes(fits + 1)
    else:
        assert plan.n_bytes(1) > free


# -- answers ---------------------------------------------------------------------------------------------

Reply = Callable[[], Response]


class Odd:
    """A worker of another make: answers whatever it is told to, and remembers what it was asked."""

    def __init__(self) -> None:
        self.reply: Reply = Response
        self.asked: list[tuple[str, str, bytes]] = []
        self.app = FastAPI()

        @self.app.post("/{path:path}")
        async def _(path: str, request: Request) -> Response:
            self.asked.append((path, request.headers["authorization"], await request.body()))
            return self.reply()


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Odd, WorkerClient]]:
    settings, worker = Settings(data_dir=tmp_path_factory.mktemp("odd")), Odd()
    migrate.upgrade(settings)
    store = open_store(settings)
    with served(worker.app) as address:
        with store.session() as session:
            workers.register(
                session, "w", host="h", device="cpu", queue="cpu", address=address, secret="a secret",
                patience=3600,
            )  # fmt: skip
        client = WorkerClient(store)
        yield worker, client
        client.close()
    store.close()


LENS_IN = LensIn(model="tiny", text="a")


def test_a_worker_is_asked_with_its_secret(odd: tuple[Odd, WorkerClient]) -> None:
    worker, client = odd
    worker.reply = lambda: Response(LensOut.model_validate(LensOut.example()).model_dump_json())
    assert client.ask(LENS, LENS_IN) == LensOut.model_validate(LensOut.example())
    path, authorization, body = worker.asked[-1]
    assert (path, authorization) == ("lab/lens", "Bearer a secret")
    assert LensIn.model_validate_json(body) == LENS_IN


NONSENSE = {
    "nothing": lambda: Response(),
    "a page": lambda: Response("<h1>Hello</h1>", media_type="text/html"),
    "another message": lambda: Response('{"model": "tiny"}'),
    "more than is known": lambda: Response(json.dumps({**LensOut.example(), "new": 1})),
    "no problem": lambda: Response("[]", 500),
    "half a problem": lambda: Response('{"detail": "No."}', 404),
    "a list of faults": lambda: Response('{"detail": [{"loc": ["body"]}]}', 422),
    "a page of faults": lambda: Response("Internal Server Error", 500),
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_an_answer_of_another_version_is_said_to_be(odd: tuple[Odd, WorkerClient], kind: str) -> None:
    worker, client = odd
    worker.reply = NONSENSE[kind]
    with pytest.raises(Unavailable, match=f"HTTP {worker.reply().status_code}") as error:
        client.ask(LENS, LENS_IN)
    assert error.value.code == "worker-answer"
    assert "same version" in error.value.remedy


@pytest.mark.parametrize("kind", [NotFound, Invalid, TooLarge, Refused, Forbidden, Unavailable])
@pytest.mark.parametrize("after", [None, 3])
def test_what_a_worker_refuses_is_refused_in_its_words(
    odd: tuple[Odd, WorkerClient], kind: type[HeadscopeError], after: int | None
) -> None:
    worker, client = odd
    said = kind("What is wrong.", "What to do.", code="a-code")
    headers = {} if after is None else {"Retry-After": str(after)}
    worker.reply = lambda: Response(json.dumps(said.problem()), kind.status, headers)
    with pytest.raises(HeadscopeError) as error:
        client.ask(LENS, LENS_IN)
    assert type(error.value) is kind
    assert (error.value.message, error.value.remedy) == (said.message, said.remedy)
    assert (error.value.code, error.value.retry_after) == ("a-code", after)


def test_every_endpoint_wants_its_secret(worker: Served) -> None:
    for question in QUESTIONS:
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "a secreter"}):
            answer = httpx.post(f"{worker.address}{question.path}", json={}, headers=header)
            assert (answer.status_code, answer.json()["status"]) == (403, 403)
    assert httpx.get(f"{worker.address}/health").status_code == 403
    ours = {"Authorization": "Bearer a secret"}
    assert set(httpx.get(f"{worker.address}/health", headers=ours).json()) == {"models"}


def test_an_unreadable_body_never_reaches_the_model(worker: Served) -> None:
    ours = {"Authorization": "Bearer a secret"}
    for body in (b"", b"{", b"[]", b'{"model": "tiny"}', b'{"model": "tiny", "text": "a", "more": 1}'):
        answer = httpx.post(f"{worker.address}{PATTERNS.path}", content=body, headers=ours)
        assert answer.status_code == 422
    with pytest.raises(NotFound, match="no model 'none'"):
        worker.client.ask(PATTERNS, PatternsIn(model="none", text="a"))


def test_no_accuracy_has_no_number() -> None:
    told = no_accuracy("tiny", "induction", "computing", "Soon.")
    assert (told.status, told.accuracy, told.n, told.verdict) == ("computing", None, None, None)


# -- names -----------------------------------------------------------------------------------------------


def test_a_name_of_another_host_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "worker-0").write_text("elsewhere-0-00000000")
    name, lock = take_name(tmp_path)
    assert not name.startswith("elsewhere")
    assert lock.note() == name
    lock.release()
    again, lock = take_name(tmp_path)
    assert again == name
    lock.release()
