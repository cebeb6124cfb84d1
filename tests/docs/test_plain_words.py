"""Words that no public text uses, because a reader knows another word for the same thing.

Read are the pages of the documentation with what their examples print, the help of every command, a report of every
kind, and every text in the package: docstrings, messages, caveats, notes, and the templates of the report. A text is a
string with a space. Code in it is no prose.
"""

import ast
import re
from html import unescape

import pytest

from tests.imports import ROOT, tree_of
from tests.report import kinds

#: A pattern that must not appear, and what is said instead.
INSTEAD = {
    r"\bpromis\w*": "guarantee, certified",
    r"% sure\b": "with 95 % confidence; significantly more; more confident",
    r"\bsurely more\b": "with 95 % confidence; significantly more; more confident",
    r"\bsurer\b": "with 95 % confidence; significantly more; more confident",
    r"\b(?:most|more|how) sure\b": "with 95 % confidence; significantly more; more confident",
    r"\bforeign\b": "out-of-distribution (OOD)",
    r"\bsent (?:away|to people)\b": "rejected, referred for review",
    r"\bmodel (?:itself )?declin\w*|\bdeclined by\b": "abstained",
    r"\b(?:draw|drawn|by|as) lots\b": "randomization",
    r"\b(?:public|private|own|closed|front|back) (?:rooms?|leaf|leaves|floors?|wings?|doors?|house)\b": "package",
    r"\broof\b": "package, module, layer",
    r"\bladders?\b": "risk levels",
    r"\b(?:interim|weekly|daily|each|every|one|first|last|many|further) looks?\b": "interim analysis",
    r"\bhowever often one looks\b": "interim analysis",
    r"\bwatch(?:ed|es|ing)?\b": "monitor",
    r"\bbeforehand\b": "in advance",
    r"\bbeside\b": "next to, with, in addition to",
    r"\b(?:thereof|whereof)\b": "write the sentence out",
    r"\bwhat (?:became|becomes) of\b|\bfates?\b": "outcome",
    r"\bpictures?\b": "images, figures",
    r"\bmade-up\b": "synthetic",
    r"\bstrangers?\b|\bby luck\b|\bluck\b|\blucky\b": "new users; chance",
    r"\b(?:certified|labelled|whole) zones?\b": "certified region",
    r"\b(?:tell|tells|told)(?: \w+)? apart\b": "distinguish, report, state",
    r"\b(?:cannot|can|could not) tell\b": "distinguish, report, state",
    r"\b(?:is|are|be) told\b": "distinguish, report, state",
    r"\bsaid aloud\b": "stated",
    r"\bhow much surer\b|\bat least about\b": "more confident; about",
    r"\btwo homes\b|\blives in\b(?! NumPy)": "defined in",
    r"\b(?:guarantee|limit)s? (?:was|were|is|are|be) (?:broken|kept)\b|% broken\b": "violated, satisfied",
    r"\b(?:break|breaks|broke|keep|keeps) (?:the|a|its|their|every|no) (?:guarantee|limit)s?\b": "violates, satisfies",
}
PATTERNS = {re.compile(pattern, re.IGNORECASE): word for pattern, word in INSTEAD.items()}
DOCS = {path.relative_to(ROOT / "docs").as_posix(): path for path in (ROOT / "docs").rglob("*.md")}
PAGES = {name: path for name, path in DOCS.items() if not {"_build", "generated"} & set(path.parts)}
PAGES["README.md"] = ROOT / "README.md"
MODULES = sorted((ROOT / "src" / "abstain").rglob("*.py"))
TEMPLATES = sorted(path for kind in ("html", "js") for path in (ROOT / "src" / "abstain").rglob(f"*.{kind}"))
#: Names of papers, of recipes and of former versions, and the opposite of a text.
QUOTED = re.compile(r"\bSURE\+?|arXiv:\S+|now abstain\.\S+|abstain\.nn\.data\.foreign")


def prose(text):
    """Return a text without its code, the names of parameters, the targets of its links and what it quotes."""
    text = re.sub(r"^```.*?^```$|^>.*?$|^ *(?:>>>|\.\.\.) .*?$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^ *[\w, ]+ : .*$", "", text, flags=re.MULTILINE)  # a parameter and its type
    return QUOTED.sub(
        "", re.sub(r"``[^`\n]*``|`[^`\n]*`|\]\([^)]*\)|\S*\.(?:png|py|json|csv|npz)\b|--[\w-]+", "", text)
    )


def avoided(text):
    """Return the words to avoid that a text uses, each with what is said instead."""
    found = prose(text)
    return {match[0]: word for pattern, word in PATTERNS.items() for match in pattern.finditer(found)}


def texts(path):
    """Yield every string with a space of a module, with its line."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


@pytest.mark.parametrize("page", sorted(PAGES))
def test_a_page_uses_the_words_of_the_field(page):
    """None of the words to avoid stands in the prose of a page."""
    assert avoided(PAGES[page].read_text(encoding="utf-8")) == {}


def test_the_package_uses_the_words_of_the_field():
    """Docstrings, messages, caveats and notes, public or not, and the templates of the report."""
    found = [(path.name, line, avoided(text)) for path in MODULES for line, text in texts(path)]
    found += [(path.name, 0, avoided(path.read_text(encoding="utf-8"))) for path in TEMPLATES]
    assert [each for each in found if each[2]] == []


def test_the_help_of_every_command_uses_the_words_of_the_field():
    """With all options, the hidden ones too."""
    click = pytest.importorskip("click")
    from abstain.cli import command

    waiting, found = [command], []
    for each in waiting:
        described = [text for option in each.params if (text := getattr(option, "help", None))]
        found += map(avoided, [each.get_help(click.Context(each, info_name=each.name)), *described])
        waiting += getattr(each, "commands", {}).values()
    assert len(waiting) > 20
    assert [words for words in found if words] == []


def test_output_in_code_blocks_uses_the_words_of_the_field():
    """What commands and results print on the pages; lines that are typed are code."""
    typed = re.compile(r"^ *(?:>>>|\.\.\.|\$) .*$|^.*#.*$", re.MULTILINE)
    shown = {
        name: re.findall(r"^```(?:python|console)\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S)
        for name, path in PAGES.items()
    }
    found = {name: words for name, blocks in shown.items() if (words := avoided(typed.sub("", "\n".join(blocks))))}
    assert found == {}


@pytest.mark.parametrize("kind", sorted(kinds.KINDS.keys() - {"odd_names"}))
def test_a_report_uses_the_words_of_the_field(kind):
    """The text of a page of every kind, in sections that are closed too."""
    text = re.sub(r"<(style|script).*?</\1>|<[^>]*>", "\n", kinds.page(kind)[1], flags=re.DOTALL)
    assert avoided(unescape(text)) == {}


def test_what_the_test_sees():
    """Words in sentences, not names in code."""
    text = "These promise nothing. The limit is kept. Run it beside\n    foreign : str\n        `foreign` and --foreign"
    assert set(avoided(text)) == {"promise", "limit is kept", "beside"}
