"""The HTML page: self-contained, well formed, equal for equal input, and deaf to markup in names."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import abstain
from abstain._result import clean, percent
from abstain.report import Source, as_html, build
from tests.report import hostile

VOID = {"meta", "wbr", "link", "br", "img", "hr", "input"}


class Walk(HTMLParser):
    """Collects tags, attributes and text, and insists that every tag is closed in order."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags = []
        self.attributes = []
        self.text = []
        self.open = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute of <{tag}> occurs twice"
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def result(**options):
    """Return an evaluation of bundled outputs."""
    outputs = abstain.datasets.load("llama3_70b_mmlu")
    return abstain.evaluate(outputs, **({"scores": ["msp", "max_logit"]} | options))


def as_html_page(evaluation, title=None, **source):
    """Return the page of a result."""
    return as_html(build(evaluation, Source(**source), title))


def page_text(page):
    """Return the text of a page, where emphasis opens no gap."""
    text = " ".join(Walk(re.sub(r"</?b>", "", page)).text)
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


@pytest.fixture(scope="module")
def page():
    """Return the page of the bundled outputs."""
    return as_html_page(result(), "Llama 3 70B on MMLU")


def test_the_page_asks_for_nothing(page):
    """No style sheet, picture, script or font from elsewhere, and a policy that forbids all but these two by hash."""
    walk = Walk(page)
    assert not {"link", "iframe", "object", "embed", "img", "base"} & set(walk.tags)
    assert walk.tags.count("script") == 2
    for tag, name, value in walk.attributes:
        assert not name.startswith("on")
        assert name not in {"src", "srcset", "action", "data", "formaction", "style"}
        if name.endswith("href"):
            assert value.startswith("#"), (tag, name, value)
        if not name.startswith("xmlns"):
            assert "http:" not in value
            assert "https:" not in value
    assert "url(" not in page
    assert "@import" not in page
    policy = next(value for _, name, value in walk.attributes if name == "content" and "default-src" in value)
    assert policy.startswith("default-src 'none'; img-src data:; ")
    for tag in ("style", "script"):
        text = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert len(text) == 1
        digest = base64.b64encode(hashlib.sha256(text[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert ("meta", "charset", "utf-8") in walk.attributes


def test_the_page_is_well_formed(page):
    """Every tag is closed in order, identifiers occur once, references find theirs, tables are rectangular."""
    walk = Walk(page)
    ids = [value for _, name, value in walk.attributes if name == "id"]
    assert len(ids) == len(set(ids)) > 20
    wanted = {value[1:] for _, name, value in walk.attributes if name == "href"}
    named = {"aria-labelledby", "aria-describedby", "list"}
    wanted |= {each for _, name, value in walk.attributes if name in named for each in value.split()}
    assert len(wanted) > 3
    assert wanted <= set(ids)
    for table in page.split("<table")[1:]:
        rows = table.split("</table>")[0].split("<tr>")[1:]
        assert len({row.count("<td") + row.count("<th") for row in rows}) == 1
    assert walk.tags.count("h1") == page.count("<title>") == 1
    assert walk.tags.count("body") == walk.tags.count("main") == 1


def test_the_page_says_what_is_needed(page):
    """Verdict, values, notes, exact thresholds, conventions with sources, and what it was made from."""
    evaluation = result()
    text = " ".join(" ".join(Walk(page).text).replace("\N{NO-BREAK SPACE}", " ").split())
    verdict = evaluation.verdict
    assert verdict.headline in page_text(page)
    assert f"Answer if msp ≥ {verdict.printed}; refer the rest for review." in text
    assert [each.text for each in verdict.caveats[:3] if each.text not in text] == []
    assert "Llama 3 70B on MMLU" in text
    assert f"{abstain.scores.get('msp').title}: max_k p_k, the estimated probability of being right." in text
    assert f"{evaluation.value('augrc', score='max_logit'):.5f}" in text
    shown = [note for note in evaluation.notes() if "the largest tie" not in note]  # which the checks say
    assert [note for note in shown if note not in text] == []
    assert repr(evaluation.curve("msp").at(coverage=0.8).threshold) in text
    assert "In brackets: 95 % confidence interval." in text
    assert "Bold: best of its column" in text
    assert "augrc/trapezoid" in text
    assert abstain.metrics.get("aurc").source in text
    assert evaluation.provenance["fingerprint"] in text
    assert "Evaluation of a reject option" in as_html_page(evaluation)


def test_where_a_page_came_from(tmp_path, monkeypatch):
    """Command, date, files with their hashes; SOURCE_DATE_EPOCH sets the date."""
    file = tmp_path / "rows.csv"
    file.write_text("loss,score\n0,1\n")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    text = " ".join(Walk(as_html_page(result(), files=[file], command="abstain evaluate rows.csv")).text)
    assert "1970-01-02" in text
    assert "abstain evaluate rows.csv" in " ".join(text.split())
    assert hashlib.sha256(file.read_bytes()).hexdigest() in text


def test_thresholds_of_operating_points_are_exact():
    """The printed threshold, read back, accepts exactly the samples that the table says."""
    rng = np.random.default_rng(1)
    score = rng.random(60)
    outputs = abstain.Outputs(loss=(rng.random(60) < 0.3).astype(float), confidence=score)
    page = as_html_page(abstain.evaluate(outputs, metrics="augrc"))
    page = page.replace("\N{NO-BREAK SPACE}", " ")
    table = page.partition(">Operating points of confidence</p>")[2].partition("</table>")[0]
    rows = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row) for row in table.split("<tr>")[2:]]
    for _, threshold, accepted, coverage, *_ in rows:
        assert f"{int(np.sum(score >= float(threshold)))} of 60" == accepted
        assert coverage == percent(float(np.mean(score >= float(threshold))))
    assert [row[0] for row in rows] == ["100 %", "95 %", "90 %", "80 %", "70 %", "50 %"]


def slider(page):
    """Return what the script of a page reads."""
    return json.loads(page.partition('id="slider-data">')[2].partition("</script>")[0])


def test_stops_of_the_slider_are_what_python_measures(page):
    """Each stop: exact threshold, accepted rows, errors and the exact interval of the risk."""
    outputs = abstain.datasets.load("llama3_70b_mmlu")
    loss = outputs.loss_per_sample()
    for score in slider(page)["scores"]:
        column = np.asarray((outputs.scores or {})[score["name"]])
        assert 100 < len(score["stops"]) < 520
        for threshold, n, weight, errors, low, high in score["stops"][::7]:
            accepted = column >= float(threshold)
            assert (n, weight, errors) == (accepted.sum(), accepted.sum(), loss[accepted].sum())
            ends = abstain.inference.clopper_pearson(int(errors), int(n), 0.95)
            assert (low, high) == pytest.approx(ends, rel=1e-5)


def test_certified_stops_are_certified(page):
    """A marked stop is what a certificate at its share of delta gives."""
    outputs = abstain.datasets.load("llama3_70b_mmlu")
    first = slider(page)["scores"][0]
    assert first["name"] == "msp"
    risks = {json.loads(each["guarantee"])["risk"]: first["stops"][int(at)] for at, each in first["certified"].items()}
    assert list(risks) == [0.05, 0.1, 0.2]
    score = (outputs.scores or {})["msp"]
    for risk, stop in risks.items():
        found = abstain.choose_threshold(outputs.loss_per_sample(), score, risk=risk, delta=0.05 / 10)
        assert found.threshold == float(stop[0])


def test_graded_and_clustered_losses_have_no_certificate_and_no_exact_interval():
    """Intervals are then approximate, or there are none, and the page says so."""
    rng = np.random.default_rng(0)
    score = rng.random(300)
    outputs = abstain.Outputs(loss=rng.random(300) * (1.2 - score), confidence=score)
    data = slider(as_html_page(abstain.evaluate(outputs, metrics="augrc")))
    assert not data["binary"]
    (only,) = data["scores"]
    assert not only["exact"]
    assert only["certified"] == {}
    band = abstain.inference.risk_band(outputs.loss, score)
    assert only["stops"][150][4:] == pytest.approx([band.low[150], band.high[150]], rel=1e-5)
    clustered = abstain.Outputs(loss=outputs.loss, confidence=score, clusters=np.arange(300) // 3)
    (only,) = slider(as_html_page(abstain.evaluate(clustered, metrics="augrc")))["scores"]
    assert only["stops"][150][4:] == [None, None]


def test_equal_input_gives_an_identical_page(monkeypatch):
    """Not a byte differs: here again, and in another process with other hashes."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    again = as_html_page(result(), "Llama 3 70B on MMLU")
    assert as_html_page(result(), "Llama 3 70B on MMLU") == again
    code = (
        "import sys, abstain\n"
        "from abstain.report import as_html, build\n"
        "outputs = abstain.datasets.load('llama3_70b_mmlu')\n"
        "page = build(abstain.evaluate(outputs, ['msp', 'max_logit']), None, 'Llama 3 70B on MMLU')\n"
        "sys.stdout.buffer.write(as_html(page).encode())"
    )
    other = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=120).stdout
    assert other.decode() == again
    assert as_html_page(result(scores=["max_logit"]), "Llama 3 70B on MMLU") != again


@pytest.mark.parametrize("part", range(2))
def test_hostile_names_stay_text(part, page, tmp_path):
    """A name opens no tag, closes none, adds no attribute and brings no control character; it is shown as text."""
    names = list(hostile.NAMES.values())[part::2]
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


def test_a_notebook_shows_the_verdict_and_tables():
    """The best is bold, without any library; names are text; the verdict comes first, then the curve, drawn."""
    outputs = abstain.Outputs(loss=[0, 1, 0], scores={"<a>": [1, 2, 3], "b": [3, 1, 2]})
    evaluation = abstain.evaluate(outputs, ["<a>", "b"], "augrc", level=None)
    shown = evaluation._repr_html_()
    assert f"<strong>{evaluation.value('augrc', score='b'):.5f}</strong>" in shown
    assert "&lt;a&gt;" in shown
    assert "<a>" not in shown
    assert f"<p><strong>{evaluation.verdict.headline}" in shown
    assert shown.index("<p><strong>") < shown.index("<figure") < shown.index("<table")
    assert " id=" not in shown  # the same may be shown twice
    assert "http" not in shown
    assert len(shown) < 60_000


def test_the_other_forms_say_the_same(tmp_path):
    """Markdown and JSON have the verdict, the certified levels and the numbers; another ending is refused."""
    evaluation = result()
    for ending in ("md", "json"):
        evaluation.report(tmp_path / f"page.{ending}", title="Llama")
    text = (tmp_path / "page.md").read_text("utf-8").replace("\\", "")
    assert text.startswith("# Llama\n")
    verdict = evaluation.verdict
    found = json.loads((tmp_path / "page.json").read_text("utf-8"))
    assert f"**{verdict.headline}** Certified, 95 % confidence." in text
    assert found["lead"]["headline"] == verdict.headline
    assert [each["sentence"] for each in found["lead"]["caveats"]] == [each.sentence for each in verdict.caveats[:3]]
    assert [each.text for each in verdict.caveats[:3] if each.text not in text] == []
    assert all(f"{each.printed} |" in text for each in verdict.levels)
    assert found["result"]["measurements"][0]["value"] == evaluation.measurements[0].value
    with pytest.raises(ValueError, match=r"page\.pdf: a report ends in \.html, \.htm, \.md, \.json"):
        evaluation.report(tmp_path / "page.pdf")


def test_failures_are_named_and_shown():
    """The most confident failures by identifier, with class names, images as data and texts as text."""
    import io

    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 80)
    p = rng.random(80)
    columns = {"labels": labels, "probabilities": np.stack([1 - p, p], axis=1), "class_names": ["no", "<yes>"]}
    outputs = abstain.Outputs(**columns, ids=np.array([f"case {k}" for k in range(80)]))
    images = rng.integers(0, 255, (80, 4, 5), dtype=np.uint8)
    texts = [f"text <{k}>" for k in range(80)]
    page = as_html_page(abstain.evaluate(outputs), outputs=outputs, images=images, texts=texts)
    wrong = np.flatnonzero(outputs.loss_per_sample())
    surest = wrong[np.argmax(np.max([p, 1 - p], axis=0)[wrong])]
    listed = page.partition('id="failures"')[2].partition("</details>")[0]
    assert re.findall(r'<th scope="row">(.*?)</th>', listed)[0] == f"case {surest}"
    assert f"text &lt;{surest}&gt;" in listed
    assert "&lt;yes&gt;" in listed
    uri = re.findall(r'src="data:image/png;base64,(.*?)"', listed)[0]
    assert np.array_equal(np.asarray(image.open(io.BytesIO(base64.b64decode(uri)))), images[surest])


def test_checks_of_the_rows():
    """Repeated identifiers, missing scores and ties are counted."""
    ids = np.array(["a", "a", "b", "c", "d"])
    outputs = abstain.Outputs(loss=[0, 1, 0, 1, 0], confidence=[0.9, 0.9, np.nan, 0.2, 0.1], ids=ids)
    page = as_html_page(abstain.evaluate(outputs, nan_policy="reject"), outputs=outputs)
    table = page.partition('id="checks"')[2].partition("</table>")[0]
    found = dict(re.findall(r'<th scope="row">(.*?)</th><td.*?>(.*?)</td>', table))
    assert found["repeated identifiers"] == "1 of 5"
    assert found["confidence: without a score"] == "1 of 5, rejected"
    assert "the largest tie holds 2 of 5 rows" in found["confidence: ties"]
