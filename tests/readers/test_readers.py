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


def test_multiple_choice_of_lm_eval():
    """Correct is its acc; the confidence is the softmax of the log-likelihoods at the choice, from the file itself."""
    columns, lines = given(CHOICE), rows(CHOICE)
    loglik = np.array([[float(each[0]) for each in line["filtered_resps"]] for line in lines])
    assert np.array_equal(columns["correct"], [line["acc"] for line in lines])
    assert np.array_equal(columns["correct"] == 1, loglik.argmax(1) == [int(line["target"]) for line in lines])
    np.testing.assert_allclose(columns["confidence"], softmax(loglik).max(1), rtol=1e-12)
    ordered = np.sort(softmax(loglik), axis=1)
    np.testing.assert_allclose(columns["score_margin"], ordered[:, -1] - ordered[:, -2], rtol=1e-9, atol=1e-15)
    assert list(columns["id"][:3]) == ["0", "1", "2"]


def test_questions_with_different_numbers_of_choices():
    """The confidence is among the choices that each question has."""
    path = FIXTURES / f"samples_sums_uneven_{DATE}.jsonl"
    columns, lines = given(path), rows(path)
    assert {len(line["filtered_resps"]) for line in lines} == {3, 4}
    wanted = [softmax(np.array([[float(each[0]) for each in line["filtered_resps"]]])).max() for line in lines]
    np.testing.assert_allclose(columns["confidence"], wanted, rtol=1e-12)


def test_generated_text_has_filters_and_no_confidence():
    """Every question is there once per filter; the reader says that one must be chosen, and what [invalid] means."""
    found = find(str(TEXT))
    table, lines = found[1], rows(TEXT)
    assert table.one_of == ("filter",)
    assert "confidence" not in table.columns
    assert np.array_equal(table.columns["invalid"], [line["filtered_resps"][0] == "[invalid]" for line in lines])
    assert any("24 of 80 answers (of all filters) were not parsed" in note for note in table.notes)


# ---------------------------------------------------------------------- Inspect


def samples():
    """Return the samples of the log by id."""
    return {each["id"]: each for each in json.loads((FIXTURES / "inspect.json").read_text())["samples"]}


def test_a_log_of_inspect():
    """Letters become words, errors and samples without a value are unscored, confidence keeps its ties."""
    columns, log = given(FIXTURES / "inspect.json"), samples()
    state = dict(zip(columns["id"], columns["correct"], strict=True))
    words = {"C": "correct", "I": "incorrect", "P": "partial", "N": "abstained"}
    for name, each in log.items():
        value = each["scores"].get("judge", {}).get("value")
        assert state[name] == words.get(value, "unscored")
    assert [state[name] for name in ("q3", "q5", "q7")] == ["partial", "unscored", "unscored"]
    sure = dict(zip(columns["id"], columns["confidence"], strict=True))
    assert sure["q0"] == 0.95
    assert np.isnan(sure["q5"])
    assert set(columns["level"]) == {"easy", "hard"}
    assert columns["should_abstain"].dtype == bool


def test_logprobs_of_a_log():
    """Mean and sum over the tokens of the answer."""
    columns, log = given(FIXTURES / "inspect.json"), samples()
    row = list(columns["id"]).index("q1")
    tokens = [each["logprob"] for each in log["q1"]["output"]["choices"][0]["logprobs"]["content"]]
    assert columns["score_mean_logprob"][row] == pytest.approx(np.mean(tokens))
    assert columns["score_sum_logprob"][row] == pytest.approx(np.sum(tokens))


@pytest.mark.parametrize("name", ["inspect_samples.parquet", "inspect_samples.csv", "inspect_samples_full.parquet"])
def test_the_frame_of_samples_says_what_the_log_says(name):
    """Verdicts, confidence and metadata agree with the log that the frame was made of."""
    frame, log = given(FIXTURES / name), given(FIXTURES / "inspect.json")
    order = [list(frame["id"]).index(each) for each in log["id"]]
    for column in ("correct", "should_abstain", "level"):
        assert frame[column][order].tolist() == log[column].tolist()
    scored = log["correct"] != "unscored"
    np.testing.assert_allclose(frame["confidence"][order][scored], log["confidence"][scored])


def test_epochs_are_clusters():
    """Answers to one question depend on each other; ids stay unique."""
    columns = given(FIXTURES / "inspect_2_epochs.json")
    assert len(set(columns["id"])) == len(columns["id"]) == 2 * len(set(columns["cluster"]))


def test_several_graders_are_left_to_the_user(tmp_path):
    """No verdict is chosen among several; the note names them."""
    frame = pl.read_parquet(FIXTURES / "inspect_samples.parquet")
    frame.with_columns(pl.col("score_judge").alias("score_other")).write_parquet(tmp_path / "two.parquet")
    found = find(str(tmp_path / "two.parquet"))
    assert "correct" not in found[1].columns
    assert {"judge", "other"} <= found[1].columns.keys()
    assert any("several scorers grade (judge, other)" in note for note in found[1].notes)


def test_a_packed_log_says_what_json_says():
    """The same run, logged as .eval and as JSON, gives the same columns."""
    pytest.importorskip("zstandard")
    packed, plain = given(FIXTURES / "inspect.eval"), given(FIXTURES / "inspect.json")
    assert packed.keys() == plain.keys()
    order = [list(packed["id"]).index(each) for each in plain["id"]]
    for name, column in plain.items():
        assert packed[name][order].astype(str).tolist() == column.astype(str).tolist(), name


def test_a_packed_log_without_its_library(monkeypatch):
    """The message names the extra, and the command that converts the log."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[cli\]".* inspect log convert inspect\.eval --to json'):
        find(str(FIXTURES / "inspect.eval"))


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
    assert np.array_equal(columns["logits"], made["logits"])
    assert np.array_equal(columns["label"], made["labels"])
    mean = softmax(made["dist"]).mean(axis=2)  # its mcd_softmax_mean
    assert columns["passes"].shape == (RUNS, len(mean), mean.shape[1])
    np.testing.assert_allclose(columns["passes"].mean(axis=0), mean, rtol=1e-12)
    assert np.array_equal(columns["score_ext"], made["external"][:, 0])
    np.testing.assert_allclose(columns["score_ext_mcd"], made["external"].mean(axis=1))
    assert np.array_equal(columns["features"], made["features"])
    assert np.array_equal(columns["head_weight"], made["weight"])


def test_several_data_sets_must_be_told_apart(tmp_path):
    """Labels of other data sets are no classes of this network."""
    fd_shifts(tmp_path, sets=3)
    found = find(str(tmp_path / "raw_logits.npz"))
    assert found[1].one_of == ("dataset",)
    assert "0 (60 rows), 1 (60 rows), 2 (60 rows)" in found[1].notes[0]


def test_other_rows_beside_are_refused(tmp_path):
    """FD-Shifts keeps more rows of corrupted data in its arrays of passes than in its logits."""
    made = fd_shifts(tmp_path)
    np.savez_compressed(tmp_path / "raw_logits_dist.npz", np.concatenate([made["dist"]] * 2))
    with pytest.raises(ValueError, match=r"raw_logits_dist\.npz next to it has shape \(120, 4, 6\) for 60 rows"):
        find(str(tmp_path / "raw_logits.npz"))


@pytest.mark.parametrize("name", ["external_confids.npz", "raw_logits_dist.npz"])
def test_a_part_of_a_folder_names_the_file_to_give(tmp_path, name):
    """The parts say nothing alone."""
    fd_shifts(tmp_path)
    refused(ValueError, r"give .*raw_logits\.npz", lambda: find(str(tmp_path / name)))


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
        (["90 %", "55%", " 100 percent "], [0.9, 0.55, 1.0]), (["9/10", "7 out of 10"], [0.9, 0.7]),
        (["0.9", "1", ".25"], [0.9, 1.0, 0.25]), (["95", "60"], [95.0, 60.0]),
        (["High", "low", "very  high", "medium"], [4.0, 2.0, 5.0, 3.0]),
        (["Almost certain", "about even", "unlikely"], [13.0, 7.0, 5.0]), (["90 %", None, ""], [0.9, np.nan, np.nan]),
    ],
)  # fmt: skip
def test_spoken_confidence(said, meant):
    """Per cent and shares as fractions, words as places on one scale; what is missing is NaN."""
    np.testing.assert_allclose(spoken(said), meant)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (["90 %", "0.9"], "mixes per cent .* and numbers"), (["90 %", "high"], "mixes"), (["high", "sure"], "'sure'"),
        (["high", "likely"], "no word of a known scale"), (["150 %"], "more than all"), (["3/2"], "more than all"),
    ],
)  # fmt: skip
def test_what_cannot_be_ordered_is_refused(said, message):
    """Words of no scale or of two, and mixtures."""
    refused(ValueError, message, spoken, said)


def test_words_of_ones_own():
    """A scale of one's own orders its words; others are refused."""
    assert spoken(["maybe", "no idea", "sure"], levels=["no idea", "maybe", "sure"]).tolist() == [2.0, 1.0, 3.0]
    with pytest.raises(ValueError, match="'perhaps' in data row 1, which is no word of no, yes"):
        spoken(["perhaps"], levels=["no", "yes"])
