"""What is given next to the rows, what is drawn for a label, and confidences in words and per cent."""

import hashlib
import math
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import abstain
from abstain.policy import SecondScore
from tests.policy.forms import module
from tests.policy.policies import by_hand
from tests.refusal import refused


def two_scores(uncertainty=False):
    """Return a policy with a group, a second score and a column of what the model declined."""
    second = SecondScore("t", None, None, uncertainty=uncertainty, threshold=-0.5 if uncertainty else 0.5)
    return by_hand("s", {"a": 0.6, "b": 0.2}, group="g", reading={"abstained": "d"}, second=second)


GIVEN = {"accepted": {}, "below_threshold": {"groups": "a"}, "below_second_threshold": {"second": 0.4}}
GIVEN |= {"missing_score": {"second": math.nan}, "declined": {"declined": True}, "unknown_group": {"groups": "new"}}


@pytest.mark.parametrize(("reason", "given"), GIVEN.items())
def test_what_is_given_takes_the_place_of_columns(reason, given):
    """A row that is accepted by its own columns: group, second score and refusal may be given apart."""
    row = {"s": 0.3, "t": 0.9, "g": "b", "d": False}
    many = {name: np.array([value]) if name == "declined" else [value] for name, value in given.items()}
    found = [two_scores().decide(row, **given)]
    found += [two_scores().decide(frame([row]), **many)[0] for frame in (pl.DataFrame, pd.DataFrame)]
    assert [(each.reason, each.score) for each in found] == [(reason, 0.3)] * 3


def test_a_second_score_that_is_an_uncertainty_is_minus_its_column():
    """In a row, a frame and arrays, whether it is a column of theirs or given: 0.4 is sure enough, 0.6 is not."""
    policy, rows = two_scores(uncertainty=True), [{"s": 0.9, "t": t, "g": "a", "d": False} for t in (0.4, 0.6)]
    wanted = ["accepted", "below_second_threshold"]
    assert [policy.decide(row).reason for row in rows] == wanted
    assert [policy.decide({**row, "t": None}, second=row["t"]).reason for row in rows] == wanted
    assert policy.decide(pl.DataFrame(rows)).reason.tolist() == wanted
    assert policy.decide([0.9, 0.9], ["a", "a"], second=[0.4, 0.6]).reason.tolist() == wanted


def test_a_number_alone_decides_only_where_it_is_all_that_is_needed():
    """Not by group, with a second score, or as an uncertainty; words and per cent are read."""
    policy = by_hand("s", {"": 0.4})
    assert (policy.decide(0.4).reason, policy.decide(0.3).reason) == ("accepted", "below_threshold")
    second = SecondScore("t", None, None, uncertainty=False, threshold=0.5)
    refused(TypeError, "has a second score, 't'", by_hand("s", {"": 0.4}, second=second).decide, 0.9)
    refused(TypeError, "give groups=", by_hand("s", {"a": 0.4}, group="g").decide, 0.9)
    doubt = by_hand("s", {"": -0.4}, reading={"uncertainty": "s"})
    assert (doubt.decide(0.3).reason, doubt.decide(0.5).reason) == ("accepted", "below_threshold")
    cents = by_hand("s", {"": 0.4}, reading={"confidence_levels": ["%"]})
    refused(ValueError, "the scale of calibration", cents.decide, 40.0)
    assert cents.decide("45%").accepted


def test_probabilities_in_the_place_of_logits_are_noticed():
    for rows, noticed in (
        ([[0.3, 0.7]], False),  # two logits alone may well sum to 1
        ([[0.3, 0.7], [0.25, 0.75]], True),
        ([[0.2, 0.3, 0.5]], True),
        ([[0.0, 0.3, 0.7]], True),
        ([[0.2, 0.3, 0.5000009]], True),
        ([[0.2, 0.3, 0.5000015]], False),
        ([[0.2, 0.3, 0.5], [0.2, 0.3, 0.6]], False),
        ([[0.2, 0.3, 0.5], [0.2, 0.3, 0.50001]], False),
        ([[0.2, 0.3, 0.5], [math.nan, 0.3, 0.7]], True),
        ([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], False),  # whole numbers
        ([[1.0, 0.0, 0.0]], False),
        ([[-0.5, 0.5, 1.0]], False),
        ([[1.2, -0.2, 0.0]], False),
    ):
        columns = ["x", "y", "z"][: len(rows[0])]
        policy = by_hand("max_logit", {"": 0.9}, inputs={"logits": columns})
        for form in (rows, pl.DataFrame(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)))):
            if noticed:
                refused(ValueError, "these are probabilities, not logits", policy.decide, form)
            else:
                assert len(policy.decide(form)) == len(rows)
        if len(rows) == 1:  # as a service decides it
            row = dict(zip(columns, rows[0], strict=True))
            if noticed:
                refused(ValueError, "these are probabilities, not logits", policy.decide, row)
            else:
                assert policy.decide(row).accepted == (max(rows[0]) >= 0.9)


def test_a_group_is_told_by_its_type():
    """True, 1 and 1.0 are equal, but name groups of their own."""
    policy = by_hand("s", {"true": 0.4, "1": 0.6, "1.0": 0.2}, group="g")
    for groups, limits in (([True, 1, True], [0.4, 0.6, 0.4]), ([1.0, 1], [0.2, 0.6]), ([1, 1], [0.6, 0.6])):
        assert policy.decide([0.5] * len(groups), groups=groups).threshold.tolist() == limits


# ---------------------------------------------------------------------- labels that are drawn


POLICY = abstain.choose_threshold([0, 1, 0], [0.9, 0.2, 0.6], coverage=0.5).policy(score="msp")


def test_draws_follow_from_identifier_and_seed():
    """A row is drawn if the hash of seed and identifier lies below its chance, whatever else is decided with it."""
    score, names = [0.95, 0.7, 0.3, float("nan")], ["a", "b", "c", "d"]
    found = POLICY.decide(score, ids=names, audit=0.5, seed="secret")
    assert found.label_probability.tolist() == [0.5, 0.5, 1.0, 1.0]
    digests = [hashlib.sha256(f"secret\x1f{name}".encode()).digest()[:8] for name in names]
    below = [int.from_bytes(each, "little") / 2**64 for each in digests]
    assert found.drawn.tolist() == [below[0] < 0.5, below[1] < 0.5, True, True]
    one = POLICY.decide(0.7, ids="b", audit=0.5, seed="secret")
    assert (one.drawn[0], one.label_probability[0], one.reason[0]) == (found.drawn[1], 0.5, "accepted")


def test_what_cannot_be_drawn():
    """Draws need names, one for each row, and a chance above 0; a whole number is one name, whatever its type."""
    for given, message in (
        ({"audit": 0.1, "seed": 1}, "needs ids="),
        ({"audit": 0.1, "ids": ["a", "b"]}, "seed=, kept secret"),
        ({"audit": 0.0, "ids": ["a", "b"], "seed": 1}, r"in \(0, 1\]"),
        ({"audit": 1.01, "ids": ["a", "b"], "seed": 1}, r"in \(0, 1\]"),
        ({"audit": 0.1, "ids": ["a", None], "seed": 1}, "must name each row"),
        ({"audit": 0.1, "ids": ["a"], "seed": 1}, "1 names for 2 rows"),
        ({"audit": 0.1, "ids": ["a", "a"], "seed": 1}, "no two alike"),
    ):
        refused((TypeError, ValueError), message, POLICY.decide, [0.9, 0.8], **given)
    kinds = [np.arange(60).astype(kind) for kind in (int, float, str)]
    draws = [POLICY.decide(np.full(60, 0.9), ids=ids, audit=0.5, seed=1).drawn.tolist() for ids in kinds]
    assert draws[0] == draws[1] == draws[2]
    assert POLICY.decide([0.9, 0.8], ids=["a", "b"], audit=1.0, seed=1).drawn.all()


# ---------------------------------------------------------------------- words and per cent


WORDS = ["Very low", "low", "medium", "high", "very HIGH"]
CENTS = [f"{cent}%" for cent in (5, 30, 55, 80, 95)]


def made(do, said, options=""):
    """Return a policy on such confidences, the exported decide, the texts of its rows, and what was said of them."""
    rng = np.random.default_rng(0)
    place = rng.integers(0, len(said), 600)
    rows = {"said": [said[k] for k in place], "wrong": (rng.random(600) > 0.4 + 0.13 * place).astype(int)}
    pl.DataFrame(rows).write_csv("cal.csv")
    told = do(f"threshold cal.csv --loss wrong --confidence said --coverage 0.35 -o p.json {options}").said
    do("export p.json -o d.py")
    names = {"__name__": "exported"}
    exec(compile(Path("d.py").read_text(), "d.py", "exec"), names)
    return abstain.load_policy("p.json"), names["decide"], rows["said"], told


@pytest.mark.parametrize(
    ("said", "options"),
    [(WORDS, ""), (CENTS, ""), (["no idea", "maybe", "sure"], "--confidence-levels 'no idea,maybe,sure'")],
)
def test_texts_are_read_as_at_calibration(said, options, do):
    """One row, a frame, a list, the exported file and apply agree on every row of the calibration file."""
    policy, decide, texts, told = made(do, said, options)
    do("apply p.json cal.csv -o out.csv")
    expected = pl.read_csv("out.csv")["accepted"].to_list()
    assert 0 < sum(expected) < len(expected)
    for ask in (lambda text: policy.decide({"said": text}), policy.decide, decide, lambda text: decide({"said": text})):
        assert [bool(ask(text)) for text in texts] == expected
    assert policy.decide(pl.DataFrame({"said": texts})).accepted.tolist() == expected
    assert policy.decide(texts).accepted.tolist() == policy.accept(texts).tolist() == expected
    assert policy.decide({"said": None}).reason == decide(None).reason == "missing_score"
    refused(ValueError, "said in words or per cent, which SQL does not read; write it as numbers", policy.to_sql)
    if said is WORDS:
        assert "very low = 1, low = 2, medium|moderate = 3" in told


def test_what_is_beyond_the_scale_is_refused():
    """90 is no 90 %, and a word of another scale no word of this one: in every form."""
    for levels, wrong, message in (
        (CENT, 90, r"outside \[0, 1\], the scale of calibration; give \"90%\""),
        (CENT, "95", r"outside \[0, 1\]"),
        (CENT, "high", "not on the scale"),
        (PLACES, "certainly", "not on the scale of calibration; give one of low, quite sure, certain"),
        (PLACES, 90, r"outside \[1, 3\]"),
    ):
        policy = by_hand("said", {"": 0.5}, reading={"confidence_levels": levels})
        decide, frame = module(policy)["decide"], pl.DataFrame({"said": [wrong]})
        for ask, row in product((policy.decide, decide), (wrong, {"said": wrong})):
            refused(ValueError, message, ask, row)
        refused(ValueError, message, policy.decide, frame)
        refused(ValueError, message, policy.decide, [wrong])


CENT, PLACES = ["%"], ["low", "Quite sure", "certain|sure"]
SAID = [
    *[(CENT, text, 0.9) for text in ("90%", "90 %", "90 percent", "90 per cent", "9/10", "9 out of 10", "0.9", 0.9)],
    (CENT, "12.5 %", 0.125), (CENT, "4.5 / 10", 0.45), (CENT, 0, 0.0), (CENT, "100%", 1.0), (CENT, "3/0", None),
    *[(CENT, text, ValueError) for text in ("101%", "11/10", 1.1, -0.1, "sure", "9 of 10", "5%%")],
    (PLACES, "low", 1.0), (PLACES, " LOW ", 1.0), (PLACES, "quite  sure", 2.0), (PLACES, "Sure", 3.0),
    (PLACES, "certain", 3.0), (PLACES, 2.5, 2.5), (PLACES, "2", 2.0), (PLACES, 1, 1.0), (PLACES, 3, 3.0),
    *[(PLACES, text, ValueError) for text in (0.9, 3.1, "certain|sure", "90%")],
    *[(levels, value, None) for levels in (CENT, PLACES) for value in (None, "", " ", float("nan"))],
    *[(levels, value, TypeError) for levels in (CENT, PLACES) for value in (True, [1, 2])],
]  # fmt: skip


@pytest.mark.parametrize(("levels", "said", "wanted"), SAID)
def test_a_confidence_is_the_number_that_is_written_beside_it(levels, said, wanted):
    """Of a row by column; None: missing."""
    policy = by_hand("said", {"": 0.5}, reading={"confidence_levels": levels})
    if wanted in (ValueError, TypeError):
        refused(wanted, r"said = .* (scale|number|truth)", policy.decide, {"said": said})
    else:
        number = np.nan if wanted is None else wanted
        assert policy.decide({"said": said}).score == pytest.approx(number, nan_ok=True)
