"""The paper: its length, its references, and no number that a page of the documentation does not have."""

import re

import pytest

from tests.docs.examples import ROOT

PAPER = ROOT / "paper" / "paper.md"
if not PAPER.exists():
    pytest.skip("no paper here", allow_module_level=True)
TEXT = PAPER.read_text(encoding="utf-8").partition("\n---\n")[2]
PROSE = " ".join(re.sub(r"<!-- tied rows: start -->.*?<!-- tied rows: end -->", "", TEXT, flags=re.DOTALL).split())

#: What the paper says, and words of a page that say it. Every number of the paper stands here.
MEASURED = {
    "with 1,000 rows it violated a guarantee that may fail in 5 % of samples in 23.3 %": (
        "measured/certificates.md", "| lowest passing threshold | 0/1 | **6.7 %** | **23.3 %** |"),
    "With 20 errors or more, some of them confident, nominal 95 % intervals cover 93 to 97 %": (
        "interval-coverage.md", "| 20 errors or more, some of them confident | 93 to 97 %"),
    "AURC covers only 71 to 91 %": ("interval-coverage.md", "AURC 71 to 91 %, unwarned"),
    "called different in 0 to 7 % of samples at a nominal 5 %": (
        "interval-coverage.md", "called different in 0 to 7 % of test sets at a nominal 5 %"),
    "Over twenty populations of 1,000 rows the mean certified coverage was 0.297, next to 0.233 for a hybrid rule, "
    "0.222 for SGR [@geifman2017], 0.197 for a fixed sequence and 0.193 for Bonferroni-Holm": (
        "measured/certificates.md", "| 1,000 | 0.297 (3.7 %) | 0.233 (3.1 %) | 0.222 (0.7 %) | 0.197 (5.3 %) | 0.193"),
    "violated their guarantee with tied scores in up to 100 % of samples": (
        "measured/certificates.md", "With tied scores this violated the guarantee in up to 100 %"),
    "were false in up to 42.5 % of samples": (
        "measured/certificates.md", "| 200 rows, each five times | **42.5 %** | 0.0 % |"),
    "with `clusters=`, where each cluster counts once, in at most 0.2 %": (
        "measured/certificates.md", "| 300 clusters of 1 to 20 rows | **12.0 %** | 0.2 % |"),
    "in 7.3 ms for 10,000 in-distribution and 10,000 OOD samples": ("measured/joint.md", "| **exact** | **7.3 ms** |"),
    "give 223.75 to 248.38 on data": ("measured/joint.md", "| 1000, 100 | 223.75 | 9 of 20 |"),
    "whose exact area is 226.31 (times 1,000)": ("measured/joint.md", "DS-AURC x 1000 (exact: 226.31)"),
    "From 5 % errors on, the area under the generalized risk-coverage curve (AUGRC) needs 0.75 of the labels": (
        "measured/few-labels.md", "From 5 % errors on AUGRC needs .75 of the labels in the mean"),
    "a comparison of two models 0.42": ("measured/few-labels.md", "two models .42 (AUGRC)"),
    "violation in 2.1 to 2.6 % of years with an evaluation every evening or after every row, at $\\delta$ = 5 %": (
        "measured/monitoring.md", "| the same, evaluated after every row | 2.2 ± 0.6 % / 2.6 ± 0.7 % |"),
    "At a limit of 5 %, a change from 2 to 10 % errors after 10,000 good rows is reported after 554 labelled rows "
    "in the median": (
        "measured/monitoring.md", "| 10,000 rows of 2 % | 1,768 / 2,925 | 554 / 900 |"),
    "on CIFAR-10.1 v4 the risk of a threshold that was certified on CIFAR-10 at 1 % was 2.47 %": (
        "measured/certificates.md", "on CIFAR-10.1 v4 / v6 | 1 % | 0.806 / 0.812 | 2.47 % / 2.49 % |"),
}  # fmt: skip


@pytest.mark.parametrize("said", MEASURED)
def test_what_is_said_was_measured(said):
    """The paper has these words, and the page has those with the same numbers."""
    page, words = MEASURED[said]
    assert said in PROSE
    assert words in " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())


def test_no_other_number_is_said():
    """All digits of the prose stand in what was measured, or belong to a reference."""
    rest = PROSE
    for said in MEASURED:
        rest = rest.replace(said, "")
    assert re.findall(r"\S*\d\S*", re.sub(r"\[@[^]]*\]", "", rest)) == []


def test_the_length_and_the_parts_are_those_of_the_journal():
    """750 to 1,750 words, with the sections that are asked for."""
    assert 750 <= len(PROSE.split()) <= 1750
    sections = re.findall(r"^# (.*)$", TEXT, re.MULTILINE)
    assert sections[:3] == ["Summary", "Statement of need", "State of the field"]
    assert sections[-1] == "References"


def test_every_reference_is_there_and_used():
    """Each key once in the list, and each with a DOI unless the work has none."""
    found = re.findall(
        r"^@\w+\{(\w+),(.*?)^\}", (ROOT / "paper/paper.bib").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert sorted(key for key, _ in found) == sorted(set(re.findall(r"@(\w+)", TEXT)))
    assert {key for key, entry in found if "doi = {10." not in entry} == set()
