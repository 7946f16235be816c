"""Tasks that users added: kept word for word, in order of name, none in the place of another."""

from __future__ import annotations

import pytest

from headscope.errors import Invalid, NotFound, Refused
from headscope.store import tasks
from headscope.store.session import Store
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.stored import from_json, to_json
from headscope.tasks.text import TextTask
from headscope.tasks.upload import parse_upload

ROWS = 'prompt,target,counterfactual\n"Who, in  Cárdenas?",Zo\u2028ë,Bø\nq,\U0001f9d9,\nr,"a ""b""",c\n'


def task(name: str, instruction: str = "") -> TextTask:
    return parse_upload(
        name, f"{name}.csv", ROWS.encode(), template="{prompt}: {target}", instruction=instruction
    )


def test_a_task_comes_back_word_for_word(store: Store) -> None:
    mine = parse_upload(
        "mine", "m.jsonl",
        '{"prompt": " sp\\u2028 ", "target": "größer"}\n{"prompt": "b", "target": "c"}\n'.encode(),
        title="A title", description="What it asks.", licence="CC0", template="<{prompt}>\n{target}",
        shots=0, bos=True,
    )  # fmt: skip
    with store.session() as session:
        tasks.add(session, "mine", to_json(mine))
    with store.session() as session:
        (content,) = tasks.load_user_tasks(session)
    assert from_json(content) == mine
    assert from_json(content).content_hash == mine.content_hash


def test_tasks_are_in_order_of_name(store: Store) -> None:
    with store.session() as session:
        for name in ("zebra", "ant", "bee-2", "bee-10"):
            tasks.add(session, name, {"name": name})
    with store.session() as session:
        names = [content["name"] for content in tasks.load_user_tasks(session)]
    assert names == sorted(names)


def test_a_second_task_of_a_name_is_refused_and_the_first_stays(store: Store) -> None:
    with store.session() as session:
        tasks.add(session, "mine", {"name": "mine", "rows": [["a", "b", None]]})
    with store.session() as session, pytest.raises(Refused) as error:
        tasks.add(session, "mine", {"name": "mine", "rows": []})
    assert (error.value.code, "'mine'" in error.value.message) == ("task-exists", True)
    with store.session() as session:
        assert tasks.load_user_tasks(session) == [{"name": "mine", "rows": [["a", "b", None]]}]
        tasks.remove(session, "mine")
        tasks.add(session, "mine", {"name": "mine", "rows": []})
        assert tasks.load_user_tasks(session) == [{"name": "mine", "rows": []}]


def test_only_what_was_added_can_be_removed(store: Store) -> None:
    for name in ("induction", "never-added"):
        with store.session() as session, pytest.raises(NotFound, match=name) as error:
            tasks.remove(session, name)
        assert error.value.code == "unknown-task"


def test_a_task_of_a_later_version_hides_no_other(store: Store) -> None:
    with store.session() as session:
        tasks.add(session, "later", {**to_json(task("later")), "schema_version": 2})
        tasks.add(session, "mine", to_json(task("mine", "Answer the question.")))
    with store.session() as session:
        catalogue = TaskCatalogue(tasks.load_user_tasks(session))
    names = [each.name for each in catalogue.all() if each.origin == "yours"]
    assert names == ["mine", "mine-instruction"]
    with pytest.raises(Invalid, match="later version") as error:
        catalogue.get("later")
    assert error.value.code == "stored-task"
