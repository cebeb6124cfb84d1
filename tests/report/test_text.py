"""Tables as plain text and on a terminal."""

from __future__ import annotations

import io
import unicodedata

import numpy as np
import pytest

import abstain
from abstain.report import as_rich, as_text
from abstain.report._tables import clean, decimals, fixed, key_figures, number, operating_points, short, tables
from tests.report import hostile

RNG = np.random.default_rng(1)
N = 60
OUTPUTS = abstain.Outputs(
    loss=(RNG.random(N) < 0.3).astype(float),
    scores={f"score_number_{k}": RNG.random(N) for k in range(9)},
    groups={"site": RNG.choice(["a", "b"], N)},
)
NAMES = list(OUTPUTS.scores)


def terminal(evaluation: abstain.Evaluation, width: int, colours: bool = False) -> str:
    """Return what a terminal of this width shows."""
    rich = pytest.importorskip("rich.console")
    stream = io.StringIO()
    console = rich.Console(
        file=stream, width=width, force_terminal=colours, color_system="truecolor" if colours else None, highlight=False
    )
    for part in as_rich(evaluation, width):
        console.print(part)
    return stream.getvalue()


def test_plain_text_is_exactly_this() -> None:
    """Values with four digits, arrows below each other, a dash with its reason for what is undefined."""
    outputs = abstain.Outputs(loss=[0, 0, 0.5], scores={"a": [0.9, 0.5, 0.5], "b": [3, 2, 1]}, sample_weight=[1, 2, 1])
    result = abstain.evaluate(outputs, ["a", "b"], ["augrc", "coverage_at_risk(risk=0)"], level=None)
    assert str(result) == repr(result) == as_text(result)
    assert as_text(result).splitlines() == [
        "3 samples · mean loss 0.1250 · weighted",
        "",
        "                                  a           b",
        "AUGRC                 ↓     0.04688     0.01562",
        "Coverage at risk 0 %  ↑      0.2500      0.7500",
        "Distinct scores              66.7 %     100.0 %",
        "Largest tie                       2           1",
        "",
        "note: a: 66.7 % of the scores are distinct, the largest tie holds 2 of 3 samples",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.03, "0.03000"), (0.0312, "0.03120"), (0.25, "0.2500"), (-0.1708, "-0.1708"), (1.5, "1.500"),
        (0.999999, "1.0000"), (1.0, "1"), (0.0, "0"), (-0.0, "0"), (12.0, "12"), (12345.67, "12346"),
        (4.2e-5, "0.00004200"), (4e-7, "4.000e-07"), (3e7, "3.000e+07"), (np.nan, "—"), (np.inf, "inf"),
    ],
)  # fmt: skip
def test_numbers_keep_four_digits_and_whole_ones_are_exact(value: float, text: str) -> None:
    """A zero at the end is a digit too; what is not exactly 1 does not print as 1."""
    assert number(value) == text


def test_numbers_of_a_column_share_their_decimals() -> None:
    """Four digits of the smallest, unless the largest would have more than five."""
    assert [fixed(value, decimals([0.0689, 0.1106])) for value in (0.0689, 0.1106, 0.0, np.nan)] == [
        "0.06890", "0.11060", "0", "—",
    ]  # fmt: skip
    assert [fixed(value, decimals([-4.236e-5, 1.2778e-3])) for value in (-4.236e-5, 1.2778e-3)] == [
        "-0.0000424", "0.0012778",
    ]  # fmt: skip
    assert decimals([]) is decimals([0.0, np.nan]) is decimals([1e-7]) is None


def test_many_scores_are_split_into_several_tables() -> None:
    """Seven columns stand side by side; the best of a row is found over all of them."""
    result = abstain.evaluate(OUTPUTS, NAMES, "augrc")
    first, second = tables(result)
    assert (*first.header, *second.header) == tuple(NAMES)
    assert (len(first.header), len(second.header)) == (7, 2)
    values = [result.value("augrc", score=name) for name in NAMES]
    k = int(np.argmin(values))
    assert [(i, j + 7 * part) for part, table in enumerate((first, second)) for i, j in table.best] == [(0, k)]
    shown = [cell for table in (first, second) for cell in table.rows[-2]]
    assert shown == ["100.0 %"] * 9


def test_rows_that_do_not_tell_scores_apart_have_no_best() -> None:
    """Accuracy is the same for all scores, and a single score is no contest."""
    several = tables(abstain.evaluate(OUTPUTS, NAMES[:2], "accuracy,augrc"))[0]
    assert {i for i, _ in several.best} == {1}
    assert tables(abstain.evaluate(OUTPUTS, NAMES[0], "augrc"))[0].best == frozenset()


def test_the_best_follows_the_direction() -> None:
    """The largest AUROC and the smallest area are marked."""
    outputs = abstain.Outputs(loss=[0, 0, 1], scores={"good": [3, 2, 1], "bad": [1, 2, 3]})
    table = tables(abstain.evaluate(outputs, ["bad", "good"], "augrc,auroc_f"))[0]
    assert table.best == {(0, 1), (1, 1)}


def test_groups_have_their_own_table() -> None:
    """Groups are columns with their sizes; the largest of them is no winner."""
    result = abstain.evaluate(OUTPUTS, NAMES[0], "augrc", groups="site")
    table = tables(result)[1]
    n = int(np.sum(OUTPUTS.groups["site"] == "a"))
    assert table.title == f"{NAMES[0]} by group"
    assert table.header == (f"site = a (n = {n})", f"site = b (n = {N - n})")
    assert table.best == frozenset()


@pytest.mark.parametrize("width", [30, 60, 80, 120, 200])
def test_numbers_are_never_broken(width: int) -> None:
    """Whatever the width of the terminal, every number stands whole in its line."""
    result = abstain.evaluate(OUTPUTS, NAMES, groups="site")
    shown = terminal(result, width)
    assert max(map(len, shown.splitlines())) <= width
    for table in tables(result):
        for word in (word for row in table.rows for cell in row for word in cell.split()):
            assert word in shown


def test_key_figures() -> None:
    """What to read first: size, accuracy, the best coverage and area with the score that reaches it."""
    outputs = abstain.Outputs(loss=[0, 0, 0, 1], scores={"good": [4, 3, 2, 1], "bad": [1, 2, 3, 4]})
    assert key_figures(abstain.evaluate(outputs, ["bad", "good"])) == [
        ("Samples", "4", ""),
        ("Accuracy", "75.0 %", "nothing rejected"),
        ("Coverage at risk 5 %", "75.0 %", "best: good"),
        ("AUGRC", "0.03125", "best: good"),
    ]
    both = abstain.Outputs(loss=[0, 0, 0, 1], scores={"a": [4, 3, 2, 1], "b": [1, 2, 3, 4], "c": [4, 3, 2, 0]})
    assert key_figures(abstain.evaluate(both, ["a", "b", "c"], "augrc"))[1] == ("AUGRC", "0.03125", "best: a, c")
    assert key_figures(abstain.evaluate(outputs, "bad", "augrc")) == [("Samples", "4", ""), ("AUGRC", "0.2188", "")]
    large = abstain.evaluate(abstain.Outputs(loss=[0, 2.0], confidence=[2, 1]))
    assert key_figures(large)[1] == ("Risk", "1", "nothing rejected")


def test_thresholds_of_operating_points_are_exact() -> None:
    """The printed threshold, read back, accepts exactly the samples that the table says."""
    result = abstain.evaluate(OUTPUTS, NAMES[0], "augrc")
    table = operating_points(result)[0]
    score = OUTPUTS.scores[NAMES[0]]
    for threshold, accepted, coverage, *_ in table.rows:
        assert f"{int(np.sum(score >= float(threshold)))} of {N}" == accepted
        assert float(coverage) == pytest.approx(np.mean(score >= float(threshold)), rel=1e-3)
    assert table.names == ("100 %", "95 %", "90 %", "80 %", "70 %", "50 %")


def test_scores_on_different_samples_have_no_best() -> None:
    """Where each score drops other rows, a smaller value is no better one, and a note says so."""
    few = [0.9, np.nan, 0.3, 0.2]
    scores = {"all": [4, 3, 2, 1], "few": few, "fewer": np.where(np.isnan(few), np.nan, [1, 2, 3, 4])}
    outputs = abstain.Outputs(loss=[0, 1, 0, 1], scores=scores)
    for names, policy, marked in ((["all", "few"], "drop", False), (["all", "few"], "reject", True),
                                  (["few", "fewer"], "drop", True)):  # fmt: skip
        result = abstain.evaluate(outputs, names, "augrc", nan_policy=policy, level=None)
        assert bool(tables(result)[0].best) == marked
        assert len(key_figures(result)) == 1 + marked
        assert any("none is marked as best" in note for note in result.notes()) != marked


# ---------------------------------------------------------------------- names


def test_clean_and_short() -> None:
    """Control and formatting characters become visible escapes; long names lose their middle, empty ones show."""
    assert clean("a\x1b[0m\u202eb\U000e0041\n") == "a\\x1b[0m\\u202eb\\U000e0041\\x0a"
    assert clean("é 置 $x$ [b]") == "é 置 $x$ [b]"
    assert short("") == '""'
    assert short("x" * 40) == "x" * 40
    assert short("start" + "x" * 300 + "end") == "start" + "x" * 21 + "…" + "x" * 10 + "end"


@pytest.mark.parametrize("kind", hostile.NAMES)
def test_hostile_names_on_a_terminal(kind: str) -> None:
    """No control or formatting character of a name reaches the terminal, and markup is text."""
    name = hostile.NAMES[kind]
    result = hostile.evaluation(name)
    plain, rich = as_text(result), terminal(result, 100)
    for shown in (plain, rich):
        bad = {c for c in shown if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}} - {"\n"}
        assert bad == set()
        assert short(name).split(" ")[0][:20] in shown
    assert "\x1b[31m" not in terminal(result, 100, colours=True).replace("\x1b[1;32m", "")


def test_scores_whose_names_look_alike_keep_their_values() -> None:
    """Two names that print alike are still two scores."""
    outputs = abstain.Outputs(loss=[0, 1, 0, 1], scores={"a\n": [4, 1, 3, 2], "a\\x0a": [1, 1, 1, 1]})
    table = tables(abstain.evaluate(outputs, ["a\n", "a\\x0a"], "augrc", level=None))[0]
    assert table.header == ("a\\x0a", "a\\x0a")
    assert table.rows == (("0.1250", "0.2500"), ("100.0 %", "25.0 %"), ("1", "4"))


def test_intervals_stand_beside_their_values() -> None:
    """A value with an interval shows both; one without stands alone."""
    result = abstain.evaluate(OUTPUTS, NAMES[0], ["augrc", "coverage_at_risk(risk=0.3)"])
    area, coverage = result.measurements
    shown = [row[0] for row in tables(result)[0].rows[:2]]
    assert shown == [f"{area.value:.4f} [{area.low:.4f}, {area.high:.4f}]", number(coverage.value)]
    assert area.low < area.value < area.high
    without = abstain.evaluate(OUTPUTS, NAMES[0], "augrc", level=None)
    for form in (lambda evaluation: terminal(evaluation, 100), str, abstain.Evaluation._repr_html_):
        assert "In brackets: 95 % confidence interval." in form(result)
        assert "In brackets" not in form(without)


@pytest.mark.parametrize(
    ("spec", "label"),
    [
        ("aurc", "AURC"),
        ("aurc(estimator=log)", "AURC (log)"),
        ("aurc(estimator=log, coverage_range=[0.5, 1])", "AURC (log, coverage_range=(0.5, 1))"),
        ("ece(bins=10)", "ECE (bins=10)"),
        ("coverage_at_risk(risk=0.01)", "Coverage at risk 1 %"),
        ("cwsa(threshold=0.9, denominator=all)", "CWSA at 0.9 (all)"),
    ],
)
def test_metrics_with_options_are_told_apart(spec: str, label: str) -> None:
    """What a title does not say of the options stands behind it."""
    assert abstain.metrics.parse(spec).label == label
