"""Decisions: of a number, a row, a frame, a matrix; what is missing or unknown; what does not fit the policy."""

import json
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import abstain
from abstain.policy import Decision, Objective, SecondScore, compute
from tests.policy.forms import in_sql, module
from tests.policy.policies import (
    CLASSES,
    COMPUTED,
    KINDS,
    by_hand,
    fitted,
    logits,
    make,
    matrix_of,
    probabilities,
    rows_of,
    signed,
)
from tests.refusal import refused


@pytest.mark.parametrize("name", KINDS)
def test_every_form_decides_alike(name):
    """Rows, frames, lists, arrays, the exported file and SQL: the same decisions, reasons and scores to the bit."""
    policy, calibration = make(name)
    rows = calibration + rows_of(name, 500, 7)
    one_by_one = [policy.decide(row) for row in rows]
    assert {each.accepted for each in one_by_one} == {True, False}
    assert any(each.score == each.threshold for each in one_by_one)
    columns = ["s"] if "s" in rows[0] else ["p"] if "p" in rows[0] else CLASSES
    matrix = matrix_of(rows, columns)
    groups = [row["site"] for row in rows] if name == "groups" else None
    declined = np.array([row["declined"] for row in rows]) if name == "declined" else None
    many = policy.decide(matrix[:, 0] if columns == ["s"] else matrix, groups, declined=declined)
    assert [repr(each) for each in many] == [repr(each) for each in one_by_one]
    assert sum(many.counts.values()) == len(many) == len(rows)
    rows += [rows[0] | {columns[0]: value} for value in (None, math.nan, math.inf, -math.inf)]
    rows += [rows[0] | {"site": site} for site in (None, "elsewhere", "n's") if name == "groups"]
    one_by_one, frame = [policy.decide(row) for row in rows], pl.DataFrame(rows, infer_schema_length=None)
    for several in (policy.decide(frame), policy.decide(frame.to_pandas()), policy.decide(rows)):
        assert several.reason.tolist() == [each.reason for each in one_by_one]
        assert np.array_equal(several.score, [each.score for each in one_by_one], equal_nan=True)
    decide = module(policy)["decide"]
    assert [repr(decide(row)) for row in rows] == [repr(each) for each in one_by_one]
    if not name.endswith("logits"):
        assert in_sql(policy, rows) == [[each.accepted for each in one_by_one]] * 2


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (0.9, "accepted"), (0.6, "accepted"), (np.nextafter(0.6, 0), "below_threshold"), (math.nan, "missing_score"),
        (None, "missing_score"), (math.inf, "accepted"), (-math.inf, "below_threshold"), (1, "accepted"),
        (np.float32(0.7), "accepted"), (np.array(0.7), "accepted"), ("0.7", "accepted"), ("", "missing_score"),
    ],
)  # fmt: skip
def test_a_number_has_a_stated_outcome(value, reason):
    """Bare, in a row and in an array: whatever a service may be given."""
    policy = by_hand("msp", {"": 0.6})
    for found in (policy.decide(value), policy.decide({"msp": value, "other": "x"})):
        assert (found.reason, found.threshold) == (reason, 0.6)
        assert bool(found) is found.accepted is (reason == "accepted")
        assert found.action == ("answer" if found else "reject")
    if not isinstance(value, str):
        assert policy.decide([value, 0.1])[0].reason == reason
        assert policy.accept(value) == (reason == "accepted")


def test_what_does_not_fit_is_refused():
    """Per cent, logits for probabilities and the reverse, another number of classes, a missing column or group."""
    of_p, of_z, positive = (make(name)[0] for name in ("msp_probabilities", "msp_logits", "positive"))
    named = fitted(np.linspace(0.5, 1, 50)).policy(score="msp", probabilities="p", class_names=["no", "yes"])
    pair, listed = by_hand("max_logit", {"": 0.0}, inputs={"logits": ["x", "y"]}), {"probabilities": ["p"]}
    three = by_hand("msp", {"": 0.5}, inputs=listed, classes=["a", "b", "c"])
    p, z = probabilities(30, 3), logits(30, 3)
    few = {"c0": 1.0, "c1": 1.0, "c2": 0.0}
    for policy, wrong, message in [
        (of_p, z, "pass logits as logits"), (of_p, 100 * p, "of per cent"), (of_z, p, "these are probabilities"),
        (of_p, p[:, :3], "from 4 classes, got 3"), (of_z, z[0, :2], "from 4 classes, got 2"),
        *[(of_p, row, "probabilities") for row in (z[0], dict(zip(CLASSES, z[0], strict=True)))],
        *[(of_z, row, "probabilities") for row in (p[1], dict(zip(CLASSES, p[1], strict=True)))],
        (of_z, few, "the row has no 'c3'"), (of_z, pl.DataFrame([few]), "column 'c3' of the policy is missing"),
        (positive, [0.2, 0.8], "may be one row of classes or many probabilities of the second class"),
        (named, [0.2, 0.8, 0.9], "may be one row of classes or many probabilities"),
        (pair, [[0.2], [0.8]], "from 2 classes, got 1"), (three, [[0.2], [0.8]], "from 3 classes, got 1"),
        (make("column")[0], {"s": "high"}, "'high' is no number"), (make("column")[0], True, "truth value"),
        (make("groups")[0], [0.5], "give groups="), (make("groups")[0], {"s": 0.5}, "the row has no 'site'"),
    ]:  # fmt: skip
        refused((ValueError, TypeError), message, policy.decide, wrong)
    assert len(named.decide([[0.2], [0.8], [0.9]])) == 3
    assert three.decide([0.2, 0.3, 0.5]).score == 0.5
    assert not positive.decide([[0.55, 0.45]])
    refused(ValueError, "the truth of 2 decisions is ambiguous", bool, positive.decide([[0.55], [0.95]]))


def test_one_row_of_classes_or_many():
    """An array of shape (K,) is one row; a row with a missing or infinite entry has no score."""
    policy, _ = make("msp_logits")
    z = logits(3, 5)
    assert isinstance(policy.decide(z[0]), Decision)
    assert policy.decide(z[0]) == policy.decide(z)[0] == policy.decide(z[0].tolist())
    z[1, 2], z[2, 0] = np.nan, np.inf
    assert policy.decide(z).reason.tolist()[1:] == ["missing_score"] * 2 == [policy.decide(row).reason for row in z[1:]]
    frame = pd.DataFrame({"s": pd.array([9.0, None], dtype="Float64"), "site": pd.array([None, "N's"], dtype="string")})
    assert make("groups")[0].decide(frame).reason.tolist() == ["unknown_group", "missing_score"]


def test_scores_of_the_library_decide_too():
    """A score without an arithmetic of its own is computed by ``abstain.scores``, for a row as for many."""
    z = logits(60, 1)
    score = compute("neg_entropy", "logits", z, 2.0)
    policy = fitted(score).policy(score="neg_entropy", logits=CLASSES, temperature=2.0)
    assert np.array_equal(policy.decide(z).score, score)
    assert np.allclose([policy.decide(dict(zip(CLASSES, row, strict=True))).score for row in z], score, rtol=1e-14)


@pytest.mark.parametrize("name", COMPUTED)
def test_scores_are_those_of_their_room(name):
    """Up to rounding, large and small logits included."""
    score, kind, temperature = COMPUTED[name]
    rows = np.vstack([logits(500, 2, spread) for spread in (0.01, 1.0, 30.0, 300.0)])
    rows = rows if kind == "logits" else probabilities(2000, 2)
    columns = {kind: rows / (temperature or 1.0)}
    expected = abstain.scores.compute(score, abstain.Outputs(**columns, unlabelled=True))
    assert np.allclose(compute(score, kind, rows, temperature), expected, rtol=1e-13, atol=1e-15)


OF_NINE = fitted(np.arange(9.0))


@settings(max_examples=200)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=9), st.sampled_from([None, 0.3, 1.7]))
def test_one_row_and_many_agree_to_the_bit(row, temperature):
    """Whatever rows stand beside it, and however many."""
    columns = [f"z{k}" for k in range(len(row))]
    for score in ("msp", "softmax_margin", "max_logit", "logit_margin"):
        policy = OF_NINE.policy(score=score, logits=columns, temperature=temperature)
        try:
            alone = policy.decide(dict(zip(columns, row, strict=True))).score
        except ValueError:  # they happen to be probabilities
            continue
        beside = np.array([[2.0 * k for k in range(len(row))], row] * 3)
        assert policy.decide(beside).score[[1, 3, 5]].tolist() == [alone] * 3


def test_policies_of_the_first_format_are_read(tmp_path):
    """Which had no classes, no second score and said nothing about the model."""
    policy, _ = make("groups")
    policy.save(file := tmp_path / "p.json")
    content = json.loads(file.read_text())
    for name in ("classes", "about", "second"):
        content.pop(name)
    file.write_text(json.dumps(signed(content, format="abstain.policy/1")))
    old = abstain.load_policy(file)
    assert (old.thresholds, old.guarantee, old.about) == (policy.thresholds, policy.guarantee, {})


def test_loading_a_policy_loads_no_package_but_this_one(tmp_path):
    """What it costs beside ``import numpy`` is held by ``benchmarks/start.py`` and its slow test."""
    make("msp_logits")[0].save(tmp_path / "p.json")
    load = f"import abstain; abstain.load_policy({str(tmp_path / 'p.json')!r}).decide([1., 2., 0., 3.])"
    show = f"{load}; import sys; print(*[m for m in sys.modules if m.count('.') == 1 and m.startswith('abstain.')])"
    shown = subprocess.run([sys.executable, "-c", show], check=True, capture_output=True, text=True).stdout.split()
    assert {name for name in shown if not name.startswith("abstain._")} == {"abstain.policy"}


def test_sixteen_threads_decide_as_one():
    """A service shares one policy: the very first call, and all others, may come from any thread."""
    scores = np.random.default_rng(0).random(4000)
    for _ in range(6):
        policy = by_hand("msp", {"": 0.6})
        with ThreadPoolExecutor(16) as pool:
            masks = list(pool.map(policy.accept, np.split(scores, 80)))
            rows = list(pool.map(policy.decide, scores[:200].tolist()))
        assert np.concatenate(masks).tolist() == (scores >= 0.6).tolist()
        assert [bool(row) for row in rows] == (scores[:200] >= 0.6).tolist()


@pytest.mark.parametrize("form", ["row", "rows", "frame", "arrays", "exported", "in SQL"])
def test_the_reasons_are_those_of_the_decision_table(form):
    """Each case by hand: first and second score, group, whether the model declined; then the reason."""
    table = [
        (0.9, 0.9, "a", False, "accepted"),
        (0.6, 0.5, "a", False, "accepted"),
        (0.5, 0.9, "a", False, "below_threshold"),
        (0.9, 0.4, "a", False, "below_second_threshold"),
        (0.5, 0.4, "a", False, "below_threshold"),
        (None, 0.9, "a", False, "missing_score"),
        (0.9, None, "a", False, "missing_score"),
        (0.1, None, "a", False, "missing_score"),
        (0.9, 0.9, "closed", False, "no_threshold"),
        (None, 0.9, "closed", False, "no_threshold"),
        (0.9, 0.9, "new", False, "unknown_group"),
        (None, None, None, False, "unknown_group"),
        (0.9, 0.9, "a", True, "declined"),
        (None, 0.4, "new", True, "declined"),
    ]
    second = SecondScore("t", None, None, uncertainty=False, threshold=0.5)
    limits = {"a": 0.6, "closed": math.inf}
    policy = by_hand("s", limits, group="g", reading={"abstained": "d"}, second=second)
    rows = [{"s": s, "t": t, "g": g, "d": d} for s, t, g, d, _ in table]
    s, t = (np.array([row[name] for row in rows], dtype=float) for name in "st")
    groups, declined = [row["g"] for row in rows], [row["d"] for row in rows]
    found = {
        "row": lambda: [policy.decide(row).reason for row in rows],
        "rows": lambda: policy.decide(rows).reason.tolist(),
        "frame": lambda: policy.decide(pl.DataFrame(rows)).reason.tolist(),
        "arrays": lambda: policy.decide(s, groups, second=t, declined=declined).reason.tolist(),
        "exported": lambda: [module(policy)["decide"](row).reason for row in rows],
        "in SQL": lambda: in_sql(policy, rows),
    }[form]()
    reasons = [reason for *_, reason in table]
    assert found == ([[reason == "accepted" for reason in reasons]] * 2 if form == "in SQL" else reasons)
    one, both = policy.as_one(s, t)  # as a monitor reads two scores
    accepted = one.decide(both, groups, declined=declined).reason == "accepted"
    assert accepted.tolist() == [reason == "accepted" for reason in reasons]


def test_what_a_case_cost_is_counted_per_case():
    """Errors of what is answered, and reviews of the rest; nothing answered costs reviews alone, NaN is unknown."""
    asked = Objective(cost_error=5.0, cost_review=2.0)
    table = [(0.8, 0.1, 0.8), (1.0, 0.2, 1.0), (0.0, math.nan, 2.0), (math.nan, 0.1, None), (0.5, 0.0, 1.0)]
    for coverage, risk, cost in table:
        assert asked.cost_per_case(coverage, risk) == (cost if cost is None else pytest.approx(cost))
    for other in (Objective(risk=0.1), Objective(cost_error=5.0), Objective(cost_review=2.0)):
        assert other.cost_per_case(0.8, 0.1) is None


def test_what_has_no_threshold_accepts_nothing():
    """Not even an infinite score, nor one of a group that was not calibrated."""
    one, several = by_hand("s", {"": math.inf}), by_hand("s", {"a": 0.5, "closed": math.inf}, group="g")
    assert not one.accept([math.inf, 1.0]).any()
    assert one.decide(math.inf).reason == one.decide([math.inf])[0].reason == "no_threshold"
    groups = ["closed", "a", "a", "new"]
    assert several.accept([math.inf, 0.5, 0.4, 9.0], groups).tolist() == [False, True, False, False]
    assert several.accept(0.5, "a")
