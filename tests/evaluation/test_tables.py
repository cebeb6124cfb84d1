"""An evaluation as tables and in other forms: the best marked; any terminal, any name; read back as measured."""

import csv
import io
import json
import unicodedata

import numpy as np
import pytest

import abstain
from abstain.evaluation import Measurement
from tests.report import hostile

RNG = np.random.default_rng(1)
N = 60
OUTPUTS = abstain.Outputs(
    loss=(RNG.random(N) < 0.3).astype(float),
    scores={f"score_number_{k}": RNG.random(N) for k in range(9)},
    groups={"site": RNG.choice(["a", "b"], N)},
)
NAMES = list(OUTPUTS.scores)


def terminal(result, width, colours=False):
    """Return what a terminal of this width shows."""
    rich = pytest.importorskip("rich.console")
    stream = io.StringIO()
    options = {"force_terminal": colours, "color_system": "truecolor" if colours else None, "highlight": False}
    rich.Console(file=stream, width=width, **options).print(result)
    return stream.getvalue()


def best(table):
    """Return row and column of the cells that are marked."""
    return {(i, j) for i, row in enumerate(table.shown()) for j, cell in enumerate(row) if cell.rank == 1}


def test_intervals_of_groups_hold_together():
    """Each of G groups of a column has its interval at 1 - (1 - level) / G; all rows keep the level; tables say so."""
    result = abstain.evaluate(OUTPUTS, NAMES[0], "augrc", groups="site", level=0.9)
    for entry in result.measurements:
        rows = slice(None) if entry.group is None else OUTPUTS.groups["site"] == entry.group.removeprefix("site = ")
        level = 0.9 if entry.group is None else 0.95
        alone = abstain.confidence_interval("augrc", OUTPUTS.loss[rows], OUTPUTS.scores[NAMES[0]][rows], level=level)
        assert (entry.low, entry.high) == pytest.approx((alone.low, alone.high))
    assert "intervals that hold for all groups of a column together, at 90 %" in " ".join(str(result).split())
    without = abstain.evaluate(OUTPUTS, NAMES[0], "augrc", groups="site", level=None)
    assert without.tables()[1].title == f"{NAMES[0]} by group"


def test_groups_are_compared_at_one_threshold():
    """A group of its own coverage hides that a common threshold accepts less of it, or at another risk."""
    result = abstain.evaluate(OUTPUTS, NAMES[0], "augrc", groups="site")
    table = result.tables()[1]
    assert table.headings()[:4] == ["Group", "n", "Coverage at τ", "Risk at τ"]
    score, loss = OUTPUTS.scores[NAMES[0]], OUTPUTS.loss
    threshold = np.sort(score)[::-1][int(0.8 * N) - 1]
    assert f"τ of {NAMES[0]}: {float(threshold)!r}," in str(result)
    for name, n, coverage, risk, _ in table.rows:
        member = OUTPUTS.groups["site"] == name.removeprefix("site = ")
        accepted = member & (score >= threshold)
        assert (n, coverage) == (member.sum(), pytest.approx(accepted.sum() / member.sum()))
        assert risk == pytest.approx(loss[accepted].mean())
    scores = {"s": [0.5, np.nan, np.nan, np.nan]}
    nowhere = abstain.Outputs(loss=[0, 1, 0, 1], scores=scores, groups={"g": list("aaaa")})
    rejected = abstain.evaluate(nowhere, "s", "augrc", groups="g", nan_policy="reject", level=None)
    assert rejected.tables()[1].headings() == ["Group", "n", "AUGRC ↓"]  # no threshold accepts 80 %


@pytest.mark.parametrize(("metric", "worst"), [("augrc", max), ("auroc_f", min)])
def test_of_many_groups_the_worst_are_listed(metric, worst):
    """Twenty by the first metric, those without a value last; the others are counted, and none is lost."""
    rng = np.random.default_rng(3)
    site = rng.integers(0, 45, 900)
    loss = (rng.random(900) < 0.3) & (site > 2)  # three groups without an error have no AUROC of failures
    outputs = abstain.Outputs(loss=loss, scores={"s": rng.random(900)}, groups={"site": site})
    result = abstain.evaluate(outputs, "s", metric, groups="site", level=None)
    table = result.tables()[1]
    values = {entry.group: entry.value for entry in result.measurements if entry.group and entry.reason is None}
    order = sorted(values, key=lambda group: values[group], reverse=worst is max)
    assert [row[0] for row in table.rows] == order[:20]
    assert "20 of 45 groups, the worst by" in str(result)
    assert len(result.measurements) == 46


# ---------------------------------------------------------------------- other forms


FIELDS = list(Measurement.__dataclass_fields__)


def strict(text):
    """Read JSON that holds neither NaN nor Infinity."""

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("part", range(5))
def test_hostile_names_on_a_terminal_and_in_files(part, tmp_path):
    """No control or formatting character of a name reaches the terminal, and markup is text.

    Names survive JSON unchanged; a CSV reader finds as many cells, and none that a spreadsheet would run.
    """
    names = list(hostile.NAMES.values())[part::5]
    result = hostile.evaluation(*names)
    for shown in (str(result), terminal(result, 100)):
        bad = {c for c in shown if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}} - {"\n"}
        assert bad == set()
    assert "\x1b[31m" not in terminal(result, 100, colours=True)
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


def test_the_best_follows_the_direction_on_the_same_samples():
    """The largest AUROC and the smallest area; where each score drops other rows, none, and a note says so."""
    few = [0.9, np.nan, 0.3, 0.2]
    scores = {
        "bad": [1, 2, 4, 3],
        "all": [4, 3, 2, 1],
        "few": few,
        "fewer": np.where(np.isnan(few), np.nan, [1, 2, 3, 4]),
    }
    outputs = abstain.Outputs(loss=[0, 0, 0, 1], scores=scores)
    for names, policy, marked in (
        (["bad", "all"], "raise", {(1, 1), (1, 2)}),
        (["all"], "raise", set()),
        (["all", "few"], "drop", set()),
        (["few", "fewer"], "drop", {(0, 1), (0, 2)}),
    ):
        result = abstain.evaluate(outputs, names, "augrc,auroc_f", nan_policy=policy, level=None)
        assert best(result.tables()[0]) == marked
        assert any("none is marked as best" in note for note in result.notes()) == (names == ["all", "few"])
