"""``read_outputs``: formats, rules for names, and one clear line for everything that can be wrong."""

import os
import subprocess
import sys
from datetime import date

import numpy as np
import pytest

import abstain
from abstain.outputs import Outputs, read_outputs

pl = pytest.importorskip("polars")

LABELS = np.array([0, 1, 1, 0])
LOGITS = np.array([[2.0, -1.0], [0.5, 1.0], [1.0, 0.0], [3.0, 2.5]])
PROBA = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
PLAIN = Outputs(labels=LABELS, logits=LOGITS).fingerprint


def text(folder, content, name="preds.csv"):
    path = folder / name
    path.write_text(content)
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


FORMATS = ["npz", "parquet", "csv", "jsonl", "ndjson"]


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_same(tmp_path, kind):
    path = save(tmp_path, kind, labels=LABELS, logits=LOGITS)
    assert read_outputs(path).fingerprint == PLAIN
    assert read_outputs(str(path)).fingerprint == PLAIN


@pytest.mark.parametrize("kind", FORMATS)
def test_every_part_is_recognised(tmp_path, kind):
    path = save(
        tmp_path, kind, y_true=LABELS, probs=PROBA, yhat=[0, 1, 0, 0], conf=[0.9, 0.8, 0.7, 0.6],
        error=[0.0, 0.0, 1.0, 0.0], sample_weight=[1.0, 1.0, 2.0, 1.0], id=[7, 8, 9, 10],
        cluster=["a", "a", "b", "b"], group=["f", "m", "f", "m"], group_site=[1, 1, 2, 2],
        score_votes=[3.0, 4.0, 5.0, 6.0], comment=["", "x", "", ""],
    )  # fmt: skip
    assert repr(read_outputs(path)) == (
        "Outputs(n=4, n_classes=2, labels, probabilities, predictions, confidence, loss, sample_weight, ids, clusters, "
        "scores['votes'], groups['group'], groups['site'])"
    )


@pytest.mark.parametrize("kind", FORMATS)
def test_explicit_options(tmp_path, kind):
    path = save(
        tmp_path, kind, truth=LABELS, z=LOGITS, msp=[0.1, 0.2, 0.3, 0.4], age=[1, 2, 3, 4],
        energy=[0.5, 0.6, 0.7, 0.8], score_react=[1.0, 2.0, 3.0, 4.0], group_site=["a", "b", "a", "b"],
    )  # fmt: skip
    logits = "z_*" if kind == "csv" else "z"
    outputs = read_outputs(path, labels="truth", logits=logits, groups=["age", "site"], scores=("energy", "react"))
    np.testing.assert_array_equal(outputs.logits, LOGITS)
    assert list(outputs.groups) == ["age", "site"]
    np.testing.assert_array_equal(outputs.scores["react"], [1.0, 2.0, 3.0, 4.0])
    claimed = read_outputs(path, labels="truth", logits=logits, scores="msp")
    assert claimed.confidence is None
    assert list(claimed.scores) == ["msp"]


# ---------------------------------------------------------------------- names


def wide(columns):
    """One row whose logit k is k, in the given order of columns."""
    return ",".join(columns) + ",label\n" + ",".join(str(index) for index in range(len(columns))) + ",0\n"


def test_columns_per_class_are_sorted_by_number(tmp_path):
    columns = sorted(f"logit_{k}" for k in range(12))  # logit_0, logit_1, logit_10, logit_11, logit_2, …
    path = text(tmp_path, wide(columns))
    expected = [columns.index(f"logit_{k}") for k in range(12)]
    np.testing.assert_array_equal(read_outputs(path).logits, [expected])
    np.testing.assert_array_equal(read_outputs(path, logits="logit_*").logits, [expected])


def test_chosen_columns_and_leading_zeros(tmp_path):
    path = text(tmp_path, wide(["b01", "b00", "x"]))
    np.testing.assert_array_equal(read_outputs(path, logits="b*").logits, [[1, 0]])
    np.testing.assert_array_equal(read_outputs(path, logits=["b00", "b01"]).logits, [[1, 0]])


def test_words_in_column_names_are_class_names(tmp_path):
    path = text(tmp_path, "prob_dog,prob_cat,label,pred\n0.2,0.8,cat,dog\n0.3,0.7,dog,dog\n")
    outputs = read_outputs(path)
    assert outputs.class_names == ("dog", "cat")
    np.testing.assert_array_equal(outputs.labels, [1, 0])
    np.testing.assert_array_equal(outputs.error, [1.0, 0.0])


def test_columns_that_count_from_one_are_looked_up(tmp_path):
    path = text(tmp_path, "p_1,p_2,p_3,label\n0.2,0.7,0.1,2\n0.3,0.6,0.1,1\n")
    outputs = read_outputs(path)
    np.testing.assert_array_equal(outputs.labels, [1, 0])
    np.testing.assert_array_equal(outputs.error, [0.0, 1.0])
    wrong = text(tmp_path, "p_1,p_2,label\n0.2,0.8,0\n", "zero.csv")
    with pytest.raises(ValueError, match=r"labels\[0\] = '0' is no class name"):
        read_outputs(wrong)


def test_p_value_is_no_class(tmp_path):
    path = text(tmp_path, "p_value,p_adjusted,label,pred\n0.2,0.7,1,1\n")
    assert read_outputs(path).probabilities is None


def test_class_names_and_head_of_an_archive(tmp_path):
    path = tmp_path / "model.npz"
    np.savez(
        path, labels=["b", "a", "a", "b"], logits=LOGITS, class_names=["a", "b"],
        features=np.ones((4, 3)), head_weight=np.ones((2, 3)), head_bias=np.zeros(2),
    )  # fmt: skip
    outputs = read_outputs(path)
    np.testing.assert_array_equal(outputs.labels, [1, 0, 0, 1])
    assert outputs.head[0].shape == (2, 3)


def test_one_named_model_is_found_several_are_ambiguous(tmp_path):
    one = save(tmp_path, "npz", labels=LABELS, probs_vgg16=PROBA)
    assert read_outputs(one).probabilities.shape == (4, 2)
    path = tmp_path / "two.npz"
    np.savez(path, labels=LABELS, probs_vgg16=PROBA, probs_lenet=PROBA)
    message = "two.npz: probabilities could be 'probs_vgg16' or 'probs_lenet'; give probabilities=<one of them>"
    with pytest.raises(ValueError, match=message):
        read_outputs(path)
    assert read_outputs(path, probabilities="probs_lenet").n_classes == 2
    with pytest.raises(ValueError, match=r"probabilities='probs_\*' matches several matrices"):
        read_outputs(path, probabilities="probs_*")


def test_only_columns_in_use_are_read(tmp_path):
    path = tmp_path / "big.npz"
    np.savez(path, labels=LABELS, pred=LABELS, notes=np.array([{"a": 1}] * 4, dtype=object))
    assert read_outputs(path).n == 4


def test_quoted_class_indices_are_numbers(tmp_path):
    path = text(tmp_path, '{"label": "1", "pred": 1}\n{"label": "0", "pred": 1}\n', "a.jsonl")
    np.testing.assert_array_equal(read_outputs(path).error, [0.0, 1.0])


def test_rows_without_labels(tmp_path):
    path = text(tmp_path, "logit_0,logit_1\n1,2\n")
    with pytest.raises(
        ValueError, match=r"no column is recognised as label or loss.*unlabelled=True.*logit_0, logit_1"
    ):
        read_outputs(path)
    assert read_outputs(path, unlabelled=True).n == 1


def test_a_missing_confidence_is_nan(tmp_path):
    path = text(tmp_path, "label,pred,conf\n1,1,\n0,0,0.5\n")
    np.testing.assert_array_equal(read_outputs(path).confidence, [np.nan, 0.5])


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


def test_pickled_arrays_are_never_loaded(tmp_path):
    path = tmp_path / "model.npz"
    np.savez(path, labels=np.array([0, "a"], dtype=object), pred=[0, 1])
    refused(ValueError, "array 'labels' holds Python objects", path)


def test_missing_columns(tmp_path):
    path = text(tmp_path, "label,pred,conf\n1,1,0.5\n")
    refused(ValueError, "column 'lable' is not in the file; did you mean 'label'.*give labels=", path, labels="lable")
    refused(ValueError, "column 'q' is not in the file; known: conf, label, pred; give loss=", path, loss="q")
    refused(ValueError, r"no column matches logits='z_\*'; columns: label, pred, conf", path, logits="z_*")
    refused(ValueError, "'sit' is not in the file.*give groups=", path, groups=["sit"])
    refused(TypeError, "labels must be the name of a column, got 3", path, labels=3)
    refused(TypeError, "logits must be a name, a pattern", path, logits=3)
    refused(ValueError, "nothing predicts a class; give logits=", text(tmp_path, "label,x\n1,2\n", "b.csv"))
    many = text(tmp_path, ",".join(f"c{k}" for k in range(99)) + "\n" + ",".join("1" * 99) + "\n", "many.csv")
    refused(ValueError, r"columns: c0, .*c11, … \(99 in all\)", many)


def test_ambiguous_columns(tmp_path):
    path = text(tmp_path, "label,y_true,pred\n1,1,1\n")
    refused(ValueError, "labels could be 'label' or 'y_true'; give labels=", path)
    assert read_outputs(path, labels="y_true").n == 1
    path = text(tmp_path, "label,p_0,p_1,prob_0,prob_1\n1,0.5,0.5,0.5,0.5\n")
    refused(ValueError, "probabilities could be 'prob_0' … or 'p_0' …; give probabilities=", path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("label,pred,conf\n1,1,0.5\n0,0,high\n", r"mixes numbers \('0.5', data row 1\) and words \('high', data row 2"),
        ("label,pred,pred\n1,1,0\n", "column 'pred' occurs 2 times; rename all but one"),
        ("label,pred\n1,1\n,0\n", r"labels is missing: labels\[1\] = nan.*\[data row 2\]"),
        ("label,pred\n1,1\n-1,0\n", r"labels is missing \(-1\).*\[data row 2\]"),
        ("label,pred\n1,1\nx,0\n", "column 'label' must hold class indices, but data row 2 holds 'x'"),
        ("label,p_0,p_1\n1,0.5,0.5\n0,0.5,0.1\n", r"sum of probabilities\[1\] is 0.6.*\[data row 2\]"),
        ("label,p_0,p_1\n1,0.5,0.5\n0,0.5,\n", r"probabilities\[1, 1\] = nan.*\[data row 2\]"),
        ("label,p_0,p_1\ncat,0.5,0.5\ndog,0.5,0.5\n", "labels holds text; give class_names="),  # no bad rows
        ("label,pred,group\n1,1,a\n1,1,\n", r"groups\['group'\] is missing.*\[data row 2\]"),
        ("label,pred,group\n1,1,é\n".encode("latin-1"), "write it again as UTF-8 text"),
    ],
)
def test_bad_rows_are_named(tmp_path, content, message):
    """As an editor counts them."""
    path = tmp_path / "preds.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(ValueError, message, path)


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"label": [1], "pred": [1], "conf": [[0.5, 0.5]]}, ValueError, "confidence must be one-dimensional"),
        ({"label": [1, 0], "probs": [[0.5, 0.5], [1.0]]}, ValueError, "lists of one length, but data row 2 has 1"),
        ({"label": [1, 0], "probs": [[0.5, 0.5], None]}, ValueError, "data row 2 has 0 entries"),
        ({"label": [1, 0], "probs": [["a", "b"], ["c", "d"]]}, TypeError, "column 'probs' must hold lists of numbers"),
        ({"label": [1], "pred": [1], "conf": [date(2024, 1, 1)]}, TypeError, "'conf' must hold numbers, got Date"),
    ],
)
def test_wrong_types(tmp_path, columns, error, message):
    path = tmp_path / "a.parquet"
    pl.DataFrame(columns).write_parquet(path)
    refused(error, message, path, **({"confidence": "conf"} if "conf" in columns else {}))


def test_wrong_types_of_arrays(tmp_path):
    archive = tmp_path / "a.npz"
    np.savez(archive, labels=[0, 1], logits=[["a", "b"], ["c", "d"]])
    refused(TypeError, "logits must be numeric", archive)
    np.savez(archive, labels=[[0, 2], [1, 1]], pred=[0, 1])
    refused(ValueError, "a matrix whose rows do not sum to 1", archive, labels="labels")


def test_other_types_of_columns(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"label": [1], "pred": [1], "group_day": [date(2024, 1, 1)]}).write_parquet(path)
    np.testing.assert_array_equal(read_outputs(path).groups["day"], ["2024-01-01"])
    frame = pl.DataFrame({"label": [True, False], "pred": ["1", "0"], "conf": ["0.5", " 1"], "id": [2**60, 1]})
    frame.with_columns(pl.col("pred").cast(pl.Int8)).write_parquet(path)
    outputs = read_outputs(path)
    np.testing.assert_array_equal(outputs.labels, [1, 0])
    np.testing.assert_array_equal(outputs.confidence, [0.5, 1.0])
    assert outputs.ids[0] == 2**60
    categorical = pl.DataFrame({"label": ["b", "a"], "pred": ["b", "b"]}).cast(pl.Categorical)
    categorical.write_parquet(path)
    np.testing.assert_array_equal(read_outputs(path).error, [0.0, 1.0])
    arrays = pl.DataFrame({"label": [0, 1], "probs": [[0.5, 0.5], [0.1, 0.9]]})
    arrays.with_columns(pl.col("probs").cast(pl.Array(pl.Float32, 2))).write_parquet(path)
    np.testing.assert_allclose(read_outputs(path).probabilities, [[0.5, 0.5], [0.1, 0.9]], rtol=1e-6)


def test_odd_paths_and_byte_order_marks(tmp_path):
    path = tmp_path / "a[1]*.csv"
    path.write_bytes(b"\xef\xbb\xbflabel,pred\r\n1,1\r\n0,1\r\n")
    np.testing.assert_array_equal(read_outputs(path).error, [0.0, 1.0])


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
    assert printed[0] == "Outputs(n=4, n_classes=2, labels, logits)"
    assert printed[1] == (
        f'{table}: reading .parquet files needs polars: pip install ".[cli]" in the checkout '
        "(or use .npz, which does not)"
    )


def test_series_of_pandas_are_columns():
    """A series has the methods of polars, and filters by labels: whatever columns it stands for, no row is lost."""
    pd = pytest.importorskip("pandas")
    right, sure = np.arange(40) % 3 > 0, np.linspace(1, 0, 40)
    arrays = {"correct": right, "quality": right.astype(float), "abstained": ~right}
    for name in arrays:
        columns = {"confidence": sure, "correct": right} | {name: arrays[name]}
        if name == "quality":
            del columns["correct"]
        expected = abstain.evaluate(metrics=["aurc"], level=None, **columns).value("aurc")
        series = {key: pd.Series(column, index=np.arange(40)[::-1]) for key, column in columns.items()}
        assert abstain.evaluate(metrics=["aurc"], level=None, **series).value("aurc") == expected


def test_two_columns_that_sum_to_one_are_probabilities(tmp_path):
    """Columns of any name, if nothing else predicts."""
    found = read_outputs(text(tmp_path, "label,net_0,net_1\n0,0.75,0.25\n1,0.5,0.5\n1,0.25,0.75\n"))
    assert found.probabilities.tolist() == [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
