"""A policy without the library: its JSON schema, a Python file, a SQL expression; each decides as ``decide`` does."""

import json
import math
import subprocess
import sys
from dataclasses import fields, replace

import duckdb
import jsonschema
import numpy as np
import polars as pl
import pytest

import abstain
from abstain.policy import KEPT, REASONS, SecondScore, schema
from tests.policy.forms import in_sql, module
from tests.policy.policies import CLASSES, KINDS, by_hand, fitted, make, rows_of
from tests.refusal import refused

N = 2_000
#: Kinds of policies that SQL can express.
IN_SQL = ["column", "groups", "uncertainty", "declined", "positive", "msp_probabilities", "margin_probabilities"]


def beyond(rows):
    """Return rows in which a number, or a group, is missing, NaN, infinite or unknown."""
    first, found = next(name for name in rows[0] if name not in ("site", "declined")), []
    for value in (None, math.nan, math.inf, -math.inf):
        found.append(rows[0] | {first: value})
    if "site" in rows[0]:
        found += [rows[0] | {"site": site} for site in (None, "elsewhere", "n's")]
    return found


@pytest.mark.parametrize("name", KINDS)
def test_the_python_file_decides_alike(name):
    """On 2,000 random rows and on all calibration rows, one of which is the threshold: score and reason to the bit."""
    policy, calibration = make(name)
    rows = calibration + rows_of(name, N, 11) + beyond(calibration)
    decide = module(policy)["decide"]
    expected = [policy.decide(row) for row in rows]
    many = policy.decide(pl.DataFrame(rows, infer_schema_length=None))
    assert any(each.score == each.threshold for each in expected[: len(calibration)])
    assert [repr(decide(row)) for row in rows] == [repr(each) for each in expected]
    assert [bool(decide(row)) for row in calibration] == policy.decide(pl.DataFrame(calibration)).accepted.tolist()
    assert many.accepted.tolist() == [each.accepted for each in expected]
    assert many.reason.tolist() == [each.reason for each in expected]


def test_the_python_file_takes_numbers_and_lists():
    """A number or a list of classes is one row, as for the policy; many rows and a wrong width are refused."""
    finished, computed = make("column")[0], make("msp_logits")[0]
    alone, classes = module(finished)["decide"], module(computed)["decide"]
    for value in (0.99, 0.01, None):
        assert repr(alone(value)) == repr(finished.decide(value))
    assert [bool(alone(0.99)), bool(alone(0.01)), alone(0.01).action] == [True, False, "reject"]
    assert repr(classes([9.0, 0.0, 0.0, 0.0])) == repr(computed.decide([9.0, 0.0, 0.0, 0.0]))
    assert repr(module(make("positive")[0])["decide"](0.2)) == repr(make("positive")[0].decide({"p": 0.2}))
    refused(TypeError, "a dict by column, or the number 's'; give rows one by one", alone, [0.9, 0.1])
    refused(ValueError, "computed from 4 logits; give a list of them, or a dict by column", classes, [1.0, 2.0])
    refused(ValueError, "the row has no 'site', the group", module(make("groups")[0])["decide"], 0.9)


@pytest.mark.parametrize("name", IN_SQL)
def test_sql_decides_alike(name):
    """In DuckDB and SQLite: the same rows, the calibration rows and what is missing among them."""
    policy, calibration = make(name)
    rows = calibration + rows_of(name, N, 12) + beyond(calibration)
    expected = policy.decide(pl.DataFrame(rows, infer_schema_length=None)).accepted.tolist()
    assert in_sql(policy, rows) == [expected, expected]


def bare(score, columns, threshold, **more):
    """Return a policy on probabilities, or on a column, with a threshold by hand."""
    inputs = {"probabilities": columns} if score in ("msp", "softmax_margin") else None
    return by_hand(score, {"": threshold}, inputs=inputs, **more)


NAN, INF = math.nan, math.inf
MISSING = [
    ([0.6, None, 0.4], NAN), ([NAN, 0.6, 0.4], NAN), ([0.6, 0.4, INF], NAN), ([0.6, -INF, 0.4], NAN),
]  # fmt: skip
#: Rows of three classes that all forms refuse, for each score: off by more than a thousandth.
REFUSED = [
    ([1.0011, -0.0005, -0.0006], None), ([1.0005, -0.0011, 0.0006], None), ([0.5, 0.5, 0.0011], None),
    ([0.5, 0.4989, 0.0], None), ([0.9, 0.9, 0.0], None), ([90.0, 10.0, 0.0], None),
]  # fmt: skip
EDGES = [
    ("msp", 0.6, [
        ([0.6, 0.3, 0.1], 0.6), ([0.3, 0.6, 0.1], 0.6), ([0.1, 0.3, 0.6], 0.6), ([0.59, 0.3, 0.11], 0.59),
        ([0.3, 0.59, 0.11], 0.59), ([1.0005, -0.0005, 0.0], 1.0), ([0.5, 0.5, 0.0009], 0.5),
        ([0.5, 0.4991, 0.0], 0.5), ([0.0, 0.0, 1.0], 1.0), *MISSING, *REFUSED,
    ]),
    ("softmax_margin", 0.5, [
        ([0.75, 0.25, 0.0], 0.5), ([0.25, 0.75, 0.0], 0.5), ([0.0, 0.25, 0.75], 0.5), ([0.5, 0.25, 0.25], 0.25),
        ([0.25, 0.5, 0.25], 0.25), ([0.5, 0.0005, 0.5], 0.0), ([1.0005, -0.0005, 0.0], 1.0), *MISSING, *REFUSED,
    ]),
    ("msp", 0.6, [
        ([0.6], 0.6), ([0.4], 0.6), ([0.41], 0.59), ([0.59], 0.59), ([0.0], 1.0), ([1.0], 1.0), ([1.0005], 1.0),
        ([-0.0005], 1.0), ([1.0011], None), ([-0.0011], None), ([40.0], None),
        *[([value], NAN) for value in (None, NAN, INF, -INF)],
    ]),
    ("softmax_margin", 1.0, [([1.0005], 1.0), ([-0.0005], 1.0), ([0.75], 0.5), ([0.25], 0.5)]),
    ("s", 0.6, [([0.6], 0.6), ([0.5], 0.5), ([INF], INF), ([-INF], -INF), ([None], NAN), ([NAN], NAN)]),
    ("s", -INF, [([0.5], 0.5), ([-INF], -INF), ([None], NAN), ([NAN], NAN)]),
]  # fmt: skip


@pytest.mark.parametrize(("score", "threshold", "table"), EDGES)
def test_every_form_gives_the_score_that_is_written_beside_its_row(score, threshold, table):
    """What is off by less than a thousandth is clipped; None: what is off by more is refused, in SQL NULL."""
    columns = [score] if score == "s" else ["a", "b", "c"][: len(table[0][0])]
    policy = bare(score, columns, threshold)
    exported, place = module(policy)["decide"], 0 if score == "s" else slice(None)
    ways = [
        policy.decide,
        exported,
        lambda row: policy.decide(pl.DataFrame([row]))[0],
        lambda row: policy.decide([row])[0],
        lambda row: policy.decide(np.array([list(row.values())], dtype=float)[:, place])[0],
    ]
    if len(columns) == 3:  # or one column that holds them as a list
        lists = bare(score, ["p"], threshold, classes=["no", "yes", "perhaps"])
        listed = module(lists)["decide"]
        ways += [lambda row: lists.decide({"p": [*row.values()]}), lambda row: listed([*row.values()])]
    for values, wanted in table:
        row = dict(zip(columns, values, strict=True))
        for way in ways:
            if wanted is None:
                refused(ValueError, "probabilit", way, row)
                continue
            found = way(row)
            reason = "missing_score" if wanted != wanted else "accepted" if wanted >= threshold else "below_threshold"
            assert repr(tuple(found)) == repr((reason == "accepted", reason, wanted, threshold))
    answers = [None if wanted is None else wanted >= threshold for _, wanted in table]
    for got in in_sql(policy, [dict(zip(columns, values, strict=True)) for values, _ in table]):
        assert got == answers


def test_what_has_no_exact_form_is_refused():
    """A score that needs more than sums and quotients leaves the library as a column."""
    entropy = fitted(np.linspace(-1, 0, 50)).policy(score="neg_entropy", logits=CLASSES)
    refused(ValueError, "'neg_entropy' needs the library; write the score", entropy.to_python)
    with pytest.raises(ValueError, match="'neg_entropy' needs the library; write the score"):
        replace(entropy, reading={"abstained": "idk"}).to_python()
    for policy in (entropy, make("msp_logits")[0]):
        refused(ValueError, "has no SQL that gives the same to the last digit", policy.to_sql)
    words = fitted(np.linspace(0, 1, 50)).policy(score="s", reading={"predictions": "answer", "abstained": "idk"})
    assert words.to_python()
    answers = fitted(np.linspace(0, 1, 50)).about_answered()
    with pytest.raises(ValueError, match="where the model abstained is said in words"):
        answers.policy(score="s", reading={"predictions": "answer"}).to_python()
    refused(ValueError, "PostgreSQL rounds no doubles", make("positive")[0].to_sql, "postgres")
    listed = fitted(np.linspace(0, 1, 50)).policy(score="msp", probabilities="p", class_names=["a", "b", "c"])
    refused(ValueError, "column 'p' holds lists of 3 numbers; write a column per class for SQL", listed.to_sql)
    assert fitted(np.linspace(0, 1, 50)).policy(score="msp", probabilities="p", class_names=["a", "b"]).to_sql()
    assert make("msp_probabilities")[0].to_sql("postgres")
    refused(ValueError, "dialect='oracle' is not known", words.to_sql, "oracle")


def test_the_file_is_a_program(tmp_path):
    """It reads JSON lines and writes them with the decision, with no package to be found."""
    policy, calibration = make("groups")
    (tmp_path / "decide.py").write_text(policy.to_python())
    lines = "".join(json.dumps(row) + "\n" for row in calibration)
    piped = {"cwd": tmp_path, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, "-I", "-S", "decide.py"], input=lines, check=True, **piped)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row.pop("decision")["accepted"] for row in found] == [policy.decide(row).accepted for row in calibration]
    assert found == calibration
    bad = {"[0.5]": "line 1: give a JSON object", "{": "line 1: Expecting", '{"x": 1}': "line 1: the row"}
    for line, said in bad.items():
        run = subprocess.run([sys.executable, "decide.py"], input=line, **piped)
        assert (run.returncode, run.stdout, run.stderr[: len(said)]) == (1, "", said)


def test_text_of_strangers_is_quoted():
    """Names and notes with quotes and backslashes break neither form."""
    score = np.linspace(0, 1, 40)
    found = fitted(score, groups=["it's", 'a "b" \\'] * 20)
    policy = found.policy(score='s"; --', group="g'", note='"""quoted""" \\n')
    rows = [{'s"; --': float(value), "g'": name} for value in score for name in ("it's", 'a "b" \\', "x")]
    expected = [policy.decide(row).accepted for row in rows]
    assert [module(policy)["decide"](row)[0] for row in rows] == expected
    with duckdb.connect() as connection:
        connection.register("rows_", pl.DataFrame(rows).to_arrow())
        got = connection.execute(f"SELECT {policy.to_sql()} FROM rows_").fetchall()
    assert [value for (value,) in got] == expected


@pytest.mark.parametrize("name", KINDS)
def test_the_schema_describes_what_is_written(tmp_path, name):
    """Every kind is valid; a field too many, too few or of another type is not."""
    policy, _ = make(name)
    policy.save(tmp_path / "p.json")
    content = json.loads((tmp_path / "p.json").read_text())
    checker = jsonschema.Draft202012Validator(schema())
    checker.check_schema(schema())
    checker.validate(content)
    changed = [content | {"extra": 1}, content | {"thresholds": {"": "high"}}, content | {"score": 3}]
    changed += [content | {"guarantee": {"risk": 0.1}}, content | {"inputs": {"features": ["x"]}}]
    changed += [{key: value for key, value in content.items() if key != missing} for missing in content]
    assert not any(checker.is_valid(each) for each in changed)


def test_thresholds_that_accept_nothing_or_all():
    """An objective that is not attainable rejects every row in every form."""
    policy = abstain.choose_threshold([1, 1], [0.2, 0.4], risk=0.1).policy(score="s")
    assert policy.decide(5.0).reason == module(policy)["decide"]({"s": 5.0})[1] == "no_threshold"
    with duckdb.connect() as connection:
        assert connection.execute(f"SELECT {policy.to_sql()} FROM (SELECT 5.0 AS s)").fetchall() == [(False,)]


def test_the_schema_names_what_the_library_knows(tmp_path):
    """Format, reasons, and the arguments by which files are read: the schema is a file."""
    make("column")[0].save(tmp_path / "p.json")
    found, content = schema(), json.loads((tmp_path / "p.json").read_text())
    assert found["properties"]["format"]["const"] == content["format"]
    assert found["description"] == f"Reasons of decisions: {', '.join(REASONS)}."
    assert found["properties"]["reading"]["propertyNames"]["enum"] == list(KEPT)
    assert found["required"] == sorted(found["properties"]) == sorted(content)
    assert set(found["properties"]["second"]["required"]) == {each.name for each in fields(SecondScore)}


def test_sql_takes_all_words_for_an_abstention():
    """In capitals, too, as the policy does."""
    chosen = abstain.choose_threshold([0, 1, 0] * 50, [0.9, 0.2, 0.6] * 50, coverage=0.5)
    policy = chosen.policy(score="conf", reading={"abstained": "refused"})
    rows = pl.DataFrame({"conf": [0.95] * 6, "refused": ["Yes", "TRUE", "no", "No", "yes", "False"]})
    found = [each for (each,) in duckdb.sql(f"SELECT {policy.to_sql()} FROM rows").fetchall()]
    assert found == policy.decide(rows).accepted.tolist() == [False, False, True, True, False, True]
