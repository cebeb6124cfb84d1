"""One table, four forms: the same digits and the same best in all, and names that stay text."""

import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain import Table
from abstain._result import Column, Estimate, width, wrapped
from tests.refusal import refused
from tests.report import hostile

TABLE = Table(
    [Column("score"), Column("Selective risk at coverage 80 %", "lower"), Column("AUROC", "higher"), Column("n")],
    [("msp", Estimate(0.0123, 0.011, 0.0145), 0.9, 100), ("knn", Estimate(0.0223, 0.02, 0.025), 0.92, 100)],
    title="Two scores",
    notes=["In brackets: 95 % confidence interval."],
)


def test_text_is_exactly_this():
    """Shared decimals, headings that wrap but not before a sign, the best with a star, legends below."""
    assert str(TABLE).splitlines() == [
        "Two scores",
        "        Selective risk at coverage",
        "score                       80 % ↓  AUROC ↑    n",
        "msp    0.01230* [0.01100, 0.01450]  0.9000   100",
        "knn    0.02230  [0.02000, 0.02500]  0.9200*  100",
        "",
        "In brackets: 95 % confidence interval.",
        "* best of its column",
    ]


@pytest.mark.parametrize("columns", [30, 50, 80])
def test_what_is_too_wide_continues_below(columns):
    """Every number and name is whole in one line, behind the name of its row; a number wider than all stands alone."""
    names = ["a name that is longer than forty letters and wraps", "置信度" * 20, "x" * 90]
    table = Table([Column("score"), *(Column(f"metric {k}") for k in range(9))],
                  [(name, *(Estimate(0.1034 + k / 100, 0.1, 0.2) for k in range(9))) for name in names])  # fmt: skip
    text = table.to_text(columns)
    assert max(map(width, text.splitlines())) <= max(columns, 40 + 2 + 24)
    assert all(f"{0.1034 + k / 100:.4f} [0.1000, 0.2000]" in text for k in range(9))
    for name in names:
        assert name.replace(" ", "") in "".join(text[: len(text) // 2].split()) or len(name) > 40


def test_the_best_is_of_printed_digits():
    """Values that print alike share a rank; alone, all alike, or undefined they have none; ranks as many as asked."""

    def stars(values, direction="lower", ranks=1):
        table = Table([Column(), Column("m", direction)], [("x", each) for each in values], ranks=ranks)
        return [row[1].rank for row in table.shown()]

    assert stars([0.2, 0.1, math.nan, 0.1]) == [0, 1, 0, 1]
    assert stars([0.2, 0.1], "higher") == [1, 0]
    assert stars([0.2, 0.1], "") == stars([0.1, 0.1]) == stars([0.1, math.nan]) == stars([1, 2], ranks=0) == [0, 0]
    assert stars([0.50001, 0.50002, 0.7]) == [1, 1, 0]
    assert stars([0.3, 0.1, 0.2, 0.2, 0.4], ranks=3) == [0, 1, 2, 2, 0]


def test_a_scale_is_in_the_heading():
    """Numbers are multiplied with their intervals, whole counts and words are not, and each heading says it."""
    table = TABLE.scaled(1000)
    assert table.headings() == ["score", "Selective risk at coverage 80 % ↓ x1000", "AUROC ↑ x1000", "n"]
    assert [cell.value + cell.rest for cell in table.shown()[0]] == ["msp", "12.30 [11.00, 14.50]", "900.0", "100"]
    for form in (table.to_text(), table.to_markdown(), table.to_html(), table.to_latex()):
        assert "x1000" in form
    assert TABLE.scaled(1.0) == TABLE
    refused(ValueError, "scale must be a number > 0, got 0; give 1000", TABLE.scaled, 0)


@pytest.mark.parametrize("name", hostile.NAMES.values())
def test_hostile_names_stay_text(name):
    """No form lets a name act: not in a terminal, a page, a Markdown table or a LaTeX row."""
    columns = [Column(name), Column("m"), Column(name, left=True)]
    table = Table(columns, [(name, 0.1, name), (name, 0.2, name)], name, [name])
    for form in (table.to_text(), table.to_html(), table.to_markdown(), table.to_latex()):
        assert all(c.isprintable() for line in form.split("\n") for c in line)
    assert "<script" not in table.to_html() + table.to_markdown().replace("\\<", "")
    assert not [line for line in table.to_markdown().split("\n") if line.count(" | ") > 2]
    said = io.StringIO()
    console = pytest.importorskip("rich.console").Console(
        file=said, width=80, force_terminal=True, color_system="truecolor"
    )
    console.print(table)
    assert "\x1b[31m" not in said.getvalue()


def test_latex_is_read_by_a_parser():
    """Braces and environments close, every row has its cells, and what follows a line break is no option of it."""
    walker = pytest.importorskip("pylatexenc.latexwalker")
    names = ["[x]", "*y", "a & b", "50 %", "\\frac{", "$x_1$", "^~", '"q"']
    table = Table([Column("a & b"), Column("m", "lower")], [(name, 0.1 * k) for k, name in enumerate(names)], ranks=5)
    nodes, *_ = walker.LatexWalker(table.to_latex(), tolerant_parsing=False).get_latex_nodes()
    (tabular,) = [node for node in nodes if node.isNodeType(walker.LatexEnvironmentNode)]
    source = "".join(node.latex_verbatim() for node in tabular.nodelist)
    lines = source.replace("\\&", "").split("\\\\")
    assert [line.count("&") for line in lines[:-1]] == [1] * (len(names) + 1)
    assert not [line for line in lines if line.strip().startswith(("[", "*"))]
    text = pytest.importorskip("pylatexenc.latex2text").LatexNodes2Text().latex_to_text(table.to_latex())
    for name in ("[x]", "*y", "50 %", "\\frac{", "$x_1$"):
        assert name in text


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf"]), min_size=1), st.integers(8, 40))
def test_wrapping_keeps_every_letter(text, most):
    """Only spaces may go, at the ends of lines, and no line is wider than asked."""
    lines = wrapped(text, most)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(width(line) <= most for line in lines)
