"""An evaluation in other forms: what is read back is what was measured, whatever the names."""

import csv
import io
import json

import numpy as np
import pytest

import abstain
from abstain.evaluation import Measurement
from tests.report import hostile

FIELDS = list(Measurement.__dataclass_fields__)


def strict(text):
    """Read JSON that holds neither NaN nor Infinity."""

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("part", range(5))
def test_hostile_names_in_json_and_csv(part, tmp_path):
    """Names survive JSON unchanged; a CSV reader finds as many cells, and none that a spreadsheet would run."""
    names = list(hostile.NAMES.values())[part::5]
    result = hostile.evaluation(*names)
    result.to_json(tmp_path / "r.json")
    read = strict((tmp_path / "r.json").read_text("utf-8"))
    assert [row["score"] for row in read["scores"] if row["group"] is None][:-1] == names
    result.to_csv(tmp_path / "r.csv")
    text = (tmp_path / "r.csv").read_bytes().decode("utf-8")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert {len(row) for row in rows} == {len(FIELDS)}
    assert len(rows) == len(result.measurements) + 1
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@", "\t", "\r"))]
    assert not [row[0] for row in rows if row[0].startswith("-")]
    whole = {name for name in names if "\ud800" not in name}
    assert {f"'{name}" if name.startswith(("=", "+", "-", "@", "\t")) else name for name in whole} <= {
        row[0] for row in rows
    }


def test_numbers_in_csv_are_never_quoted():
    """A negative value is a number, not a formula."""
    worst = abstain.Outputs(loss=[1, 0], confidence=[0.9, 0.8])
    rows = list(csv.DictReader(io.StringIO(abstain.evaluate(worst, metrics="cwsa").to_csv())))
    assert float(rows[0]["value"]) < 0
    assert rows[0]["value"].startswith("-")


def test_each_end_takes_the_side_that_reaches_there():
    """Ends of a difference of two intervals are roots of sums of squares, side by side."""
    rng = np.random.default_rng(0)
    conf = rng.random(3000)
    new = abstain.evaluate(loss=(rng.random(3000) < 0.3 * (1 - conf)) * 1.0, confidence=conf, metrics=["augrc"])
    mine = new.rows()[0]
    v, low, high = (mine[name] for name in ("value", "low", "high"))
    past = mine | {"value": v - 0.02, "low": v - 0.021, "high": v + 0.03}
    other = {"measurements": [past], "provenance": {"level": 0.95}}
    found = abstain.gate(new, [], against=other, margin=0.01).checks[0]
    assert found.low == pytest.approx(0.02 - np.hypot(v - low, 0.05))
    assert found.high == pytest.approx(0.02 + np.hypot(high - v, 0.001))
