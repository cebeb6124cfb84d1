"""The built documentation: links that resolve, figures, reports and the search; ``make docs`` runs this on its pages.

The build itself runs the tutorials and both galleries, and takes a warning as an error. So it costs as much as a tenth
of the suite, and ``.ci/run`` does it once, in the group of the documentation.
"""

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import abstain

if not os.environ.get("ABSTAIN_HTML"):
    pytest.skip("make docs runs this on the pages that it built", allow_module_level=True)

METRICS = [abstain.metrics.get(name) for name in abstain.metrics.names("blocks", "probabilities")]


class _Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.targets = []
        self.anchors = set()

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag == "a" and values.get("href"):
            self.targets.append(str(values["href"]))
        if values.get("id"):
            self.anchors.add(str(values["id"]))


@pytest.fixture(scope="module")
def html():
    """Return the folder of the pages."""
    return Path(os.environ["ABSTAIN_HTML"]).resolve(strict=True)


@pytest.fixture(scope="module")
def documents(html):
    """Return the pages that have a source: of an earlier build, more may lie about."""
    index = (html / "searchindex.js").read_text(encoding="utf-8")
    names = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))["docnames"]
    found = [html / f"{name}.html" for name in [*names, "genindex", "search"]]
    return found + sorted((html / "gallery/generated/reports").glob("*.html"))


def test_internal_links_resolve(html, documents):
    """Every link between pages leads to a file, and every anchor to a place on it."""
    pages = {}
    for path in documents:
        pages[path] = _Links()
        pages[path].feed(path.read_text(encoding="utf-8"))
    assert len(pages) > len(METRICS)
    broken = []
    for path, links in pages.items():
        for target in links.targets:
            if "://" in target or target.startswith("mailto:"):
                continue
            file, _, anchor = target.partition("#")
            goal = (path.parent / file).resolve() if file else path
            if not goal.exists() or (anchor and goal in pages and anchor not in pages[goal].anchors):
                broken.append(f"{path.relative_to(html)} -> {target}")
    assert broken == []


def test_references_in_docstrings_resolve(html):
    """Every metric's page is linked from the reference, and See Also entries became links."""
    reference = (html / "api" / "metrics.html").read_text(encoding="utf-8")
    assert [m.name for m in METRICS if f"generated/{m.name}.html#abstain." not in reference] == []
    assert 'href="augrc.html#abstain.augrc"' in (html / "metrics" / "generated" / "aurc.html").read_text("utf-8")


def test_reports_of_the_gallery_are_built(html):
    """Each page that the gallery shows is there, whole, and fetches nothing."""
    page = (html / "gallery" / "reports.html").read_text(encoding="utf-8")
    shown = re.findall(r'src="(generated/reports/\w+\.html)"', page)
    assert len(shown) == 6
    for name in shown:
        text = (html / "gallery" / name).read_text(encoding="utf-8")
        assert text.rstrip().endswith("</html>")
        assert not re.search(r'(?:src|href)="https?:', text)


def test_search_works_without_a_network(html):
    """The index of the search lies beside the pages as a script, and knows metrics, commands and glossary words."""
    index = (html / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")
    assert [word for word in ("augrc", "abstent", "threshold", "mapi") if f'"{word}"' not in index] == []
    search = (html / "search.html").read_text(encoding="utf-8")
    assert not re.search(r'(?:src|<link[^>]*href)="(?:https?:)?//', search)  # links to follow may stay
