"""The HTML page: self-contained, well formed, equal for equal input, and deaf to markup in names."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain._result import clean
from abstain.report import as_html_page
from tests.report import hostile

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Walk(HTMLParser):
    """Collects tags, attributes and text, and insists that every tag is closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute of <{tag}> occurs twice"
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def result(**options: object) -> abstain.Evaluation:
    """Return an evaluation of bundled outputs."""
    outputs = abstain.datasets.load("llama3_70b_mmlu")
    return abstain.evaluate(outputs, **({"scores": ["msp", "max_logit"]} | options))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def page() -> str:
    """Return the page of the bundled outputs."""
    return as_html_page(result(), "Llama 3 70B on MMLU")


def test_the_page_asks_for_nothing(page: str) -> None:
    """No script, no style sheet, picture or font from elsewhere, and a policy that would forbid them."""
    walk = Walk(page)
    assert not {"script", "link", "iframe", "object", "embed", "img", "form", "base"} & set(walk.tags)
    for tag, name, value in walk.attributes:
        assert not name.startswith("on")
        assert name not in {"src", "srcset", "action", "data", "formaction"}
        if name.endswith("href"):
            assert value.startswith("#"), (tag, name, value)
        if not name.startswith("xmlns"):
            assert "http:" not in value
            assert "https:" not in value
    styles = page.replace("url(#", "")
    assert "url(" not in styles
    assert "@import" not in styles
    assert "default-src 'none'" in page
    assert ("meta", "charset", "utf-8") in walk.attributes


def test_the_page_is_well_formed(page: str) -> None:
    """Every tag is closed in order, identifiers occur once, references find theirs, tables are rectangular."""
    walk = Walk(page)
    ids = [value for _, name, value in walk.attributes if name == "id"]
    assert len(ids) == len(set(ids)) > 20
    wanted = {value[1:] for _, name, value in walk.attributes if name.endswith("href")}
    wanted |= {value[5:-1] for _, name, value in walk.attributes if name == "clip-path"}
    assert wanted
    assert wanted <= set(ids)
    for table in page.split("<table")[1:]:
        rows = table.split("</table>")[0].split("<tr>")[1:]
        assert len({row.count("<td") + row.count("<th") for row in rows}) == 1
    assert walk.tags.count("h1") == walk.tags.count("title") == walk.tags.count("body") == 1
    assert walk.tags.count("svg") == 2


def test_the_page_says_what_is_needed(page: str) -> None:
    """Title, values, notes, thresholds, conventions with sources, and what it was made from."""
    evaluation = result()
    text = " ".join(Walk(page).text)
    assert "Llama 3 70B on MMLU" in text
    assert f"{evaluation.value('augrc', score='max_logit'):.5f}" in text
    assert all(note in text for note in evaluation.notes())
    assert repr(evaluation.curve("msp").at(coverage=0.8).threshold) in text
    assert "In brackets: 95 % confidence interval." in text
    assert "bold: best of its column" in text
    assert "augrc/trapezoid" in text
    assert abstain.metrics.get("aurc").source in text
    assert evaluation.provenance["fingerprint"] in text
    assert "Evaluation of a reject option" in as_html_page(evaluation)


def test_tables_are_no_wider_than_a_page() -> None:
    """At most four columns of values, each interval on a line of its own that does not break."""
    names = list("abcdefghi")
    outputs = abstain.Outputs(loss=[0, 0, 0, 1] * 10, scores={name: np.linspace(0.0, 1.0, 40) for name in names})
    evaluation = abstain.evaluate(outputs, names, "augrc,aurc,risk,auroc_f")
    metrics = as_html_page(evaluation).partition("<h2>Risk")[0]
    heads = [part.partition("</thead>")[0] for part in metrics.split("<thead>")[1:]]
    assert [head.count("<th ") - 1 for head in heads] == [4, 2]
    (table,) = evaluation.tables()
    cell = table.shown()[0][1]
    assert metrics.count(f"<td>{cell.value} <span>{cell.rest.strip().replace(' ', '&nbsp;')}</span></td>") == 9


def key_figures(evaluation: abstain.Evaluation) -> list[tuple[str, str, str]]:
    """Return name, value and remark of the figures at the top of the page."""
    cards = as_html_page(evaluation).partition('<ul class="cards">')[2].partition("</ul>")[0]
    return re.findall(r"<li><span>(.*?)</span><b>(.*?)</b>(?:<span>(.*?)</span>)?</li>", cards)


def test_key_figures() -> None:
    """What to read first: size, accuracy, the best coverage and area with the score that reaches it."""
    outputs = abstain.Outputs(loss=[0, 0, 0, 1], scores={"good": [4, 3, 2, 1], "bad": [1, 2, 3, 4]})
    assert key_figures(abstain.evaluate(outputs, ["bad", "good"])) == [
        ("Samples", "4", ""),
        ("Accuracy", "0.7500", "nothing rejected"),
        ("Coverage at risk 5 %", "0.7500", "best: good"),
        ("AUGRC", "0.03125", "best: good"),
    ]
    both = abstain.Outputs(loss=[0, 0, 0, 1], scores={"a": [4, 3, 2, 1], "b": [1, 2, 3, 4], "c": [4, 3, 2, 0]})
    assert key_figures(abstain.evaluate(both, ["a", "b", "c"], "augrc"))[1] == ("AUGRC", "0.03125", "best: a, c")
    assert key_figures(abstain.evaluate(outputs, "bad", "augrc")) == [("Samples", "4", ""), ("AUGRC", "0.2188", "")]
    large = abstain.evaluate(abstain.Outputs(loss=[0, 2.0], confidence=[2, 1]))
    assert key_figures(large)[1] == ("Risk", "1", "nothing rejected")
    few = {"all": [4, 3, 2, 1], "few": [0.9, np.nan, 0.3, 0.2]}
    apart = abstain.evaluate(abstain.Outputs(loss=[0, 1, 0, 1], scores=few), list(few), "augrc", nan_policy="drop")
    assert key_figures(apart) == [("Samples", "4", "")]  # no score is the best of several on other samples


def test_thresholds_of_operating_points_are_exact() -> None:
    """The printed threshold, read back, accepts exactly the samples that the table says."""
    rng = np.random.default_rng(1)
    score = rng.random(60)
    outputs = abstain.Outputs(loss=(rng.random(60) < 0.3).astype(float), confidence=score)
    page = as_html_page(abstain.evaluate(outputs, metrics="augrc"))
    table = page.partition("<caption>Operating points of confidence</caption>")[2].partition("</table>")[0]
    rows = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row) for row in table.split("<tr>")[2:]]
    for _, threshold, accepted, coverage, *_ in rows:
        assert f"{int(np.sum(score >= float(threshold)))} of 60" == accepted
        assert float(coverage) == pytest.approx(np.mean(score >= float(threshold)), abs=1e-4)
    assert [row[0] for row in rows] == ["100 %", "95 %", "90 %", "80 %", "70 %", "50 %"]


def test_equal_input_gives_an_identical_page(page: str) -> None:
    """Not a byte differs: here again, in another process with other hashes, and under other drawing settings."""
    import matplotlib as mpl

    assert as_html_page(result(), "Llama 3 70B on MMLU") == page
    with mpl.rc_context({"font.size": 30.0, "axes.grid": True, "svg.fonttype": "path", "lines.linewidth": 9.0}):
        assert as_html_page(result(), "Llama 3 70B on MMLU") == page
    code = (
        "import sys, abstain\n"
        "from abstain.report import as_html_page\n"
        "outputs = abstain.datasets.load('llama3_70b_mmlu')\n"
        "page = as_html_page(abstain.evaluate(outputs, ['msp', 'max_logit']), 'Llama 3 70B on MMLU')\n"
        "sys.stdout.buffer.write(page.encode())"
    )
    other = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=120).stdout
    assert other.decode() == page
    assert as_html_page(result(scores=["max_logit", "msp"]), "Llama 3 70B on MMLU") != page


@pytest.mark.parametrize("part", range(4))
def test_hostile_names_stay_text(part: int, page: str, tmp_path: Path) -> None:
    """A name opens no tag, closes none, adds no attribute and brings no control character; it is shown as text."""
    names = list(hostile.NAMES.values())[part::4]
    evaluation = hostile.evaluation(*names)
    evaluation.report(tmp_path / "page.html", title=names[0])
    hostile_page = (tmp_path / "page.html").read_text("utf-8")
    walk, ordinary = Walk(hostile_page), Walk(page)
    assert set(walk.tags) <= set(ordinary.tags) | {"caption"}
    assert {(tag, name) for tag, name, _ in walk.attributes} <= {(tag, name) for tag, name, _ in ordinary.attributes}
    assert not [c for c in hostile_page if ord(c) < 32 and c != "\n"]
    assert not set(hostile_page) & {"\u202e", "\u2028", "\x7f", "\ud800"}
    text = " ".join(walk.text)
    assert [name for name in names if len(name) < 40 and clean(name) not in text] == []


@pytest.mark.parametrize("kind", hostile.NAMES)
def test_hostile_names_stay_text_in_a_notebook(kind: str) -> None:
    """Neither here does a name become a tag."""
    table = Walk(hostile.evaluation(hostile.NAMES[kind]).to_html())
    assert set(table.tags) <= {"p", "table", "thead", "tbody", "tr", "th", "td", "strong", "span", "caption"}
    assert {name for _, name, _ in table.attributes} <= {"scope"}


def test_names_in_the_pictures() -> None:
    """Legends show mathematics, underscores and foreign letters as they are, and long names shortened."""
    names = ["$x_1$", "_hidden", "置信度", "x" * 300]
    rng = np.random.default_rng(0)
    outputs = abstain.Outputs(loss=[0.0, 1.0] * 10, scores={name: rng.random(20) for name in names})
    page = as_html_page(abstain.evaluate(outputs, names, "augrc"))
    svg = page[page.index("<svg") : page.rindex("</svg>")]
    legend = [text for text in Walk(svg + "</svg>").text if "(AUGRC" in text]
    shown = [text.replace("\u200b", "").strip().rpartition(" (AUGRC")[0] for text in legend]
    assert shown == ["$x_1$", "_hidden", "置信度", "x" * 26 + "…" + "x" * 13]


def test_a_notebook_shows_tables() -> None:
    """The best is bold, without any library; names are text."""
    evaluation = abstain.evaluate(
        abstain.Outputs(loss=[0, 1, 0], scores={"<a>": [1, 2, 3], "b": [3, 1, 2]}), ["<a>", "b"], "augrc", level=None
    )
    table = evaluation._repr_html_()
    assert f"<strong>{evaluation.value('augrc', score='b'):.5f}</strong>" in table
    assert "&lt;a&gt;" in table
    assert "<a>" not in table


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_without_the_extra_the_remedy_is_named(missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The report says what to install and writes nothing."""
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=rf'the report needs {missing}: pip install "\.\[cli\]"'):
        result(metrics="augrc").report(tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_metric_of_ones_own(page: str) -> None:
    """A metric that is not registered is shown without a source."""
    from dataclasses import replace

    own = replace(abstain.metrics.get("risk"), name="own_risk", title="Own <risk>")
    text = as_html_page(result(metrics=own))
    assert "Own &lt;risk&gt;" in text
    assert "own_risk/" in text
