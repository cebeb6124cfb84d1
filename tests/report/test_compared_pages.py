"""Pages of comparisons, joint evaluations and few labels answer the five questions, or name who does."""

import json

import numpy as np
import pytest

import abstain
from abstain._result import Status, Verdict
from abstain.joint import with_gains
from abstain.report import build
from tests.report import kinds

RNG = np.random.default_rng(0)
HARD, SOUTH = RNG.random(3000), RNG.random(3000) < 0.5
#: Two models on the same rows, of which the first is better.
LOSS = {name: (RNG.random(3000) < w * HARD**2 + 0.2 * SOUTH * HARD) * 1.0 for name, w in (("good", 0.2), ("bad", 0.9))}
SCORE = {name: 1 - HARD + 0.1 * RNG.random(3000) for name in LOSS}


def test_the_table_beside_has_what_each_is_by_itself():
    """Errors, AUROC of failures and coverage at a risk, each as the metric itself says."""
    result = abstain.compare(LOSS, SCORE)
    text = " ".join(str(part) for section in build(result).sections for part in section.parts)
    assert "Answers, ranking and coverage of each" in text
    for name in LOSS:
        for what, metric in (("ranking", "auroc_f"), ("coverage", "coverage_at_risk(risk=0.05)")):
            one = result.beside.interval(what, name)
            other = abstain.confidence_interval(metric, LOSS[name], SCORE[name])
            assert one.estimate == other.estimate
            assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_gains_that_so_few_permutations_cannot_test_have_no_p_value():
    """Both metrics are given; with ten permutations no p-value could show a gain, whatever its size."""

    def found(n=10, **more):
        row = {"set": "far", "score": "knn", "null_mean": 0.0005, "null_sd": 0.0002, "n_permutations": n}
        both = {"metric": "ds_f1", "gain": 0.0001, "p": 1.0}, {"metric": "ds_aurc", "gain": 0.001, "p": 1 / 11}
        return with_gains(Verdict(Status.COMPARED), [row | each | more for each in both])

    said = "On far, it is not shown that a second threshold on knn helps (gain in DS-F1 0.0001, by chance 0.0005, p = "
    assert found().headline.startswith(said)
    (second,) = found().details
    assert second.endswith("(gain in DS-AURC 0.0010, by chance 0.0005, not tested, which takes 40 permutations).")
    tiny = found(gain=0.00007025, null_mean=-0.00001).headline
    assert "(gain in DS-F1 0.0001, by chance 0.0000, " in tiny  # as many decimals as a table of metrics has
    assert "it is shown that a second threshold on knn helps" in found(999, p=0.001).details[0]


def test_a_page_from_few_labels_has_a_verdict(tmp_path):
    """How many labels by which plan, errors seen, intervals, what plain evaluation would need and more would buy."""
    found, _ = kinds.few_labels()
    few, verdict = found.provenance["few_labels"], found.verdict
    (labels,) = [each for each in verdict.caveats if each.kind == "few_labels"]
    assert labels.values == {"labelled": 300, "n": 3000, "how": "by plan (uniform)", "errors": few["errors"]}
    assert (verdict.status, verdict.levels, verdict.n) == (Status.ESTIMATED, (), 3000)
    assert verdict.risk_interval is not None
    for words in ("all rows of this pool, labelled or not", f"{few['plain_needs']['AUGRC']:,.0f} (AUGRC)"):
        assert any(words in note for note in found.notes())
    for ending in ("html", "json"):
        found.report(tmp_path / f"few.{ending}")
        text = (tmp_path / f"few.{ending}").read_text("utf-8")
        assert [each for each in ("No sentence is said", "np.float64", "Band:", "Reliability") if each in text] == []
    assert json.loads(text)["result"]
