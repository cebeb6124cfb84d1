"""A sentence of the verdict, the questions that sentences answer, and the numbers that their conditions share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Facts = Mapping[str, Any]

#: What a reader asks, in this order.
QUESTIONS = {
    "reading": "Is it read right?",
    "live": "May it go live, and at what threshold?",
    "promise": "What is promised?",
    "better": "Which is better?",
    "worst": "Where is it worst?",
    "next": "What would make it better?",
}
#: What a sentence may say to going live, the worst last. One rule for all: "yes", the risk asked for is promised to all
#: that was looked at; "care", with an exception that is shown, only a risk of up to four times it, or groups of
#: the file that nobody looked at; else "no". "open": the result compares, and chooses nothing.
SIGNS = ("", "open", "yes", "care", "no")

#: Fewer errors than this say little about where they lie.
FEW_ERRORS = 10
#: Fewer rows than this have wide intervals, whatever they show.
FEW_ROWS = 100
#: A larger share of rows with one score is a step that no threshold can part.
LARGE_TIE = 0.1
#: Answering a smaller share of the rows is next to nothing.
NOTHING = 0.01
#: A limit that is certified in place of the one that was asked for is spoken of up to this many times that.
USABLE = 4.0
#: A difference in coverage that is surely smaller than this matters little.
SLIGHT = 0.01

#: Says that no groups were given; a command fills in which columns it did not read, and how these are.
NO_GROUPS: dict[str, Any] = {"about": "no groups", "command": "abstain evaluate", "names": (), "how": ""}
#: Says that no column that may be groups was left unread, nor which command looks at these.
ALL_READ: dict[str, Any] = {"unread": (), "look": ""}
#: Says that no foreign rows were left out; a command fills in what a threshold would do with those of its file.
NO_FOREIGN: dict[str, Any] = {"about": "foreign left out", "count": 0, "answered": 0.0, "mixed": ""}


class Sentence(NamedTuple):
    """A sentence of the verdict.

    ``name``; ``question``: of :data:`QUESTIONS`, which it answers; ``about``: which facts it reads; ``when``: its
    condition in words; ``holds``: the condition; ``words``: a template whose fields are those of the fact; ``sign``:
    of :data:`SIGNS`, what it says to going live; ``box``: a template of what the box of a page says where this sentence
    decides, empty for the usual words of its sign.
    """

    name: str
    question: str
    about: str
    when: str
    holds: Callable[[Facts], bool]
    words: str
    sign: str = ""
    box: str = ""
