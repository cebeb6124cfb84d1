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

from abstain.policy import KEPT, REASONS, SecondScore, schema
from tests.policy.forms import in_sql, module
from tests.policy.policies import CLASSES, KINDS, by_hand, fitted, make
from tests.refusal import refused


def test_the_python_file_takes_numbers_and_lists():
    """A number or a list of classes is one row, as for the policy; many rows and a wrong width are refused."""
    finished, computed, positive = (make(name)[0] for name in ("column", "msp_logits", "positive"))
    alone, classes = module(finished)["decide"], module(computed)["decide"]
    for value in (0.99, 0.01, None):
        found, wanted = alone(value), finished.decide(value)
        assert (repr(found), found.action) == (repr(wanted), wanted.action)
    assert repr(classes([9.0, 0.0, 0.0, 0.0])) == repr(computed.decide([9.0, 0.0, 0.0, 0.0]))
    assert repr(module(positive)["decide"](0.2)) == repr(positive.decide({"p": 0.2}))
    refused(TypeError, "a dict by column, or the number 's'; give rows one by one", alone, [0.9, 0.1])
    refused(ValueError, "computed from 4 logits; give a list of them, or a dict by column", classes, [1.0, 2.0])
    refused(ValueError, "the row has no 'site', the group", module(make("groups")[0])["decide"], 0.9)


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
    chosen = fitted(np.linspace(-1, 0, 50))
    entropy, words = chosen.policy(score="neg_entropy", logits=CLASSES), {"predictions": "answer", "abstained": "idk"}
    said, listed = chosen.policy(score="s", reading=words), {"score": "msp", "probabilities": "p"}
    answers = chosen.about_answered().policy(score="s", reading={"predictions": "answer"})
    for form, message in (
        (entropy.to_python, "'neg_entropy' needs the library; write the score"),
        (replace(entropy, reading={"abstained": "idk"}).to_python, "'neg_entropy' needs the library"),
        (entropy.to_sql, "has no SQL that gives the same to the last digit"),
        (make("msp_logits")[0].to_sql, "has no SQL that gives the same to the last digit"),
        (answers.to_python, "where the model abstained is said in words"),
        (lambda: make("positive")[0].to_sql("postgres"), "PostgreSQL rounds no doubles"),
        (
            chosen.policy(**listed, class_names=list("abc")).to_sql,
            "column 'p' holds lists of 3 numbers; write a",
        ),
        (lambda: said.to_sql("oracle"), "dialect='oracle' is not known"),
    ):
        refused(ValueError, message, form)
    assert said.to_python()
    assert chosen.policy(**listed, class_names=["a", "b"]).to_sql()
    assert make("msp_probabilities")[0].to_sql("postgres")


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
    score, names = np.linspace(0, 1, 40), ["it's", 'a "b" \\']
    policy = fitted(score, groups=names * 20).policy(score='s"; --', group="g'", note='"""quoted""" \\n')
    rows = pl.DataFrame([{'s"; --': float(value), "g'": name} for value in score for name in (*names, "x")])
    expected = policy.decide(rows).accepted.tolist()
    decide = module(policy)["decide"]
    assert [decide(row)[0] for row in rows.to_dicts()] == expected
    assert [value for (value,) in duckdb.sql(f"SELECT {policy.to_sql()} FROM rows").fetchall()] == expected


@pytest.mark.parametrize("name", KINDS)
def test_the_schema_describes_what_is_written(tmp_path, name):
    """Every kind is valid; a field too many, too few or of another type is not; it names what the library knows."""
    make(name)[0].save(tmp_path / "p.json")
    found, content = schema(), json.loads((tmp_path / "p.json").read_text())
    checker = jsonschema.Draft202012Validator(found)
    checker.check_schema(found)
    checker.validate(content)
    changed = [content | {"extra": 1}, content | {"thresholds": {"": "high"}}, content | {"score": 3}]
    changed += [content | {"guarantee": {"risk": 0.1}}, content | {"inputs": {"features": ["x"]}}]
    changed += [{key: value for key, value in content.items() if key != missing} for missing in content]
    assert not any(checker.is_valid(each) for each in changed)
    assert found["properties"]["format"]["const"] == content["format"]
    assert found["description"] == f"Reasons of decisions: {', '.join(REASONS)}."
    assert found["properties"]["reading"]["propertyNames"]["enum"] == list(KEPT)
    assert found["required"] == sorted(found["properties"]) == sorted(content)
    assert set(found["properties"]["second"]["required"]) == {each.name for each in fields(SecondScore)}
