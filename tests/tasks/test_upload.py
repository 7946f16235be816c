from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid, NotFound, Refused, TooLarge
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.rowfile import to_jsonl
from headscope.tasks.stored import from_json, to_json
from headscope.tasks.task import Row
from headscope.tasks.text import TextTask
from headscope.tasks.upload import parse_upload

CONTENT = b"prompt,target\n" + b"".join(b"thing %d,things %d\n" % (i, i) for i in range(10))


def test_an_upload_is_a_task(tokenizer: Tokenizer) -> None:
    task = parse_upload("my-things", "things.csv", CONTENT, title=" Things ", shots=2)
    assert (task.name, task.title, task.origin, task.n_rows, task.shots) == (
        "my-things",
        "Things",
        "yours",
        10,
        2,
    )
    assert (task.source, task.licence) == ("things.csv", "not stated")
    assert len(task.examples(tokenizer, "test")) == 3


def test_defaults() -> None:
    task = parse_upload("a", "a.csv", CONTENT, template="")
    assert (task.title, task.template, task.shots, task.bos) == ("a", "Q: {prompt}\nA: {target}", 1, None)
    assert parse_upload("a", "a.csv", b"prompt,target\na,b\nc,d\n").shots == 0


def test_a_browsers_line_ends_in_the_template() -> None:
    task = parse_upload("a", "a.csv", CONTENT, template="Say {prompt}\r\n{target}")
    assert task.template == "Say {prompt}\n{target}"


@pytest.mark.parametrize("name", ["", "A", "a b", "-a", "a-", "é", "a/b", "a" * 65, "..", "a\n"])
def test_names_that_can_not_be_used(name: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_upload(name, "a.csv", CONTENT)
    assert caught.value.code == "task-name"


def test_names_in_use() -> None:
    for name, taken in (("induction", []), ("mine", ["mine"])):
        with pytest.raises(Refused) as caught:
            parse_upload(name, "a.csv", CONTENT, taken=taken)
        assert caught.value.code == "task-exists"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"template": "{prompt}"}, "template"),
        ({"title": "a\0"}, "not-text"),
        ({"description": "\ud800"}, "not-text"),
        ({"shots": 7}, "too-few-rows"),
        ({"shots": 65}, "shots"),
    ],
)
def test_options_that_can_not_be_used(options: dict[str, Any], code: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_upload("mine", "a.csv", CONTENT, **options)
    assert caught.value.code == code


def test_too_large() -> None:
    with pytest.raises(TooLarge):
        parse_upload("mine", "a.csv", CONTENT, max_bytes=20)


def test_one_row_is_too_few() -> None:
    with pytest.raises(Invalid) as caught:
        parse_upload("mine", "a.csv", b"prompt,target\na,b\n")
    assert caught.value.code == "too-few-rows"


@pytest.mark.parametrize(
    ("row", "template", "fault"),
    [
        (Row("a", " b"), "A: {prompt} {target}", "line 2: the target begins"),
        (Row("a", "b\n"), "{prompt}{target}", "line 2: the target ends"),
        (Row("a", "b", "c "), "{prompt}{target}", "line 2: the counterfactual ends"),
        (Row("a ", "b"), "{prompt} {target}", "line 2: the prompt ends"),
    ],
)
def test_white_space_that_would_be_doubled(row: Row, template: str, fault: str) -> None:
    rows = to_jsonl([Row("x", "y"), row, Row("z", "y")])
    with pytest.raises(Invalid, match=fault) as caught:
        parse_upload("mine", "a.jsonl", rows, template=template)
    assert caught.value.code == "white-space"


def test_white_space_that_the_template_leaves_to_the_rows(tokenizer: Tokenizer) -> None:
    rows = to_jsonl([Row("The cat", " sat"), Row("Well", ", no"), Row("One", " two")])
    task = parse_upload("mine", "a.jsonl", rows, template="{prompt}{target}", shots=0)
    spelled = {b"".join(map(tokenizer.decode_bytes, e.target_ids)) for e in task.examples(tokenizer, "train")}
    assert spelled < {b" sat", b", no", b" two"}


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)


@given(
    st.builds(
        TextTask,
        name=TEXT,
        title=TEXT,
        rows=st.lists(st.builds(Row, TEXT, TEXT, st.none() | TEXT), max_size=5).map(tuple),
        description=TEXT,
        separator=TEXT,
        shots=st.integers(0, 5),
        bos=st.none() | st.booleans(),
        judged=st.sampled_from(["top", "pair"]),
    )
)
def test_stored_tasks_round_trip(task: TextTask) -> None:
    again = from_json(to_json(task))
    assert again == task
    assert again.content_hash == task.content_hash


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2},
        {"kind": "generated"},
        {"rows": [["a", None, None]]},
        {"rows": [["a"]]},
        {"x": 1},
    ],
)
def test_stored_tasks_that_can_not_be_read(change: dict[str, Any]) -> None:
    stored = to_json(parse_upload("mine", "a.csv", CONTENT)) | change
    with pytest.raises(Invalid, match="mine") as caught:
        from_json(stored)
    assert caught.value.code == "stored-task"


def test_the_catalogue_holds_built_in_and_own_tasks() -> None:
    mine = parse_upload("mine", "a.csv", CONTENT)
    catalogue = TaskCatalogue([to_json(mine)])
    assert catalogue.get("mine") == mine
    assert catalogue.all()[-1] == mine
    assert catalogue.get("induction").origin == "built-in"
    assert TaskCatalogue([mine]).get("mine") is mine


def test_an_unreadable_task_hides_no_other() -> None:
    mine = parse_upload("mine", "a.csv", CONTENT)
    catalogue = TaskCatalogue([to_json(mine) | {"name": "later", "schema_version": 2}, {}, to_json(mine)])
    assert catalogue.get("mine") == mine
    assert "later" not in [task.name for task in catalogue.all()]
    with pytest.raises(Invalid) as caught:
        catalogue.get("later")
    assert caught.value.code == "stored-task"


def test_unknown_tasks() -> None:
    with pytest.raises(NotFound, match="Did you mean singular-plural") as caught:
        TaskCatalogue().get("singular-plurals")
    assert caught.value.code == "unknown-task"
    with pytest.raises(NotFound, match="There are induction, "):
        TaskCatalogue().get("?")


def test_an_instruction_gives_a_second_form(tokenizer: Tokenizer) -> None:
    task = parse_upload("a", "a.csv", CONTENT, instruction=" Make it many. ")
    catalogue = TaskCatalogue([from_json(to_json(task))])
    form = catalogue.get("a-instruction")
    assert (form.shots, form.template) == (0, "Make it many.\nQ: {prompt}\nA: {target}")
    assert task.content_hash == parse_upload("a", "a.csv", CONTENT).content_hash != form.content_hash
    spelled = form.examples(tokenizer, "test", limit=1)[0].tokens[1:]
    text = b"".join(map(tokenizer.decode_bytes, spelled)).decode()
    assert text.startswith("Make it many.\nQ: thing ")
    assert [known.name for known in catalogue.all()][-2:] == ["a", "a-instruction"]


def test_an_instruction_may_hold_the_question_within_it() -> None:
    task = parse_upload("a", "a.csv", CONTENT, instruction="Many of {prompt} are {target}")
    assert TaskCatalogue([task]).get("a-instruction").template == "Many of {prompt} are {target}"


@pytest.mark.parametrize(
    ("instruction", "taken", "code"),
    [("Of {prompt}: many.", (), "template"), ("Make many.", ("a-instruction",), "task-exists")],
)
def test_an_instruction_that_gives_no_form_is_refused(
    instruction: str, taken: tuple[str, ...], code: str
) -> None:
    with pytest.raises((Invalid, Refused)) as error:
        parse_upload("a", "a.csv", CONTENT, instruction=instruction, taken=taken)
    assert error.value.code == code
