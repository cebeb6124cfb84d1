"""The HTML page: self-contained, well formed, equal for equal input, and deaf to markup in names."""

import base64
import hashlib
import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest

import abstain
from abstain._result import clean
from abstain.report import Source, as_html, build
from tests.refusal import refused
from tests.report import hostile
from tests.report.parsed import Parsed

OUTPUTS = abstain.datasets.load("llama3_70b_mmlu")
LOSS = OUTPUTS.loss_per_sample()


def of(result, title=None, **source):
    """Return the page of a result."""
    return as_html(build(result, Source(**source), title)).replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture(scope="module")
def evaluation():
    """Return an evaluation of bundled outputs."""
    return abstain.evaluate(OUTPUTS, ["msp", "max_logit"])


@pytest.fixture(scope="module")
def page(evaluation):
    """Return its page."""
    return of(evaluation, "Llama 3 70B on MMLU")


def test_the_page_asks_for_nothing(page):
    """No style sheet, picture, script or font from elsewhere, and a policy that forbids all but these two by hash."""
    walk = Parsed(page)
    assert not {"link", "iframe", "object", "embed", "img", "base"} & set(walk.tags)
    assert walk.tags.count("script") == 2
    for tag, name, value in walk.attributes:
        assert name not in {"src", "srcset", "action", "data", "formaction", "style"}
        assert not name.startswith("on")
        assert not name.endswith("href") or value.startswith("#"), (tag, name, value)
        assert name.startswith("xmlns") or not re.search("https?:", value)
    assert not re.search(r"url\(|@import", page)
    (policy,) = [value for _, name, value in walk.attributes if name == "content" and "default-src" in value]
    assert policy.startswith("default-src 'none'; img-src data:; ")
    for tag in ("style", "script"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert ("meta", "charset", "utf-8") in walk.attributes


def test_the_page_is_well_formed(page):
    """Every tag is closed in order, identifiers occur once, references find theirs, tables are rectangular."""
    walk = Parsed(page)
    ids = [value for _, name, value in walk.attributes if name == "id"]
    assert len(ids) == len(set(ids)) > 20
    named = {"aria-labelledby", "aria-describedby", "list"}
    wanted = {each for _, name, value in walk.attributes if name in named for each in value.split()}
    wanted |= {value[1:] for _, name, value in walk.attributes if name == "href"}
    assert len(wanted) > 3
    assert wanted <= set(ids)
    for table in page.split("<table")[1:]:
        assert len({len(re.findall("<t[dh]", row)) for row in table.split("</table>")[0].split("<tr>")[1:]}) == 1
    assert [walk.tags.count(tag) for tag in ("h1", "body", "main")] == [page.count("<title>")] * 3 == [1, 1, 1]


def test_the_page_says_what_is_needed(evaluation, tmp_path, monkeypatch):
    """Verdict, values, notes, exact thresholds, conventions with sources, and what it was made from, and when."""
    (tmp_path / "rows.csv").write_text("loss,score\n0,1\n")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    page = of(evaluation, "Llama 3 70B", files=[tmp_path / "rows.csv"], command="abstain evaluate rows.csv")
    text = Parsed(re.sub(r"</?b>", "", page)).text
    verdict = evaluation.verdict
    parts = ["Llama 3 70B", verdict.headline, f"Answer if msp ≥ {verdict.printed}; refer the rest for review."]
    parts += [each.text for each in verdict.caveats[:3]]
    parts += [f"{abstain.scores.get('msp').title}: max_k p_k", f"{evaluation.value('augrc', score='max_logit'):.5f}"]
    parts += [note for note in evaluation.notes() if "the largest tie" not in note]  # which the checks say
    parts += [repr(evaluation.curve("msp").at(coverage=0.8).threshold), "95 % confidence interval", "augrc/trapezoid"]
    parts += [abstain.metrics.get("aurc").source, evaluation.provenance["fingerprint"], "1970-01-02"]
    parts += ["abstain evaluate rows.csv", hashlib.sha256((tmp_path / "rows.csv").read_bytes()).hexdigest()]
    assert [each for each in parts if each not in text] == []


def slider(page):
    """Return what the script of a page reads."""
    return json.loads(page.partition('id="slider-data">')[2].partition("</script>")[0])


def test_stops_of_the_slider_are_what_python_measures(page):
    """Each stop: exact threshold, accepted rows, errors and exact interval of the risk; a marked one is certified."""
    first, _ = slider(page)["scores"]
    for score in slider(page)["scores"]:
        column = np.asarray(OUTPUTS.scores[score["name"]])
        assert 100 < len(score["stops"]) < 520
        for threshold, n, weight, errors, low, high in score["stops"][::7]:
            accepted = column >= float(threshold)
            assert (n, weight, errors) == (accepted.sum(), accepted.sum(), LOSS[accepted].sum())
            ends = abstain.inference.clopper_pearson(int(errors), int(n), 0.95)
            assert (low, high) == pytest.approx(ends, rel=1e-5)
    risks = {json.loads(each["guarantee"])["risk"]: first["stops"][int(at)] for at, each in first["certified"].items()}
    assert (first["name"], list(risks)) == ("msp", [0.05, 0.1, 0.2])
    for risk, stop in risks.items():
        found = abstain.choose_threshold(LOSS, OUTPUTS.scores["msp"], risk=risk, delta=0.05 / 10)
        assert found.threshold == float(stop[0])


def test_graded_and_clustered_losses_have_no_certificate_and_no_exact_interval():
    """Intervals are then approximate, or there are none, and the page says so."""
    rng = np.random.default_rng(0)
    score = rng.random(300)
    columns = {"loss": rng.random(300) * (1.2 - score), "confidence": score}
    band = abstain.inference.risk_band(columns["loss"], score)
    clusters = np.arange(300) // 3
    for more, ends in (({}, [band.low[150], band.high[150]]), ({"clusters": clusters}, [None, None])):
        data = slider(of(abstain.evaluate(abstain.Outputs(**columns, **more), metrics="augrc")))
        (only,) = data["scores"]
        assert (data["binary"], only["exact"], only["certified"]) == (False, False, {})
        assert only["stops"][150][4:] == (ends if more else pytest.approx(ends, rel=1e-5))


def test_equal_input_gives_an_identical_page(monkeypatch):
    """Not a byte differs: here again, and in another process with other hashes."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    code = (
        "as_html(build(abstain.evaluate(abstain.datasets.load('llama3_70b_mmlu').select(slice(500)), 'msp', 'augrc')))"
    )
    once = eval(code)
    assert eval(code) == once
    code = f"import sys, abstain; from abstain.report import as_html, build; sys.stdout.buffer.write({code}.encode())"
    other = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=120).stdout
    assert other.decode() == once
    assert "Evaluation of a reject option" in once


@pytest.mark.parametrize("part", range(2))
def test_hostile_names_stay_text(part, page, tmp_path):
    """A name opens no tag, closes none, adds no attribute and brings no control character; it is shown as text."""
    names = list(hostile.NAMES.values())[part::2]
    hostile.evaluation(*names).report(tmp_path / "page.html", title=names[0])
    hostile_page = (tmp_path / "page.html").read_text("utf-8")
    walk, ordinary = Parsed(hostile_page), Parsed(page)
    assert set(walk.tags) <= set(ordinary.tags) | {"caption"}
    assert {(tag, name) for tag, name, _ in walk.attributes} <= {(tag, name) for tag, name, _ in ordinary.attributes}
    assert not [c for c in hostile_page if (ord(c) < 32 and c != "\n") or c in "\u202e\u2028\x7f\ud800"]
    shown = [" ".join(clean(name).split()) for name in names if len(name) < 40]
    assert [name for name in shown if name not in walk.text] == []


def test_a_notebook_shows_the_verdict_and_tables():
    """The best is bold, without any library; names are text; the verdict comes first, then the curve, drawn."""
    outputs = abstain.Outputs(loss=[0, 1, 0], scores={"<a>": [1, 2, 3], "b": [3, 1, 2]})
    evaluation = abstain.evaluate(outputs, ["<a>", "b"], "augrc", level=None)
    shown = evaluation._repr_html_()
    assert f"<strong>{evaluation.value('augrc', score='b'):.5f}</strong>" in shown
    assert "&lt;a&gt;" in shown
    order = [shown.index(each) for each in (f"<p><strong>{evaluation.verdict.headline}", "<figure", "<table")]
    assert order == sorted(order)
    assert [each for each in ("<a>", " id=", "http") if each in shown] == []  # the same may be shown twice
    assert len(shown) < 60_000


def test_the_other_forms_say_the_same(evaluation, tmp_path):
    """Markdown and JSON have the verdict, the certified levels and the numbers; another ending is refused."""
    for ending in ("md", "json"):
        evaluation.report(tmp_path / f"page.{ending}", title="Llama")
    text = (tmp_path / "page.md").read_text("utf-8").replace("\\", "")
    verdict, found = evaluation.verdict, json.loads((tmp_path / "page.json").read_text("utf-8"))
    assert text.startswith("# Llama\n")
    parts = [f"**{verdict.headline}** Certified, 95 % confidence.", *(each.text for each in verdict.caveats[:3])]
    assert [each for each in (*parts, *(f"{each.printed} |" for each in verdict.levels)) if each not in text] == []
    assert found["lead"]["headline"] == verdict.headline
    assert [each["sentence"] for each in found["lead"]["caveats"]] == [each.sentence for each in verdict.caveats[:3]]
    assert found["result"]["measurements"][0]["value"] == evaluation.measurements[0].value
    endings = r"page\.pdf: a report ends in \.html, \.htm, \.md, \.json"
    refused(ValueError, endings, evaluation.report, tmp_path / "page.pdf")


def test_failures_are_named_and_shown():
    """The most confident failures by identifier, with class names, images as data and texts as text."""
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(3)
    labels, p = rng.integers(0, 2, 80), rng.random(80)
    columns = {"labels": labels, "probabilities": np.stack([1 - p, p], axis=1), "class_names": ["no", "<yes>"]}
    outputs = abstain.Outputs(**columns, ids=np.array([f"case {k}" for k in range(80)]))
    images = rng.integers(0, 255, (80, 4, 5), dtype=np.uint8)
    texts = [f"text <{k}>" for k in range(80)]
    page = of(abstain.evaluate(outputs), outputs=outputs, images=images, texts=texts)
    surest = np.argmax(np.where(outputs.loss_per_sample() > 0, np.maximum(p, 1 - p), 0))
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
    page = of(abstain.evaluate(outputs, nan_policy="reject"), outputs=outputs)
    table = page.partition('id="checks"')[2].partition("</table>")[0]
    found = dict(re.findall(r'<th scope="row">(.*?)</th><td.*?>(.*?)</td>', table))
    assert found["repeated identifiers"] == "1 of 5"
    assert found["confidence: without a score"] == "1 of 5, rejected"
    assert "the largest tie holds 2 of 5 rows" in found["confidence: ties"]
