"""The README: its examples run, its links lead somewhere, its tables are true and its picture is small."""

import json
import re
import runpy

import pytest

import abstain
from abstain import _extras
from abstain.conformance import vectors
from conformance import peers
from tests.docs.examples import DOCS, ROOT, failures_of

README = ROOT / "README.md"


def test_the_example_runs_and_is_short(tmp_path, monkeypatch):
    """The Python example prints what the page says; it is ten lines of code at most."""
    monkeypatch.chdir(tmp_path)
    number, failures = failures_of(README, shell=False)
    assert failures == []
    assert 5 <= number <= 10


def test_installing_is_said_alike_everywhere():
    """Pages say what messages say: at a release one constant changes, and this names the pages to change with it."""
    pages = [README, *DOCS.glob("*.md"), *DOCS.glob("[!_]*/*.md")]
    said = {
        (page.name, target)
        for page in pages
        for target in re.findall(r"pip install \"([^\"\[]*)\[", page.read_text(encoding="utf-8"))
    }
    assert {page for page, _ in said} >= {"README.md", "index.md"}
    assert {target for _, target in said} == {_extras.SOURCE}
    code = [path for path in (ROOT / "src").rglob("*.py") if 'pip install "abstain' in path.read_text("utf-8")]
    assert code == []


def test_the_version_is_one():
    """The package says it; the citation repeats it, and is well formed enough to name title, authors and papers."""
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == abstain.__version__
    assert {"cff-version", "message", "title", "authors", "license"} <= set(citation)
    assert len(citation["references"]) >= 5
    assert all({"type", "title", "authors"} <= set(each) for each in citation["references"])


def test_links_lead_somewhere():
    """Relative ones to files; under an address all are whole, and while there is none, links are plain words."""
    description = runpy.run_path(str(ROOT / ".ci" / "description.py"))["description"]
    text = README.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    files = [each.partition("#")[0] for each in links if "://" not in each]
    assert len(files) > 8
    assert [each for each in files if each and not (ROOT / each).is_file()] == []
    there = re.findall(r"\]\(([^)]+)\)", description(text, "https://abstain.example/blob/main/"))
    assert there == [each if "://" in each else f"https://abstain.example/blob/main/{each}" for each in links]
    plain = description(text, "")
    assert [each for each in re.findall(r"\]\(([^)]+)\)", plain) if "://" not in each] == []
    assert "cases in which it does not hold" in plain
    assert "certified.png" not in plain


@pytest.mark.parametrize(("file", "mark", "table"), peers.PLACES)
def test_a_table_of_packages_is_what_its_results_say(file, mark, table):
    """``python conformance/peers.py write`` would change nothing."""
    results = json.loads(peers.RESULTS.read_text(encoding="utf-8"))
    assert f"<!-- {mark}: start -->\n{table(results)}\n<!-- {mark}: end -->" in (ROOT / file).read_text(
        encoding="utf-8"
    )


def test_the_results_of_packages_are_of_these_vectors():
    """A changed answer asks for another run; abstain agrees throughout, and all others are named with a version."""
    results = json.loads(peers.RESULTS.read_text(encoding="utf-8"))
    assert results["vectors"] == vectors()["version"]
    assert results["packages"].keys() == peers.PACKAGES.keys()
    ours = results["packages"]["abstain"]["metrics"]
    assert ours.keys() == vectors()["metrics"].keys()
    assert all(found["passed"] for found in ours.values())
