"""Tasks that go on with a sentence: indirect objects, a later year, pronouns.

A row's paired prompt has the same words but for those that decide the answer, so that the counterfactual is
right in it. Held out are names, events, centuries and templates.
"""

from __future__ import annotations

from headscope.tasks.task import Row, Split
from headscope.tasks.template import CONTINUATION
from headscope.tasks.templated.drawing import Pick, both_splits, parted
from headscope.tasks.templated.task import TemplatedTask
from headscope.tasks.templated.words import EVENTS, GIFTS, MEN, PLACES, WOMEN

_NAMES = parted([name for both in zip(WOMEN, MEN, strict=True) for name in both])
_GIVING: dict[Split, tuple[str, ...]] = {
    "train": (
        "When {a} and {b} went to the {place}, {giver} gave a {gift} to",
        "While {a} and {b} were at the {place}, {giver} handed a {gift} to",
        "After {a} and {b} left the {place}, {giver} brought a {gift} to",
        "Then {a} and {b} had a long talk at the {place}. Afterwards {giver} sent a {gift} to",
        "{a} and {b} met at the {place}, and {giver} decided to give a {gift} to",
    ),
    "test": (
        "Once {a} and {b} got to the {place}, {giver} offered a {gift} to",
        "Friends {a} and {b} found a {gift} at the {place}, and {giver} passed it to",
    ),
}


def indirect_object() -> TemplatedTask:
    """Two names, one of them again: the other one comes. The order varies (ABBA and BABA)."""

    def make(pick: Pick, split: Split) -> Row:
        names = pick.some(_NAMES[split], 2)
        template, place, gift = pick.one(_GIVING[split]), pick.one(PLACES), pick.one(GIFTS)
        giver, other = pick.some(names, 2)
        asked, paired = (
            template.format(a=names[0], b=names[1], giver=name, place=place, gift=gift)
            for name in (giver, other)
        )
        return Row(asked, other, giver, paired=paired)

    return TemplatedTask(
        "indirect-object",
        "Indirect object",
        both_splits("indirect-object", make, 480, 160),
        "Who gets it: “When Mary and John went to the store, John gave a drink to” goes on with “Mary”, "
        "not “John”.",
        source="Templates of our own, after Wang et al. 2022 (arXiv 2211.00593)",
        licence="MIT",
        template=CONTINUATION,
        separator="\n",
        shots=0,
        targets="The name that stands once; right where it is likelier than the one that stands twice.",
        judged="pair",
        origin="built-in",
        n_held_out=160,
    )


_LASTING: dict[Split, tuple[str, ...]] = {
    "train": (
        "The {event} lasted from the year {century}{start:02} to the year {century}",
        "The {event} began in {century}{start:02} and ended in {century}",
        "The {event} of {century}{start:02} went on until the year {century}",
    ),
    "test": ("The {event} started in the year {century}{start:02} and was over in the year {century}",),
}
_CENTURIES: dict[Split, tuple[int, ...]] = {"train": (11, 13, 15, 17), "test": (12, 14, 16, 18)}
_EVENTS = parted(EVENTS)


def greater_than() -> TemplatedTask:
    """A year later than the one named. In the paired prompt that one comes before the counterfactual, too."""

    def make(pick: Pick, split: Split) -> Row:
        start = pick.number(12, 88)
        later, earlier = pick.number(start + 1, 98), pick.number(2, start - 1)
        template, event, century = (
            pick.one(_LASTING[split]),
            pick.one(_EVENTS[split]),
            pick.one(_CENTURIES[split]),
        )
        asked, paired = (
            template.format(event=event, century=century, start=year)
            for year in (start, pick.number(1, earlier - 1))
        )
        return Row(asked, f"{later:02}", f"{earlier:02}", paired=paired)

    return TemplatedTask(
        "greater-than",
        "Greater than",
        both_splits("greater-than", make, 480, 160),
        "A later year: “The war lasted from the year 1732 to the year 17” goes on with “45”, not “28”. "
        "Preferring large numbers whatever the first year would pass, too; the paired prompts tell.",
        source="Templates of our own, after Hanna et al. 2023 (arXiv 2305.00586)",
        licence="MIT",
        template="{prompt}{target}",
        separator="\n",
        shots=0,
        targets="Two digits of a later year; right where they are likelier than those of an earlier one.",
        judged="pair",
        origin="built-in",
        n_held_out=160,
    )


_SPOKEN: dict[Split, tuple[str, ...]] = {
    "train": (
        "So {name} is such a good friend, isn't",
        "So {name} is a very fast runner, isn't",
        "{name} was tired after the long walk, so",
        "{name} went home early because",
        "I asked {name} a question, and then",
        "{name} opened the door, and at once",
        "Everyone likes {name} because",
        "When {name} came back from the city,",
    ),
    "test": (
        "{name} is a really great teacher, isn't",
        "{name} stayed in bed all day, since",
        "As soon as {name} had eaten,",
        "Nobody heard {name} sing before, but today",
        "{name} bought a new coat, and now",
        "Before {name} left the house,",
        "{name} couldn't find the key, so",
        "After the game {name} said that",
    ),
}
_GENDERED: dict[str, dict[Split, tuple[str, ...]]] = {"she": parted(WOMEN), "he": parted(MEN)}


def gendered_pronoun() -> TemplatedTask:
    """The pronoun of a name; the paired prompt has a name of the other gender."""

    def make(pick: Pick, split: Split) -> Row:
        template, pronouns = pick.one(_SPOKEN[split]), pick.some(("she", "he"), 2)
        asked, paired = (template.format(name=pick.one(_GENDERED[each][split])) for each in pronouns)
        return Row(asked, pronouns[0], pronouns[1], paired)

    return TemplatedTask(
        "gendered-pronoun",
        "Gendered pronoun",
        both_splits("gendered-pronoun", make, 360, 120),
        "The pronoun of a name: “So Peter is such a good friend, isn't” goes on with “he”, not “she”.",
        source="Templates of our own, after Mathwin et al. 2023 (a circuit for gendered pronouns)",
        licence="MIT",
        template=CONTINUATION,
        separator="\n",
        shots=0,
        targets="The pronoun; right where it is likelier than the other one.",
        judged="pair",
        origin="built-in",
        n_held_out=120,
    )
