"""Small CSV files of plain values are read without polars, and as polars reads them."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain.outputs import read_outputs

pytest.importorskip("polars")

NUMBERS = st.one_of(
    st.floats(0, 1e12).map(repr), st.integers(0, 10**17).map(str), st.sampled_from(["0.50", "-0.0", "0.1e-3", "12.0"])
)
CODES = st.sampled_from(["0", "1", "2", "10"])
WORDS = st.sampled_from(["cat", "dog", "a b", "x-1", "n1"])
#: What other readers take for a truth value, a missing one or a code; and what is no plain text.
WILD = st.sampled_from(["true", "NaN", "", "01", "1e5", "Zürich", "a,b", "+1", "inf", "1 ", "null"])


@st.composite
def tables(draw):
    """Loss, confidence, and columns of any kind that group and name the rows."""
    n = draw(st.integers(2, 6))
    kinds = st.sampled_from([NUMBERS, CODES, WORDS, st.one_of(WORDS, WILD), st.one_of(CODES, WILD)])
    columns = {"loss": draw(st.lists(CODES, min_size=n, max_size=n))}
    columns["confidence"] = draw(st.lists(NUMBERS, min_size=n, max_size=n))
    for name in ("group_a", "group_b", "score_c"):
        columns[name] = draw(st.lists(draw(kinds), min_size=n, max_size=n))
    columns["clusters"] = draw(st.lists(draw(kinds), min_size=n, max_size=n))
    return columns


def read(path, header, columns, **options):
    """What is read, or the error without the name of the file."""
    rows = [[f'"{cell}"' if "," in cell else cell for cell in row] for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([header, *map(",".join, rows), ""]), encoding="utf-8")
    try:
        outputs = read_outputs(path, clusters="clusters", **options)
    except (ValueError, TypeError) as error:
        return str(error).replace(str(path), "")
    columns = {**outputs.groups, "clusters": outputs.clusters, **outputs.scores}
    listed = {name: [str(value) for value in np.asarray(column)] for name, column in columns.items()}
    return outputs.fingerprint, listed, outputs.understood()


@settings(max_examples=150)
@given(tables())
def test_what_polars_would_read(tmp_path_factory, columns):
    """A name in quotes is enough to have the file read by polars: values, groups, notes and errors are the same."""
    folder = tmp_path_factory.mktemp("csv")
    plain = read(folder / "plain.csv", ",".join(columns), columns)
    assert plain == read(folder / "quoted.csv", '"loss",' + ",".join(list(columns)[1:]), columns)


def test_class_names_that_are_numbers(tmp_path):
    """Labels that are the names of classes stay names, whoever reads them."""
    columns = {"label": ["3", "7", "3"], "prediction": ["3", "3", "3"], "confidence": ["0.9", "0.5", "0.7"]}
    rows = "\n".join(map(",".join, zip(*columns.values(), strict=True)))
    found = []
    for name, header in (("a.csv", "label,prediction,confidence"), ("b.csv", '"label",prediction,confidence')):
        (tmp_path / name).write_text(f"{header}\n{rows}\n")
        outputs = read_outputs(tmp_path / name, class_names=["3", "5", "7"])
        found.append((outputs.fingerprint, outputs.class_names, np.asarray(outputs.labels).tolist()))
    assert found[0] == found[1] == (found[0][0], ("3", "5", "7"), [0, 2, 0])


def test_polars_is_not_loaded_for_a_small_plain_file(tmp_path):
    """The command prints the table of a small CSV, and has loaded neither polars nor rich."""
    (tmp_path / "a.csv").write_text("loss,confidence\n" + "0,0.9\n1,0.2\n0,0.5\n" * 20)
    code = "import json, sys; from abstain.cli import run; code = run(sys.argv[1:])\n"
    code += "print(json.dumps([code, *sorted({'polars', 'rich', 'abstain'} & set(sys.modules))]))"
    command = [sys.executable, "-c", code, "evaluate", str(tmp_path / "a.csv")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    assert json.loads(done.stdout.splitlines()[-1]) == [0, "abstain"]
    assert "AURC" in done.stdout
