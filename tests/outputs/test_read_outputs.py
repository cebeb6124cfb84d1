"""``read_outputs``: formats, rules for names, and one clear line for everything that can be wrong."""

import os
import subprocess
import sys
from datetime import date

import numpy as np
import pytest

import abstain
from abstain.outputs import read_outputs

pl = pytest.importorskip("polars")

LABELS = np.array([0, 1, 1, 0])
LOGITS = np.array([[2.0, -1.0], [0.5, 1.0], [1.0, 0.0], [3.0, 2.5]])


def text(folder, content, name="preds.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def save(folder, kind, **columns):
    """Write columns (matrices: one column of lists) in one of the formats."""
    path = folder / f"model.{kind}"
    if kind == "npz":
        np.savez(path, **columns)
        return path
    if kind == "csv":
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        columns = {name: each for name, each in arrays.items() if each.ndim == 1}
        columns |= {f"{name}_{k}": each[:, k] for name, each in arrays.items() if each.ndim == 2 for k in (0, 1)}
    frame = pl.DataFrame({name: np.asarray(column).tolist() for name, column in columns.items()})
    {"csv": frame.write_csv, "parquet": frame.write_parquet}.get(kind, frame.write_ndjson)(path)
    return path


@pytest.mark.parametrize("kind", ["npz", "parquet", "csv", "jsonl", "ndjson"])
def test_every_part_of_every_format_is_recognised_or_chosen(tmp_path, kind):
    path = save(
        tmp_path, kind, y_true=LABELS, logits=LOGITS, yhat=[0, 1, 0, 0], conf=[0.9, 0.8, 0.7, 0.6],
        error=[0.0, 0.0, 1.0, 0.0], sample_weight=[1.0, 1.0, 2.0, 1.0], id=[7, 8, 9, 10],
        cluster=["a", "a", "b", "b"], group=["f", "m", "f", "m"], group_site=[1, 1, 2, 2],
        score_votes=[3.0, 4.0, 5.0, 6.0], comment=["", "x", "", ""],
    )  # fmt: skip
    outputs = read_outputs(path)
    assert repr(outputs) == (
        "Outputs(n=4, n_classes=2, labels, logits, predictions, confidence, loss, sample_weight, ids, clusters, "
        "scores['votes'], groups['group'], groups['site'])"
    )
    np.testing.assert_array_equal(outputs.logits, LOGITS)
    told = {"labels": "yhat", "logits": "logits_*" if kind == "csv" else "logits", "scores": ("votes", "conf")}
    chosen = read_outputs(str(path), groups=["cluster", "site"], predictions="y_true", **told)
    assert (list(chosen.groups), list(chosen.scores), chosen.confidence) == (
        ["cluster", "site"],
        ["votes", "conf"],
        None,
    )
    assert chosen.labels.tolist() == [0, 1, 0, 0]


#: The text of a file, options, a field of what is read, and its value.
READ = [
    ("b01,b00,x,label\n0,1,2,0\n", {"logits": "b*"}, "logits", [[1, 0]]),
    ("b01,b00,x,label\n0,1,2,0\n", {"logits": ["b00", "b01"]}, "logits", [[1, 0]]),
    ("logit_0,logit_1,logit_10,logit_2,label\n0,1,10,2,0\n", {}, "logits", [[0, 1, 2, 10]]),
    ("prob_dog,prob_cat,label,pred\n0.2,0.8,cat,dog\n0.3,0.7,dog,dog\n", {}, "error", [1, 0]),
    ("p_1,p_2,p_3,label\n0.2,0.7,0.1,2\n0.3,0.6,0.1,1\n", {}, "error", [0, 1]),
    ("p_value,p_adjusted,label,pred\n0.2,0.7,1,1\n", {}, "probabilities", None),
    ("label,net_0,net_1\n0,0.75,0.25\n1,0.5,0.5\n", {}, "probabilities", [[0.75, 0.25], [0.5, 0.5]]),
    ("logit_0,logit_1\n1,2\n", {"unlabelled": True}, "n", 1),
    (b"\xef\xbb\xbflabel,pred\r\n1,1\r\n0,1\r\n", {}, "error", [0, 1]),
]


@pytest.mark.parametrize(("content", "options", "field", "value"), READ)
def test_columns_are_told_by_their_names(tmp_path, content, options, field, value):
    found = getattr(read_outputs(text(tmp_path, content, "a[1]*.csv"), **options), field)
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == value


def test_one_named_model_is_found_several_are_ambiguous(tmp_path):
    p = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
    one = save(tmp_path, "npz", labels=LABELS, probs_vgg16=p, notes=np.array([{"a": 1}] * 4, dtype=object))
    assert read_outputs(one).probabilities.shape == (4, 2)  # the objects are not read
    path = save(tmp_path, "npz", labels=LABELS, probs_vgg16=p, probs_lenet=p)
    refused(ValueError, "could be 'probs_vgg16' or 'probs_lenet'; give probabilities=<one of them>", path)
    assert read_outputs(path, probabilities="probs_lenet").n_classes == 2
    refused(ValueError, r"probabilities='probs_\*' matches several matrices", path, probabilities="probs_*")


# ---------------------------------------------------------------------- files that are wrong


def refused(error, message, path, **options):
    with pytest.raises(error, match=message) as caught:
        read_outputs(path, **options)
    assert str(caught.value).startswith(os.fspath(path))
    assert "\n" not in str(caught.value)


def test_no_file(tmp_path):
    text(tmp_path, "a\n1\n", "preds.csv")
    refused(FileNotFoundError, "no such file; did you mean 'preds.csv'", tmp_path / "pred.csv")
    refused(FileNotFoundError, "no such file; check the path", tmp_path / "nowhere" / "x.npz")
    refused(IsADirectoryError, "is a folder", tmp_path)


@pytest.mark.parametrize("name", ["a.npz", "a.parquet", "a.csv", "a.jsonl"])
def test_empty_and_other_files(tmp_path, name):
    """Another format under this name, and a name of no format."""
    refused(ValueError, "is empty", text(tmp_path, "", name))
    if name in ("a.npz", "a.parquet"):
        refused(ValueError, "is no readable", text(tmp_path, "label,pred\n1,1\n", name))
    refused(ValueError, r"extension '.txt' is not known; use one of .npz, .npy", text(tmp_path, "a", "a.txt"))


@pytest.mark.parametrize("kind", ["npz", "parquet"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_truncated_files(tmp_path, kind, share):
    path = save(tmp_path, kind, labels=np.arange(500) % 2, logits=np.random.default_rng(0).normal(size=(500, 2)))
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    refused(ValueError, "truncated", path)


ONE = "label,pred,conf\n1,1,0.5\n"


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (ONE, {"labels": "lable"}, "column 'lable' is not in the file; did you mean 'label'.*give labels="),
        (",".join(map("c{}".format, range(12))) + "\n", {"labels": "y"}, "known: c0, c1, c10, c11, c2,"),
        (ONE, {"logits": "z_*"}, r"no column matches logits='z_\*'; columns: label, pred, conf"),
        (ONE, {"groups": ["sit"]}, "'sit' is not in the file.*give groups="),
        (ONE, {"labels": 3}, "labels must be the name of a column, got 3"),
        (ONE, {"logits": 3}, "logits must be a name, a pattern"),
        ("logit_0,logit_1\n1,2\n", {}, "no column is recognised as label or loss.*unlabelled=True.*logit_0, logit_1"),
        (",".join(f"c{k}" for k in range(99)) + "\n" + "1," * 98 + "1\n", {}, r"c0, .*c11, … \(99 in all\)"),
        ("label,y_true,pred\n1,1,1\n", {}, "labels could be 'label' or 'y_true'; give labels="),
        ("label,p_0,p_1,prob_0,prob_1\n1,.5,.5,.5,.5\n", {}, "could be 'prob_0' … or 'p_0' …; give probabilities="),
        (f"{ONE}0,0,high\n", {}, r"mixes numbers \('0.5', data row 1\) and words \('high', data row 2"),
        ("label,pred,pred\n1,1,0\n", {}, "column 'pred' occurs 2 times; rename all but one"),
        ("label,pred\n1,1\n,0\n", {}, r"labels is missing: labels\[1\] = nan.*\[data row 2\]"),
        ("label,pred\n1,1\nx,0\n", {}, "column 'label' must hold class indices, but data row 2 holds 'x'"),
        ("label,p_0,p_1\n1,.5,.5\n0,.5,.1\n", {}, r"sum of probabilities\[1\] is 0.6.*\[data row 2\]"),
        ("label,p_0,p_1\n1,.5,.5\n0,.5,\n", {}, r"probabilities\[1, 1\] = nan.*\[data row 2\]"),
        ("label,p_0,p_1\ncat,.5,.5\ndog,.5,.5\n", {}, "labels holds text; give class_names="),  # no bad rows
        ("label,pred,group\n1,1,a\n1,1,\n", {}, r"groups\['group'\] is missing.*\[data row 2\]"),
        ("label,pred,group\n1,1,é\n".encode("latin-1"), {}, "write it again as UTF-8 text"),
    ],
)
def test_bad_columns_and_rows_are_named(tmp_path, content, options, message):
    """Rows as an editor counts them."""
    refused((ValueError, TypeError), message, text(tmp_path, content), **options)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"label": [1, 0], "probs": [[0.5, 0.5], [1.0]]}, "lists of one length, but data row 2 has 1"),
        ({"label": [1, 0], "probs": [[0.5, 0.5], None]}, "data row 2 has 0 entries"),
        ({"label": [1, 0], "probs": [["a", "b"], ["c", "d"]]}, "column 'probs' must hold lists of numbers"),
        ({"label": [1], "pred": [1], "conf": [[0.5, 0.5]]}, "confidence must be one-dimensional"),
        ({"label": [1], "pred": [1], "conf": [date(2024, 1, 1)]}, "'conf' must hold numbers, got Date"),
    ],
)
def test_wrong_types(tmp_path, columns, message):
    path = tmp_path / "a.parquet"
    pl.DataFrame(columns).write_parquet(path)
    refused((ValueError, TypeError), message, path, **({"confidence": "conf"} if "conf" in columns else {}))


def test_wrong_types_of_arrays(tmp_path):
    """Pickled arrays are never loaded."""
    with pytest.raises(ValueError, match="data row 2 has 0 entries"):
        read_outputs({"label": [1, 0], "probs": [[0.5, 0.5], None]})
    path = save(tmp_path, "npz", labels=[0, 1], logits=[["a", "b"], ["c", "d"]])
    refused(TypeError, "logits must be numeric", path)
    path = save(tmp_path, "npz", labels=[[0, 2], [1, 1]], pred=[0, 1])
    refused(ValueError, "a matrix whose rows do not sum to 1", path, labels="labels")
    path = save(tmp_path, "npz", labels=np.array([0, "a"], dtype=object), pred=[0, 1])
    refused(ValueError, "array 'labels' holds Python objects", path)


def test_other_types_of_columns(tmp_path):
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame({"label": [True, False], "pred": ["1", "0"], "conf": ["0.5", " 1"], "id": [2**60, 1]})
    frame = frame.with_columns(pl.col("pred").cast(pl.Int8), group_day=pl.date(2024, 1, 1))
    frame.write_parquet(path)
    outputs = read_outputs(path)
    assert (outputs.labels.tolist(), outputs.confidence.tolist(), outputs.ids[0]) == ([1, 0], [0.5, 1.0], 2**60)
    np.testing.assert_array_equal(outputs.groups["day"], ["2024-01-01"] * 2)
    pl.DataFrame({"label": ["b", "a"], "pred": ["b", "b"]}).cast(pl.Categorical).write_parquet(path)
    np.testing.assert_array_equal(read_outputs(path).error, [0.0, 1.0])
    frame = pl.DataFrame({"loss": [0, 1], "conf": [0.9, 0.8], "group_old": [True, None]})
    with pytest.raises(ValueError, match=r"groups\['old'\]\[1\] = None"):
        read_outputs(frame)
    arrays = pl.DataFrame({"label": [0, 1], "probs": [[0.5, 0.5], [0.1, 0.9]]})
    arrays.with_columns(pl.col("probs").cast(pl.Array(pl.Float32, 2))).write_parquet(path)
    np.testing.assert_allclose(read_outputs(path).probabilities, [[0.5, 0.5], [0.1, 0.9]], rtol=1e-6)


def test_npz_needs_numpy_only_and_others_say_what_they_need(tmp_path):
    archive, table = save(tmp_path, "npz", labels=LABELS, logits=LOGITS), save(tmp_path, "parquet", labels=LABELS)
    code = """
import sys
sys.modules["polars"] = sys.modules["pandas"] = None
from abstain.outputs import read_outputs
print(read_outputs(sys.argv[1]))
try:
    read_outputs(sys.argv[2])
except ImportError as error:
    print(error)
"""
    command = [sys.executable, "-c", code, str(archive), str(table)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert printed == [
        "Outputs(n=4, n_classes=2, labels, logits)",
        f'{table}: reading .parquet files needs polars: pip install ".[cli]" in the checkout '
        "(or use .npz, which does not)",
    ]


def test_series_of_pandas_are_columns():
    """A series has the methods of polars, and filters by labels: whatever columns it stands for, no row is lost."""
    pd = pytest.importorskip("pandas")
    right, sure = np.arange(40) % 3 > 0, np.linspace(1, 0, 40)
    told = {"metrics": ["aurc"], "level": None}
    for more in ({"correct": right}, {"quality": right * 1.0}, {"correct": right, "abstained": ~right}):
        columns = {"confidence": sure} | more
        series = {key: pd.Series(column, index=np.arange(40)[::-1]) for key, column in columns.items()}
        found, expected = (abstain.evaluate(**each, **told).value("aurc") for each in (series, columns))
        assert found == expected


P = np.random.default_rng(0).random(40)
SURE = (P > 0.5) * 1
TURNED = {"prob": P, "y": 1 - SURE, "pred": 1 - SURE}


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"prob": P}, {"unlabelled": True}, "'prob' may be the probability of the second of two classes or the conf"),
        ({"prob": P, "pred": 0 * SURE}, {"unlabelled": True}, "of the second of two classes or the confidence in the"),
        ({"prob": P, "pred": 0 * SURE, "y": 0 * SURE}, {}, None),
        ({"prob": P, "pred": np.arange(40) % 3}, {"unlabelled": True}, None),
        (
            {"prob": P, "pred": SURE},
            {"unlabelled": True},
            "of class 1 .*the prediction is 1 exactly where it is 0.5",
        ),
        (TURNED, {}, "the probability of class 1 or the confidence in the prediction; give positive_prob"),
        (TURNED | {"prob": P - 0.5}, {}, r"leaves \[0, 1\], as the decision value"),
        (TURNED | {"prob": P + 0.5}, {}, r"leaves \[0, 1\], as the decision value"),
        (TURNED | {"s": P}, {"scores": ["s"]}, None),
        ({"label": 0 * SURE, "net": np.ones((40, 1))}, {}, "nothing predicts a class"),
        ({"label": 0 * SURE, "net": np.full((40, 2, 1), 0.5)}, {}, "nothing predicts a class"),
        ({"label": [], "net": np.ones((0, 2))}, {}, "nothing predicts a class"),
    ],
)
def test_a_probability_of_two_classes_or_a_confidence(columns, options, message):
    """Refused where it may be either; a confidence where the classes are not two, and unused where others are named."""
    if message is not None:
        with pytest.raises(ValueError, match=message):
            read_outputs(columns, **options)
        return
    found = read_outputs(columns, **options)
    assert (found.confidence is None) == ("s" in columns)
    assert found.reading.notes == (("not used: `prob`",) if "s" in columns else ())
