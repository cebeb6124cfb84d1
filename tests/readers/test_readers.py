"""Readers of ood formats: what they recognise, what they give, and what they refuse with a remedy that works."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain.outputs.readers import Peek, recognised, spoken
from tests.readers.layouts import RUNS, fd_shifts, openood, softmax
from tests.refusal import refused

pl = pytest.importorskip("polars")

FIXTURES = Path(__file__).parent / "fixtures"
DATE = "2026-11-22T03-00-00.000000"
CHOICE, TEXT = (FIXTURES / f"samples_{name}_{DATE}.jsonl" for name in ("sums", "sums_text"))


def find(path):
    """Return the reader that recognises a file and what it gives; None for a file of our own kind."""
    peek = Peek(path)
    reader = recognised(peek)
    return None if reader is None else (reader, reader.read(peek))


def rows(path):
    """Return the JSON objects of a file of lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def given(path):
    """Return the columns that a reader gives."""
    found = find(str(path))
    return found[1].columns


# ---------------------------------------------------------------------- which reader


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        (CHOICE.name, "lm-eval"), (TEXT.name, "lm-eval"), ("inspect.json", "Inspect"), ("versions.json", None),
        ("inspect.eval", "Inspect"), ("inspect_samples.csv", "Inspect"), ("inspect_samples.parquet", "Inspect"),
    ],
)  # fmt: skip
def test_files_of_the_tools_are_recognised(name, reader):
    """By what they hold; other files of the same ending are not."""
    found = find(str(FIXTURES / name))
    assert (found and found[0].name) == reader


@pytest.mark.parametrize("name", ["a.npz", "a.csv", "a.parquet", "a.jsonl", "a.json"])
def test_broken_files_are_left_to_the_reader_of_tables(tmp_path, name):
    """It says better what is wrong with them."""
    (tmp_path / name).write_bytes(b"PK\x03\x04 broken \xff")
    assert find(str(tmp_path / name)) is None


# ---------------------------------------------------------------------- lm-eval


@pytest.mark.parametrize(("name", "choices"), [("sums", {4}), ("sums_uneven", {3, 4})])
def test_multiple_choice_of_lm_eval(name, choices):
    """Correct is its acc; the confidence is the softmax of the log-likelihoods of the choices that a question has."""
    path = FIXTURES / f"samples_{name}_{DATE}.jsonl"
    columns, lines = given(path), rows(path)
    assert {len(line["filtered_resps"]) for line in lines} == choices
    assert np.array_equal(columns["correct"], [line["acc"] for line in lines])
    for k, line in enumerate(lines):
        loglik = np.array([[float(each[0]) for each in line["filtered_resps"]]])
        assert columns["correct"][k] == (loglik.argmax() == int(line["target"]))
        p = np.sort(softmax(loglik)[0])
        found = columns["confidence"][k], columns["score_margin"][k]
        assert found == pytest.approx((p[-1], p[-1] - p[-2]), rel=1e-9, abs=1e-15)
    assert list(columns["id"][:3]) == ["0", "1", "2"]


def test_generated_text_has_filters_and_no_confidence():
    """Every question is there once per filter; the reader says that one must be chosen, and what [invalid] means."""
    found = find(str(TEXT))
    table, lines = found[1], rows(TEXT)
    assert table.one_of == ("filter",)
    assert "confidence" not in table.columns
    assert np.array_equal(table.columns["invalid"], [line["filtered_resps"][0] == "[invalid]" for line in lines])
    assert any("24 of 80 answers (of all filters) were not parsed" in note for note in table.notes)


# ---------------------------------------------------------------------- Inspect


def test_a_log_of_inspect():
    """Letters become words, errors and samples without a value are unscored, confidence keeps its ties."""
    columns = given(FIXTURES / "inspect.json")
    log = {each["id"]: each for each in json.loads((FIXTURES / "inspect.json").read_text())["samples"]}
    words = {"C": "correct", "I": "incorrect", "P": "partial", "N": "abstained"}
    state = {name: words.get(each["scores"].get("judge", {}).get("value"), "unscored") for name, each in log.items()}
    assert [state[name] for name in ("q3", "q5", "q7")] == ["partial", "unscored", "unscored"]
    assert dict(zip(columns["id"], columns["correct"], strict=True)) == state
    place = {name: k for k, name in enumerate(columns["id"])}
    assert columns["confidence"][place["q0"]] == 0.95
    assert np.isnan(columns["confidence"][place["q5"]])
    assert set(columns["level"]) == {"easy", "hard"}
    assert columns["should_abstain"].dtype == bool
    tokens = [each["logprob"] for each in log["q1"]["output"]["choices"][0]["logprobs"]["content"]]
    found = [columns[f"score_{kind}_logprob"][place["q1"]] for kind in ("mean", "sum")]
    assert found == pytest.approx([np.mean(tokens), np.sum(tokens)])
    twice = given(FIXTURES / "inspect_2_epochs.json")  # answers to one question depend on each other
    assert len(set(twice["id"])) == len(twice["id"]) == 2 * len(set(twice["cluster"]))


def test_several_graders_are_left_to_the_user(tmp_path):
    """No verdict is chosen among several; the note names them."""
    frame = pl.read_parquet(FIXTURES / "inspect_samples.parquet")
    frame.with_columns(score_other="score_judge").write_parquet(tmp_path / "two.parquet")
    found = find(str(tmp_path / "two.parquet"))[1]
    assert ("correct" in found.columns, {"judge", "other"} <= found.columns.keys()) == (False, True)
    assert any("several scorers grade (judge, other): name one" in note for note in found.notes)
    row = pl.int_range(frame.height)  # a half is no verdict
    frame.with_columns(score_judge=row % 2, score_other=row % 3 / 2).write_parquet(tmp_path / "two.parquet")
    assert "correct is the verdict of Inspect's scorer 'judge'" in find(str(tmp_path / "two.parquet"))[1].notes


@pytest.mark.parametrize("name", ["inspect_samples.parquet", "inspect_samples.csv", "inspect_samples_full.parquet"])
def test_the_frame_of_samples_says_what_the_log_says(name):
    """Verdicts, confidence and metadata agree with the log that the frame was made of."""
    frame, log = given(FIXTURES / name), given(FIXTURES / "inspect.json")
    order = [list(frame["id"]).index(each) for each in log["id"]]
    for column in ("correct", "should_abstain", "level"):
        assert frame[column][order].tolist() == log[column].tolist()
    scored = log["correct"] != "unscored"
    np.testing.assert_allclose(frame["confidence"][order][scored], log["confidence"][scored])


def test_a_packed_log_says_what_json_says(monkeypatch):
    """The same run, logged as .eval and as JSON, gives the same columns; without the library a command converts it."""
    pytest.importorskip("zstandard")
    packed, plain = given(FIXTURES / "inspect.eval"), given(FIXTURES / "inspect.json")
    assert packed.keys() == plain.keys()
    order = [list(packed["id"]).index(each) for each in plain["id"]]
    for name, column in plain.items():
        assert packed[name][order].astype(str).tolist() == column.astype(str).tolist(), name
    monkeypatch.setitem(sys.modules, "zstandard", None)
    remedy = r'pip install "\.\[cli\]".* inspect log convert inspect\.eval --to json'
    refused(ImportError, remedy, find, str(FIXTURES / "inspect.eval"))


@pytest.mark.parametrize("at", [2000, 20000, 37000])
def test_a_damaged_packed_log(tmp_path, at):
    """Bytes that changed are found by the checksums: one line, no traceback."""
    pytest.importorskip("zstandard")
    data = bytearray((FIXTURES / "inspect.eval").read_bytes())
    data[at : at + 30] = bytes(30)
    (tmp_path / "bad.eval").write_bytes(data)
    refused(ValueError, r"bad\.eval: .*write it again", lambda: abstain.read_outputs(tmp_path / "bad.eval"))


def test_an_unfinished_run_says_so(tmp_path):
    """A log without its header is that of a run that was cut off; its samples are read."""
    pytest.importorskip("zstandard")
    log = json.loads((FIXTURES / "inspect.json").read_text())
    (tmp_path / "cut.json").write_text(json.dumps(log | {"status": "cancelled", "samples": log["samples"][:9]}))
    found = find(str(tmp_path / "cut.json"))
    assert "the run of Inspect ended as 'cancelled': 9 samples were logged" in found[1].notes


# ---------------------------------------------------------------------- FD-Shifts


def test_a_folder_of_fd_shifts(tmp_path):
    """Logits, labels, passes, external scores, features and last layer, as FD-Shifts' analysis takes them apart."""
    made = fd_shifts(tmp_path)
    columns = given(tmp_path / "raw_logits.npz")
    for name, part in (("logits", "logits"), ("label", "labels"), ("features", "features"), ("head_weight", "weight")):
        assert np.array_equal(columns[name], made[part])
    mean = softmax(made["dist"]).mean(axis=2)  # its mcd_softmax_mean
    assert columns["passes"].shape == (RUNS, *mean.shape)
    np.testing.assert_allclose(columns["passes"].mean(axis=0), mean, rtol=1e-12)
    assert np.array_equal(columns["score_ext"], made["external"][:, 0])
    np.testing.assert_allclose(columns["score_ext_mcd"], made["external"].mean(axis=1))
    for name in ("external_confids.npz", "raw_logits_dist.npz"):  # the parts say nothing alone
        refused(ValueError, r"give .*raw_logits\.npz", find, str(tmp_path / name))
    np.savez_compressed(tmp_path / "raw_logits_dist.npz", np.concatenate([made["dist"]] * 2))  # as of corrupted data
    wrong = r"raw_logits_dist\.npz next to it has shape \(120, 4, 6\) for 60 rows"
    refused(ValueError, wrong, find, str(tmp_path / "raw_logits.npz"))
    fd_shifts(tmp_path, sets=3)  # labels of other data sets are no classes of this network
    found = find(str(tmp_path / "raw_logits.npz"))[1]
    assert found.one_of == ("dataset",)
    assert "0 (60 rows), 1 (60 rows), 2 (60 rows)" in found.notes[0]


# ---------------------------------------------------------------------- OpenOOD


def test_scores_of_openood(tmp_path):
    """Its -1 marks data that are out of distribution: they have no labels."""
    made = openood(tmp_path)
    inside, outside = given(tmp_path / "cifar10.npz"), given(tmp_path / "svhn.npz")
    for name, wanted in zip(("prediction", "confidence", "label"), made["inside"], strict=True):
        assert np.array_equal(inside[name], wanted)
    assert "is_ood" not in inside
    assert outside["is_ood"].all()


def test_a_pickle_is_refused_and_its_converter_works(tmp_path):
    """The command that the message prints, run as it stands, gives files that are read."""
    made = openood(tmp_path)
    with pytest.raises(ValueError, match="never opened") as caught:
        find(str(tmp_path / "msp.pkl"))
    code = re.search(r'python -c "(.*)"$', str(caught.value))
    with pytest.raises(ValueError, match=re.escape(f'python -c "{code[1]}"') + "$"):  # v[0] is no row
        abstain.read_outputs(tmp_path / "msp.pkl")
    subprocess.run([sys.executable, "-c", code[1]], cwd=tmp_path, check=True)
    assert np.array_equal(given(tmp_path / "id.npz")["label"], made["inside"][2])
    assert given(tmp_path / "cifar100.npz")["is_ood"].all()


def test_no_reader_opens_a_pickle(tmp_path):
    """A file that would run a program when unpickled runs none."""

    class Trap:
        def __reduce__(self):
            return open, (str(tmp_path / "sprung"), "w")

    import pickle

    for name in ("a.pkl", "b.pickle"):
        (tmp_path / name).write_bytes(pickle.dumps(Trap()))
        refused(ValueError, "never opened", find, str(tmp_path / name))
    assert not (tmp_path / "sprung").exists()


# ---------------------------------------------------------------------- verbal confidence


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (["90 %", "55%", " 100 percent ", None, ""], [0.9, 0.55, 1.0, np.nan, np.nan]),
        (["9/10", "7 out of 10"], [0.9, 0.7]),
        (["0.9", "1", ".25"], [0.9, 1.0, 0.25]),
        (["95", "60"], [95.0, 60.0]),
        (["High", "low", "very  high", "medium"], [4.0, 2.0, 5.0, 3.0]),
        (["Almost certain", "about even", "unlikely"], [13.0, 7.0, 5.0]),
        (["90 %", "0.9"], "mixes per cent .* and numbers"),
        (["90 %", "high"], "mixes"),
        (["high", "sure"], "'sure'"),
        (["high", "likely"], "no word of a known scale"),
        (["150 %"], "more than all"),
        (["3/2"], "more than all"),
    ],
)
def test_spoken_confidence(said, meant):
    """Per cent and shares as fractions, words as places on one scale; mixtures and words of no scale are refused."""
    if isinstance(meant, str):
        refused(ValueError, meant, spoken, said)
    else:
        np.testing.assert_allclose(spoken(said), meant)
