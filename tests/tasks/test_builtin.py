from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.builtin import builtin_tasks
from headscope.tasks.generated import InductionTask, RuleTask
from headscope.tasks.preview import preview
from headscope.tasks.text import TextTask

SIZES = {
    "induction": (1024, 256),
    "induction-any-token": (1024, 256),
    "rule-aba": (1024, 256),
    "rule-abb": (1024, 256),
    "singular-plural": (143, 62),
    "present-past": (205, 88),
    "capitalize": (569, 244),
    "country-capital": (138, 59),
    "antonym": (1679, 719),
    "english-french": (3289, 1409),
    "commonsense-qa": (2100, 900),
    "gsm8k": (1750, 750),
    "subject-verb-agreement": (1938, 830),
    "anaphor-agreement": (1399, 599),
    "indirect-object": (480, 160),
    "greater-than": (480, 160),
    "successor": (500, 184),
    "gendered-pronoun": (360, 120),
    "coloured-object": (480, 160),
    "docstring-argument": (480, 160),
    "copying": (480, 160),
    "plural-singular": (153, 51),
    "past-present": (220, 73),
    "comparative": (112, 37),
    "two-digit-addition": (600, 200),
}
FORMS = ("singular-plural", "present-past", "capitalize", "country-capital", "antonym", "english-french")
SIZES |= {f"{name}-instruction": SIZES[name] for name in FORMS}
NAMES = sorted(SIZES)


def test_what_ships() -> None:
    assert {name: task.sizes() for name, task in builtin_tasks().items()} == SIZES


@pytest.mark.parametrize("name", NAMES)
def test_every_task_says_what_it_is(name: str) -> None:
    task = builtin_tasks()[name]
    assert task.name == name
    assert task.origin == "built-in"
    assert all([task.title, task.description, task.source, task.licence, task.targets])
    assert len(task.content_hash) == 64


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("split", ["train", "test"])
def test_every_task_gives_examples(tokenizer: Tokenizer, name: str, split: str) -> None:
    examples, n_train, n_test = preview(builtin_tasks()[name], tokenizer, split, 20)  # type: ignore[arg-type]
    assert (len(examples), n_train, n_test) == (20, *SIZES[name])
    for example in examples:
        assert example.targets
        assert example.targets[0] >= 1
        assert example.targets == tuple(range(example.targets[0], len(example.tokens)))
        spelled = b"".join(token.bytes for token in tokenizer.sequence(example.target_ids))
        assert spelled
        unspaced = name in ("induction-any-token", "rule-aba", "rule-abb", "greater-than")
        assert unspaced or spelled.startswith(b" ") or name.endswith("-instruction")


@pytest.mark.parametrize("name", FORMS)
def test_both_forms_have_the_same_rows_held_out_and_the_instruction_shows_no_other(
    tokenizer: Tokenizer, name: str
) -> None:
    by_examples, by_words = builtin_tasks()[name], builtin_tasks()[f"{name}-instruction"]
    assert isinstance(by_examples, TextTask)
    assert isinstance(by_words, TextTask)
    for seed in (0, 1):
        assert by_examples.split(seed) == by_words.split(seed)
    assert by_examples.content_hash != by_words.content_hash
    assert (by_words.form_of, by_words.shots) == (name, 0)
    row = by_words.split(0)["test"][0]
    spelled = b"".join(
        map(tokenizer.decode_bytes, by_words.examples(tokenizer, "test", limit=1)[0].tokens[1:])
    )
    assert spelled.decode() == by_words.template.replace("{prompt}", row.prompt).replace(
        "{target}", row.target
    )


HASHES = {
    "induction": "ee0a6701d3c9",
    "induction-any-token": "14ebab0f3183",  # what induction was until it drew words
    "rule-aba": "34fecc6e92c8",
    "rule-abb": "a00fc4567d0e",
    "singular-plural": "a3aa80222f0c",
    "singular-plural-instruction": "b6ac432f31bd",
    "present-past": "d1effd96b9a4",
    "present-past-instruction": "010064d0635d",
    "capitalize": "51d58cc6be8d",
    "capitalize-instruction": "4ca9854acca0",
    "country-capital": "96b1fa0600d8",
    "country-capital-instruction": "7005ecd9e298",
    "antonym": "17373ff35551",
    "antonym-instruction": "6b82fd387d8d",
    "english-french": "e4a52645bbe0",
    "english-french-instruction": "55bd575258a8",
    "commonsense-qa": "a73485e4dc27",
    "gsm8k": "6f9dedef8476",
    "subject-verb-agreement": "b1a922261088",
    "anaphor-agreement": "1d857b50f001",
    "indirect-object": "b3416803c2a0",
    "greater-than": "e35f4806a791",
    "successor": "86384ba7e17a",
    "gendered-pronoun": "fb55fa0a2fdb",
    "coloured-object": "fdc0d0cbae57",
    "docstring-argument": "e070cc2eaaf8",
    "copying": "17720010392a",
    "plural-singular": "f790b1eb7cec",
    "past-present": "35416419c3de",
    "comparative": "3f241248cda3",
    "two-digit-addition": "614389badfe3",
}
"""What stored runs say of their tasks: with another content they can't be computed again."""


@pytest.mark.parametrize("name", NAMES)
def test_content_is_for_ever(name: str) -> None:
    assert builtin_tasks()[name].content_hash.startswith(HASHES[name])


def test_rows_are_clean() -> None:
    for task in builtin_tasks().values():
        if isinstance(task, TextTask):
            assert task.n_duplicates == 0
            for row in task.rows:
                assert row.prompt.strip() == row.prompt
                assert row.target.strip() == row.target
                assert row.target
                assert row.counterfactual != row.target


def test_agreement_tasks_have_counterfactuals(tokenizer: Tokenizer) -> None:
    for name in ("subject-verb-agreement", "anaphor-agreement"):
        task = builtin_tasks()[name]
        assert task.judged == "pair"
        assert all(example.counterfactual for example in task.examples(tokenizer, "test", limit=200))


def test_gsm8k_is_solved_without_calculator_marks() -> None:
    task = builtin_tasks()["gsm8k"]
    assert isinstance(task, TextTask)
    assert all("\n#### " in row.target and "<<" not in row.target for row in task.rows)


def test_data_stays_small_and_licensed() -> None:
    data = files("headscope.tasks") / "data"
    sizes = {entry.name: len(entry.read_bytes()) for entry in data.iterdir()}
    assert sum(sizes.values()) < 3_000_000
    assert {"README.md", "LICENSE.function_vectors", "LICENSE.gsm8k"} <= set(sizes)
    readme = (data / "README.md").read_text()
    assert all(name.removesuffix(".jsonl.gz") in readme for name in sizes if name.endswith(".gz"))


def test_tasks_load_no_torch() -> None:
    code = (
        "import sys, headscope.tasks.catalogue, headscope.tasks.upload, headscope.tasks.preview as p;"
        "headscope.tasks.catalogue.TaskCatalogue().all();"
        "sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestInduction:
    task = builtin_tasks()["induction"]

    @pytest.mark.parametrize("kind", ["tokenizer", "without_bos"])
    def test_the_second_copy_carries_loss_but_for_its_first_token(
        self, request: pytest.FixtureRequest, kind: str
    ) -> None:
        tokenizer: Tokenizer = request.getfixturevalue(kind)
        for example in self.task.examples(tokenizer, "train", limit=50):
            tokens = list(example.tokens)
            if tokenizer.adds_bos:
                assert tokens.pop(0) == tokenizer.bos_id
            assert tokens[:24] == tokens[24:]
            assert len(set(tokens)) == 24
            assert not any(map(tokenizer.is_special, tokens))
            assert example.target_ids == tuple(tokens[25:])

    def test_splits_share_no_sequence(self, tokenizer: Tokenizer) -> None:
        train, test = (set(self.task.examples(tokenizer, split)) for split in ("train", "test"))
        assert (len(train), len(test)) == (1024, 256)
        assert not train & test

    def test_seeds_differ_and_repeat(self, tokenizer: Tokenizer) -> None:
        draw = [self.task.examples(tokenizer, "test", seed=seed) for seed in (0, 0, 1)]
        assert draw[0] == draw[1] != draw[2]

    def test_bad_requests(self, tokenizer: Tokenizer, only_bytes: Tokenizer) -> None:
        with pytest.raises(Invalid, match="no in-context examples"):
            self.task.examples(tokenizer, "train", shots=1)
        with pytest.raises(Invalid, match=r"context of 32 tokens.*has 49"):
            self.task.examples(tokenizer, "train", n_ctx=32)
        long = InductionTask("i", "", "", "", "", "", length=200)
        with pytest.raises(Invalid, match="needs 400 different tokens, this model's vocabulary offers 256"):
            long.examples(only_bytes, "train")


class TestRules:
    aba = builtin_tasks()["rule-aba"]
    abb = builtin_tasks()["rule-abb"]

    @pytest.mark.parametrize("split", ["train", "test"])
    def test_the_rule_holds_in_every_line(self, tokenizer: Tokenizer, split: str) -> None:
        for task, place in ((self.aba, 0), (self.abb, 1)):
            for example in task.examples(tokenizer, split, limit=100, shots=3):  # type: ignore[arg-type]
                text = b"".join(map(tokenizer.decode_bytes, example.tokens[1:])).decode()
                lines = [line.split("^") for line in text.split("\n")]
                assert len(lines) == 4
                assert all(line[2] == line[place] != line[1 - place] for line in lines)
                assert len({word for line in lines for word in line}) == 8
                assert example.targets == (len(example.tokens) - 1,)
                assert tokenizer.encode(text) == list(example.tokens)

    def test_the_other_rule_is_the_counterfactual(self, tokenizer: Tokenizer) -> None:
        aba, abb = (task.examples(tokenizer, "test") for task in (self.aba, self.abb))
        assert [e.target_ids for e in aba] == [e.counterfactual for e in abb]
        assert [e.counterfactual for e in aba] == [e.target_ids for e in abb]

    def test_test_questions_use_tokens_that_training_never_shows(self, tokenizer: Tokenizer) -> None:
        seen = {
            token for example in self.aba.examples(tokenizer, "train", shots=4) for token in example.tokens
        }
        test = self.aba.examples(tokenizer, "test", shots=4)
        assert not seen & {token for e in test for token in (*e.target_ids, *(e.counterfactual or ()))}

    def test_letters_do_where_there_are_no_words(self, only_bytes: Tokenizer) -> None:
        assert len(self.aba.examples(only_bytes, "test", limit=5)) == 5
        with pytest.raises(Invalid, match="vocabulary"):
            self.aba.examples(only_bytes, "test", shots=40)

    def test_sentencepiece_gets_no_space_before_the_caret(self, sentencepiece: Tokenizer) -> None:
        (example,) = self.aba.examples(sentencepiece, "train", limit=1, shots=1)
        assert b" " not in b"".join(map(sentencepiece.decode_bytes, example.tokens[1:]))

    def test_hashes_tell_rules_and_lengths_apart(self) -> None:
        rule = RuleTask("r", "", "", "", "", "", shots=3)
        hashes = {t.content_hash for t in (self.aba, self.abb, rule, builtin_tasks()["induction"])}
        assert len(hashes) == 4


def test_the_docs_list_every_task_with_its_rows_and_licence() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text(encoding="utf-8")
    for task in builtin_tasks().values():
        n_train, n_test = task.sizes()
        (line,) = [line for line in page.splitlines() if line.startswith(f"| `{task.name}` ")]
        assert f"| {n_train} / {n_test} |" in line
        assert task.licence.split(",")[0] in line
