"""Files of text: words that programs write for a missing number, and rows with a field too many."""

import gzip
import json

import numpy as np
import pytest

from abstain.outputs import read_outputs
from abstain.outputs.readers import levels_of, spoken
from tests.refusal import refused

WORDS = ["nan", "NaN", "NA", "n/a", "<NA>", "None", "null", ""]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_missing_number_is_missing_however_it_is_written(tmp_path, word, ending):
    """A finished confidence and a score beside it, as an empty cell."""
    rows = [{"loss": 0, "confidence": "0.9", "score_b": word}, {"loss": 1, "confidence": word, "score_b": "0.2"}]
    path = tmp_path / f"file.{ending}"
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    path.write_text("\n".join(map(json.dumps, rows) if ending == "jsonl" else lines) + "\n")
    found = read_outputs(path, scores=["score_b"])
    np.testing.assert_array_equal(found.confidence, [0.9, np.nan])
    np.testing.assert_array_equal(found.scores["score_b"], [np.nan, 0.2])


@pytest.mark.parametrize("word", WORDS[:-1])
def test_a_word_among_classes_that_are_numbers_is_refused(tmp_path, word):
    """It may be a label that is missing, or a class of that name; only an empty cell is surely missing."""
    path = tmp_path / "file.csv"
    path.write_text(f"labels,predictions,confidence\n1,1,.9\n{word},0,.8\n0,0,.3\n")
    what = "labels is missing" if word == "NaN" else f"column 'labels' holds numbers, and '{word}' in data row 2"
    refused(ValueError, what, read_outputs, path)
    path.write_text(f"labels,predictions,confidence\ncat,cat,.9\n{word},{word},.8\ndog,dog,.3\n")
    if word != "NaN":
        assert read_outputs(path).loss_per_sample().tolist() == [0, 0, 0]


def test_a_word_of_the_scale_is_no_missing_one():
    """The word none may be the least of one's own, and alone it stays a word that no scale has."""
    assert spoken(["none", "some", "None"], levels=["none", "some"]).tolist() == [1, 2, 1]
    assert levels_of(["90 %", "NA"]) == ["%"]
    assert levels_of(["0.9", "none"]) is None
    refused(ValueError, "which is no word of a known scale", spoken, ["none", "none"])
    refused(ValueError, "mixes numbers", spoken, ["0.9", "none", "sure"])


HEADS = ("y,pred,conf,site", "y,pred,conf,site,more")


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
def test_a_decimal_comma_between_commas_is_refused(head, name, tmp_path):
    """0,5 is two fields: a confidence of 0, whichever of the other columns are read."""
    end = ",1" * (head == HEADS[1])
    text = f'{head}\n0,1,0.7,"a, b"{end}\n0,1,0,5,n{end}\n'
    text = text.replace(", b", "; b").replace(",", "\t") if name == "a.tsv" else text
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    fields = len(head.split(","))
    with pytest.raises(ValueError, match=rf"data row 2 \(line 3\) has {fields + 1} fields, the header has {fields}"):
        read_outputs(path)
