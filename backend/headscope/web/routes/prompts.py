"""Prompts: as tokens, and those that someone keeps. Needs no worker and no device.

SavedPrompts prompts are for readers who may use the server; their text is in no address and no log.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Response, UploadFile

from headscope.core.model.tokens import bos_of
from headscope.messages import PromptExample, PromptIn, PromptOut, PromptRows, TokenOut
from headscope.store import prompts
from headscope.store.prompts import SavedPrompts
from headscope.tasks.prompt_examples import prompt_examples
from headscope.tasks.promptfile import read_prompts
from headscope.tasks.prompts import prompt_set
from headscope.web.deps import App, StoreSession
from headscope.web.limits import read_upload
from headscope.web.present import prompt_out
from headscope.web.resolve import known_model
from headscope.web.schemas import TokenizeIn, TokenizeOut

router = APIRouter(prefix="/prompts", tags=["prompts"])


@router.post("/tokenize", summary="Tokens with true byte spans; needs no worker")
def tokenize(body: TokenizeIn, app: App) -> TokenizeOut:
    """Special tokens in the text are text; `bos`: whether one was added, whether the text spells one."""
    info = known_model(app, body.model)
    tokenizer = app.models.tokenizer(body.model)
    tokens = tokenizer.tokens(body.text, bos=body.bos)
    return TokenizeOut(
        tokens=[TokenOut.of(token) for token in tokens],
        n_ctx=info.n_ctx,
        bos=bos_of(tokenizer, tokens, body.text),
    )


@router.get("", summary="Saved prompts and batches, newest first")
def list_prompts(session: StoreSession) -> list[PromptOut]:
    """Without their texts, but for the beginning of the first."""
    return [prompt_out(row) for row in prompts.everything(session)]


@router.post("", status_code=201, summary="Save a prompt", responses={200: {"model": PromptOut}})
def keep_prompt(body: PromptIn, session: StoreSession, response: Response) -> PromptOut:
    """The id is the hash of the text. 200 where the same text is saved already; a name given is its new name.

    422 for an empty text, a NUL character, half of a character.
    """
    return _kept(prompts.add(session, prompt_set([body.text], body.name)), response)


@router.post(
    "/upload",
    status_code=201,
    summary="Save prompts from a file: text, JSONL or CSV",
    responses={200: {"model": PromptOut}},
)
def upload_prompts(
    app: App,
    session: StoreSession,
    response: Response,
    file: Annotated[
        UploadFile,
        ".txt: one prompt. .jsonl: one string per line, or objects with `text` or `prompt`. "
        ".csv, .tsv: a column of that name, or one column. Up to 10,000 prompts.",
    ],
    name: Annotated[str, Form(max_length=200, description="The file's name where unset.")] = "",
) -> PromptOut:
    """413 for too many or too large, 422 for what can't be prompts, naming the line; then none is saved."""
    limit = app.settings.max_upload_bytes
    content = read_upload(file, limit)
    found = read_prompts(file.filename or "upload", content, name, max_bytes=limit)
    return _kept(prompts.add(session, found), response)


@router.get("/examples", summary="Built-in prompts for a model")
def list_examples(model: str, app: App) -> list[PromptExample]:
    """Those that fit the model's context; `mute` names heads worth muting on it, where they were measured."""
    info = known_model(app, model)
    return [
        PromptExample(
            name=example.name,
            title=example.title,
            reading=example.reading,
            text=example.text,
            bos=example.bos,
            mute=list(example.mute),
        )
        for example in prompt_examples(model, app.models.tokenizer(model), info.n_ctx)
    ]


@router.get("/{prompt_id}", summary="A saved prompt with its text, or a page of a batch")
def get_prompt(
    prompt_id: str,
    session: StoreSession,
    offset: Annotated[int, Query(ge=0, le=10**6)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> PromptRows:
    """404 for an unknown or deleted one."""
    texts = prompts.load(session, prompt_id).texts
    row = prompts.get(session, prompt_id)
    return PromptRows(
        **prompt_out(row).model_dump(), texts=list(texts[offset : offset + limit]), offset=offset
    )


@router.delete("/{prompt_id}", status_code=204, summary="Delete a saved prompt")
def delete_prompt(prompt_id: str, session: StoreSession) -> None:
    """For good. Runs keep their results, and a share of a lab view keeps its own copy until it is revoked."""
    prompts.remove(session, prompt_id)


def _kept(kept: SavedPrompts, response: Response) -> PromptOut:
    if not kept.new:
        response.status_code = 200
    response.headers["Location"] = f"/api/v1/prompts/{kept.row.id}"
    return prompt_out(kept.row)
