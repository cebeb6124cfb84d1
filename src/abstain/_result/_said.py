"""The verdict: every sentence that a result may say in plain words, with what must hold before it is said.

A result gives *facts*, plain numbers and names, each about one thing; this table says which sentence follows from which
fact. It is the only place where these sentences stand: terminal, notebook and page say the same words. Whatever is
tested, was tested before it became a fact; a sentence says no more than its condition.
"""

from __future__ import annotations

from collections.abc import Iterable

from abstain._result._sentence import QUESTIONS, Facts, Sentence
from abstain._result._spoken import SPOKEN
from abstain._result._verdict_compared import COMPARED
from abstain._result._verdict_measured import MEASURED
from abstain._result._verdict_promised import PROMISED
from abstain._result._verdict_watched import WATCHED

#: In the order in which they are said, question by question.
SENTENCES: tuple[Sentence, ...] = (*PROMISED, *WATCHED, *MEASURED, *COMPARED)


def said(facts: Iterable[Facts], first: str = "live") -> list[tuple[Sentence, str]]:
    """Return the sentences that follow from the facts, each with its words, in the order of questions and table.

    Fields of a sentence's ``box`` are filled, too.

    ``first``: the question that comes first, behind whether the input was read right.
    """
    found: dict[str, list[Facts]] = {}
    for fact in facts:
        found.setdefault(fact["about"], []).append(fact)
    every = {
        SPOKEN.vformat(sentence.words, (), fact): sentence._replace(box=SPOKEN.vformat(sentence.box, (), fact))
        for sentence in SENTENCES
        for fact in found.get(sentence.about, ())
        if sentence.holds(fact)
    }
    order = sorted(QUESTIONS, key=lambda each: (each != "reading", each != first))
    return sorted(
        ((sentence, words) for words, sentence in every.items()), key=lambda each: order.index(each[0].question)
    )
