"""The ledger of claims: its rows, its page, and the quick checks, which print what the ledger says."""

import json
import re

import pytest

from experiments.claims import __main__ as claims
from experiments.claims import _ledger as ledger
from tests.imports import ROOT

ROWS = ledger.load()
SETTLED = ("confirmed", "corrected", "contradicted")


def test_rows_are_whole():
    """Each has a paper, a place, a claim, a finding and a known status, and nobody is there twice."""
    assert len({each.id for each in ROWS}) == len(ROWS) == 213
    assert {each.paper for each in ROWS} <= set(ledger.PAPERS)
    assert {each.status for each in ROWS} <= set(ledger.STATUSES)
    assert [each.id for each in ROWS if not (each.place and each.claim and each.finding)] == []


READ = re.compile(r"[\w.-]+/[\w.-]+ [0-9a-f]{7}: \S|not published")


def test_what_is_settled_has_a_command_that_printed_something():
    """Or it is settled by the authors' code; nothing is said against a paper whose code, if published, was not read."""
    settled = [each for each in ROWS if each.status in SETTLED and " " not in each.read]
    assert [each.id for each in settled if each.id not in ledger.CHECKS or not each.printed] == []
    assert set(ledger.CHECKS) <= {each.id for each in ROWS}
    for status in ("contradicted", "corrected"):
        rows = [each for each in ROWS if each.status == status]
        assert len(rows) > 30
        assert [each.id for each in rows if not READ.search(each.read)] == []


def test_quick_checks_print_what_the_ledger_says():
    """All of them hold, and their values are those that were kept."""
    found = ledger.run(ROWS, ["quick"])
    assert len(found) > 130
    printed = {each.id: each.printed for each in ROWS}
    assert {name: (printed[name], value) for name, value in found.items() if printed[name] != value} == {}
    assert (ROOT / "docs" / "claims.md").read_text(encoding="utf-8") == ledger.page(ROWS)  # as make claims writes it


def test_a_check_that_fails_is_seen(monkeypatch, capsys):
    """A fact that does not hold, or a value that moved, ends with 1 and is named; nothing is written."""

    def wrong():
        raise AssertionError("the gap is 3")

    monkeypatch.setitem(ledger.CHECKS, "A1", ("quick", wrong))
    assert claims.main(["A1", "--write"]) == 1
    assert "A1 confirmed: FAILED: the gap is 3" in capsys.readouterr().out
    monkeypatch.setitem(ledger.CHECKS, "A1", ("quick", lambda: "another value"))
    assert claims.main(["A1"]) == 1
    with pytest.raises(SystemExit):
        claims.main(["A999"])


def test_printed_numbers_name_their_source():
    """Each file says which tables of which paper it holds."""
    for path in (ROOT / "experiments" / "claims" / "printed").glob("*.json"):
        assert "able" in json.loads(path.read_text(encoding="utf-8"))["about"], path.name
