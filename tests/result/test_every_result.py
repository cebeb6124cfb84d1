"""Every result in every form: one list names them all, and each form holds the same numbers."""

import ast
import copy
import csv
import io
import json
import math
import pickle
import re
from functools import cache

import pytest

import abstain
from abstain._result import plain, width
from tests.imports import ROOT, tree_of, where
from tests.refusal import refused
from tests.report.parsed import Parsed
from tests.result.results import RESULTS

#: Classes that print themselves and are no results, and why.
OTHERS = {
    "Table": "what results are made of",
    "Result": "the base of all",
    "States": "a line about what was read",
    "Policy": "a rule, which is no result",
    "RestsOn": "the sentence of a number of units",
}
#: The shared parts of several results.
BASES = {"Threshold"}


@cache
def result(name):
    """Return the example of a class."""
    made = RESULTS[name]()
    assert type(made).__name__ == name
    return made


@pytest.fixture(params=RESULTS)
def each(request):
    """Return each result in turn."""
    return result(request.param)


def cells(found):
    """Return all numbers and names that the tables show."""
    return [part for table in found.tables() for row in table.shown() for cell in row
            for part in (cell.value, cell.rest.strip()) if part]  # fmt: skip


def test_one_list_names_them_all():
    """A class that prints itself, or is a result, is in the list of examples, and a result has no text of its own."""
    printing, inheriting = set(), set()
    for path in where(rf"__str__|class \w+\([^)]*({'|'.join(['Result', *BASES])})", ROOT / "src"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                public = not node.name.startswith("_")  # a private one is a view of another result
                inheriting |= {node.name} if public and bases & {"Result", *BASES} else set()
                defined = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
                printing |= {node.name} if "__str__" in defined else set()
    assert printing == set(OTHERS)
    assert inheriting - BASES == set(RESULTS)


def test_a_result_says_what_it_is_and_travels(each):
    """Its parts are tables, texts and flat dicts; copied after it was shown it is the same, and nobody changes it."""
    assert isinstance(each, abstain.Result)
    assert each.tables()
    assert {type(table) for table in each.tables()} == {abstain.Table}
    assert {type(note) for note in each.notes()} <= {str}
    assert all(value is None or isinstance(value, str | int | float) for row in each.rows() for value in row.values())
    shown, page = str(each), each._repr_html_()
    for copied in (pickle.loads(pickle.dumps(each)), copy.deepcopy(each)):
        assert (str(copied), copied._repr_html_()) == (shown, page)


def test_text_has_80_columns(each):
    """In a terminal of 80 columns nothing breaks; ``repr`` is the same text, and every cell stands in it."""
    assert str(each) == repr(each) == each.to_text(80)
    assert max(map(width, str(each).splitlines())) <= 80
    wide = each.to_text(500)
    assert [cell for cell in cells(each) if cell not in wide] == []
    for heading in (heading for table in each.tables() for heading in table.headings()):
        assert heading in wide or set(heading.split()) <= set(wide.split())


def test_notebooks_get_tables(each):
    """Well-formed HTML whose text holds every cell and note."""
    walk = Parsed(each._repr_html_())
    known = "p table caption thead tbody tr th td strong span div style dl dt dd code figure figcaption svg b"
    assert set(walk.tags) <= {*known.split(), "details", "summary", "line", "path", "circle", "text", "rect"}
    text = walk.text.replace("\N{NO-BREAK SPACE}", " ")
    headline = [] if each.verdict is None else [each.verdict.headline]
    assert [part for part in (*cells(each), *each.notes(), *headline) if " ".join(part.split()) not in text] == []


def test_markdown_tables_are_rectangular(each):
    """As many cells in each line as in the heading, and every number."""
    pytest.importorskip("markdown_it", reason="a parser of Markdown")
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").parse(each.to_markdown())
    kinds = [token.type for token in tokens]
    assert kinds.count("table_open") == len(each.tables())
    columns = sum(len(table.columns) * (1 + len(table.rows)) for table in each.tables())
    assert kinds.count("td_open") + kinds.count("th_open") == columns
    shown = [child.content for token in tokens for child in token.children or [] if child.type == "text"]
    text = " ".join(" ".join(shown).split())
    assert [cell for cell in cells(each) if cell not in text] == []


def test_latex_is_read_by_a_parser(each):
    """A strict parser finds one tabular per table, each rectangular; intervals are kept; pdfLaTeX reads ASCII."""
    walker = pytest.importorskip("pylatexenc.latexwalker")
    source = each.to_latex()
    assert [line for line in source.splitlines() if not line.startswith("%") and not line.isascii()] == []
    nodes, *_ = walker.LatexWalker(source, tolerant_parsing=False).get_latex_nodes()
    tabulars = [node for node in nodes if node.isNodeType(walker.LatexEnvironmentNode)]
    for node, table in zip(tabulars, each.tables(), strict=True):
        assert node.environmentname == "tabular"
        body = "".join(part.latex_verbatim() for part in node.nodelist).replace("\\&", "")
        lines = [line.count("&") for line in body.split("\\\\") if "&" in line]
        assert lines == [len(table.columns) - 1] * (len(table.rows) + any(table.headings()))
    text = pytest.importorskip("pylatexenc.latex2text").LatexNodes2Text().latex_to_text(source)
    assert [cell for cell in cells(each) if re.fullmatch(r"[\d.]+|\[.*\]", cell) and cell not in text] == []


def test_json_is_strict_and_is_the_dict(each):
    """What is read back is ``to_dict``: NaN is null, an infinity is a text that ``float`` reads."""
    text = each.to_json()
    assert json.loads(text, parse_constant=pytest.fail) == each.to_dict()
    assert f'"abstain": "{abstain.__version__}"' in text


def test_rows_become_csv_and_frames(each):
    """As many lines as rows, the same names and the same numbers."""
    rows = each.rows()
    read = list(csv.DictReader(io.StringIO(each.to_csv())))
    names = list(dict.fromkeys(name for row in rows for name in row))
    assert (len(read), list(read[0])) == (len(rows), names)
    for library in ("polars", "pandas"):
        pytest.importorskip(library)
        frame = getattr(each, f"to_{library}")()
        assert (list(frame.columns), len(frame)) == (names, len(rows))
        for name in names:
            for value, row in zip(list(frame[name]), rows, strict=True):
                missing = row.get(name) is None or row[name] != row[name]
                assert value == row.get(name) or (missing and (value is None or value != value))


def test_loggers_get_a_name_for_each_number(each):
    """No name is taken twice, and every value is a float."""
    flat = each.flat()
    assert flat
    assert all(isinstance(value, float) for value in flat.values())
    chosen = each._values or [key for key in each.rows()[0] if key not in each._names]
    assert len(flat) == sum(isinstance(row.get(key), int | float) for row in each.rows() for key in chosen)


def test_every_form_can_be_a_file(each, tmp_path):
    """Files hold the text that is returned, and nothing else stays in the folder."""
    for form in ("json", "csv", "markdown", "latex", "html"):
        text = getattr(each, f"to_{form}")(tmp_path / form)
        assert (tmp_path / form).read_text(encoding="utf-8").rstrip("\n") == text.rstrip("\n")
    assert len(list(tmp_path.iterdir())) == 5


def test_nothing_is_lost_in_a_plain_form():
    """The one rule for what JSON lacks; what has no plain form is refused, not written as text."""
    found = plain({"a": math.nan, "b": (math.inf, -math.inf), 3: [True, None, 1]})
    assert found == {"a": None, "b": ["inf", "-inf"], "3": [True, None, 1]}
    refused(TypeError, "object has no plain form", plain, [object()])
