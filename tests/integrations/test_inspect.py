"""Inspect, with an eval on this machine that needs no model."""

import pytest

import abstain
from tests.integrations.pages import run_page, tool

inspect_ai = tool("inspect_ai")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the variables that the page leaves."""
    with pytest.MonkeyPatch.context() as patch:
        yield run_page("integrations/language-models.md", tmp_path_factory.mktemp("inspect"), patch)


def values(log):
    """Return the metrics of a log by name."""
    return {name: metric.value for score in log.results.scores for name, metric in score.metrics.items()}


def test_metrics_are_those_of_the_log(page):
    """What Inspect computes while it scores is what ``evaluate`` says of the log, abstentions included."""
    names = ["aurc", "augrc", "coverage_at_risk(risk=0.1)"]
    later = abstain.evaluate(page["path"], metrics=names, level=None)
    assert page["log"].status == "success"
    found = values(page["log"])
    assert [found[name.partition("(")[0]] for name in names] == [later.value(name) for name in names]
    assert 0.9 < found["answered"] < 1.0
    assert later.summaries[0].n == round(400 * found["answered"])


def test_a_log_is_scored_again_by_its_names(page):
    """Inspect finds the metrics through the entry point by the names that the log has."""
    from inspect_ai._util.registry import registry_create, registry_info

    spec = {each.name: each.options for each in page["log"].eval.scorers[0].metrics}
    assert spec["abstain/coverage_at_risk"] == {"risk": 0.1}
    again = registry_create("metric", "abstain/coverage_at_risk", **spec["abstain/coverage_at_risk"])
    assert registry_info(again).name == "abstain/coverage_at_risk"
    rescored = inspect_ai.score(page["log"], page["verdict"](), display="none")
    assert values(rescored) == values(page["log"])


def test_unreduced_epochs(page):
    """With two epochs the metric sees both answers to each question."""
    (log,) = inspect_ai.eval(page["sums"](), model="none", log_dir="epochs", display="none", epochs=2, limit=50)
    later = abstain.evaluate(log.location.removeprefix("file://"), metrics="aurc", level=None)
    assert values(log)["aurc"] == later.value("aurc")
    assert later.summaries[0].n > 60
