"""The generated pages: one per metric, all scores, every command and every word."""

import re
import sys

import pytest

import abstain
from tests.docs.examples import ROOT

sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "docs" / "_ext")]
registry_pages = pytest.importorskip("registry_pages")
METRICS = [abstain.metrics.get(name) for name in abstain.metrics.names("blocks", "probabilities")]


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Return a folder with all generated pages, in which a page of a metric that is gone was left over."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "gone.rst").write_text("old", encoding="utf-8")
    registry_pages.generate(folder)
    return folder


def test_every_metric_has_a_page_with_its_facts(generated):
    """One page per registered metric, listed in the index; pages of metrics that are gone are removed."""
    pages = {path.stem for path in generated.glob("[!_]*.rst")} - {"index"}
    assert pages == {metric.name for metric in METRICS}
    index = (generated / "index.rst").read_text(encoding="utf-8")
    for metric in METRICS:
        assert f"<{metric.name}>`" in index
        facts, page = dict(registry_pages.facts(metric)), registry_pages.metric_page(metric)
        assert metric.identifier in facts["Identifier"]
        assert facts["Uncertainty"].startswith(metric.inference_kind)
        assert facts["Interval scale"].startswith(metric.scale)
        assert facts["Source"] == metric.source
        assert f".. autofunction:: abstain.{metric.function.__name__}" in page
        assert all(value in page for value in facts.values())
    names = registry_pages.identifiers(abstain.metrics.get("aurc"))  # one per value of the option, the default first
    assert names == ["aurc/plugin", "aurc/interpolated", "aurc/trapezoid", "aurc/harmonic", "aurc/log"]


def test_every_score_has_a_page_and_a_row(generated, tmp_path):
    """One page per registered score with formula, needs, options and source; formulas survive the markup."""
    table = (generated / "_scores.rst").read_text(encoding="utf-8")
    assert re.findall(r"^   \* - ``(\w+)``", table, re.MULTILINE) == abstain.scores.names()
    registry_pages.generate_scores(tmp_path)
    assert {path.stem for path in tmp_path.glob("*.rst")} == {*abstain.scores.names(), "index"}
    for name in abstain.scores.names():
        score, page = abstain.scores.get(name), (tmp_path / f"{name}.rst").read_text(encoding="utf-8")
        assert (score.function.__doc__ or "").splitlines()[0] in page.replace("\\", "")
        assert all(f"``{option}={value!r}``" in page for option, value in score.defaults.items())
        assert score.source in page.replace("\\", "")
    assert registry_pages.escaped("||h||_1 with ``a_b`` and x*y") == r"\|\|h\|\|\_1 with ``a_b`` and x\*y"


def test_the_page_of_options_has_every_command(tmp_path):
    """What ``--help`` says of each command, whole: it is declared with the command and nowhere else."""
    click = pytest.importorskip("click")
    command_pages = pytest.importorskip("command_pages")
    page = command_pages.page()
    named = dict(command_pages.commands())
    assert {"abstain evaluate", "abstain monitor", "abstain study tables"} <= set(named)
    for name, each in named.items():
        assert f"\n{name}\n---" in page
        for option in (each for each in each.params if isinstance(each, click.Option) and not each.hidden):
            assert option.opts[0] in page


def test_the_glossary_has_every_word_and_metric():
    """Made of the words that ``abstain explain`` knows and of the declarations of the metrics."""
    from abstain._result import WORDS

    glossary_pages = pytest.importorskip("glossary_pages")
    page = glossary_pages.page()
    assert [name for name in WORDS if f"\n{name.replace('|', ', ')}\n   " not in page] == []
    assert [metric.name for metric in METRICS if f"(``{metric.name}``)\n   " not in page] == []


def test_every_recipe_has_a_page(tmp_path):
    """One page each with its file, its command and what differs from cross-entropy; pages that are gone go."""
    pytest.importorskip("torch")
    from abstain.nn import train

    (tmp_path / "gone.rst").write_text("old", encoding="utf-8")
    pytest.importorskip("recipe_pages").generate(tmp_path)
    assert {page.stem for page in tmp_path.glob("*.rst")} == {*train.names(), "index"}
    page = (tmp_path / "sure_plus.rst").read_text(encoding="utf-8")
    for text in ("abstain train sure_plus", 'kind = "friendly"', "6 forward-backward", "``stage.main.terms.mixup.alph"):
        assert text in page
