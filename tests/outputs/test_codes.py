"""A CSV has no types: codes such as "01" keep their text, while numeric labels stay numbers."""

import numpy as np
import pytest

from abstain.outputs import read_outputs

polars = pytest.importorskip("polars")


def read(folder, header, *rows, **options):
    """Return what is read of a CSV file with these lines."""
    path = folder / "codes.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return read_outputs(path, **options)


@pytest.mark.parametrize(
    "codes", [["01", "1", "007"], ["1.0", "1", "2"], ["+1", "1", "2"], ["9" * 20, "9" * 19 + "8", "9" * 40]]
)
def test_groups_clusters_and_ids_keep_their_text(tmp_path, codes):
    rows = [f"0,.5,{code},{code},{code}" for code in codes]
    outputs = read(tmp_path, "loss,conf,site,cluster,id", *rows, groups="site")
    for column in (outputs.groups["site"], outputs.clusters, outputs.ids):
        assert [str(code) for code in column] == codes


def test_numbers_that_print_as_they_are_written_stay_numbers(tmp_path):
    """They sort as numbers, and match those of other formats."""
    column = read(tmp_path, "loss,conf,site", "0,.5,2", "0,.5,10", "0,.5,-1", groups="site").groups["site"]
    assert column.dtype == np.int64
    assert column.tolist() == [2, 10, -1]


@pytest.mark.parametrize(
    ("names", "labels", "found"),
    [
        (["01", "02", "10"], ["01", "10"], [0, 2]),
        (["10", "20", "30"], ["10", "30"], [0, 2]),
        (["1", "2", "3"], ["0", "2"], [0, 2]),  # 0 is no name: indices
        (["True", "no", "false"], ["true", "false"], [0, 2]),
    ],
)
def test_labels_that_are_class_names_are_taken_as_such(tmp_path, names, labels, found):
    rows = [f"{label},.5,.3,.2" for label in labels]
    assert read(tmp_path, "y,p_0,p_1,p_2", *rows, class_names=names).labels.tolist() == found


@pytest.mark.parametrize(
    ("header", "rows", "errors"),
    [
        ("y,yhat", ["1,1.0", "2,1.0"], [0, 1]),  # numbers, differently written
        ("y,yhat", ["01,1", "02,1"], [0, 1]),  # one program dropped the zeros
        ("y,yhat", ["01,01", "1,01", "1,1"], [0, 1, 0]),  # two classes
        ("y,yhat", ["01,2", "1,3", "2,2"], [1, 1, 0]),
        ("y,yhat", ["true,false", "true,true"], [1, 0]),
        ("y,p_0,p_1", ["01,.2,.8", "1,.2,.8", "0,.2,.8"], [0, 0, 1]),  # indices
        ("y,p_01,p_02", ["01,.2,.8", "2,.2,.8"], [1, 0]),  # names, or numbers in them
        ("y,p_0,p_1", ["true,.2,.8", "false,.2,.8"], [0, 1]),
    ],
)
def test_labels_and_predictions_are_numbers_unless_codes_would_merge(tmp_path, header, rows, errors):
    assert read(tmp_path, header, *rows).error.tolist() == errors
    if "true,.2,.8" in rows:
        assert read(tmp_path, header, *rows, class_names=["cat", "dog"]).error.tolist() == errors


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (["loss,conf,site", "0,.5,01", "0,.5,"], {"groups": "site"}, r"groups\['site'\] is missing.*data row 2"),
        (["loss,conf,site", "0,.5,01", "0,.5,NaN"], {"groups": "site"}, r"groups\['site'\] is missing.*data row 2"),
        (["y,p_01,p_02", '"07",.2,.8'], {}, "'7' is no class name"),
        (["y,p_0,p_1", "01,.5,.5", "00,.5,.5"], {"class_names": ["01", "02"]}, "'00' is no class name"),
        (["y,p_0,p_1", "01,.5,.5", "03,.5,.5"], {"class_names": ["01", "02"]}, "'03' is no class name"),
    ],
)
def test_codes_that_name_nothing_are_refused(tmp_path, rows, options, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, *rows, **options)


@pytest.mark.parametrize(
    ("heads", "labels"), [("cat dog eel", "012"), ("cat dog eel", ("cat", "dog", "eel")), ("0 1 2", "012")]
)
def test_numbers_that_count_named_columns_are_said_to(tmp_path, heads, labels):
    """Labels 0, 1, 2 beside p_cat, p_dog, p_eel are places; names, and numbers that the columns bear, are none."""
    header = ",".join(f"p_{name}" for name in heads.split())
    outputs = read(tmp_path, f"y,{header}", f"{labels[0]},.6,.3,.1", f"{labels[2]},.1,.1,.8", f"{labels[1]},.2,.7,.1")
    told = "numbers from 0 on in the order of the columns" in outputs.understood()["labels"]
    assert told == (heads == "cat dog eel" and labels == "012")
    assert outputs.error.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(("number", "end"), [(4, ")"), (5, ", …)")])
def test_four_classes_are_listed(tmp_path, number, end):
    header = ",".join(["y", *(f"p_{name}" for name in "abcde"[:number])])
    rows = [label + f",{1 / number}" * number for label in "abcde"[:number]]
    assert read(tmp_path, header, *rows).understood()["labels"] == f"`y` ({number} classes: a, b, c, d{end}"
