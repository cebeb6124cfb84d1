"""Words that programs write for a missing number, in files of text."""

import json

import numpy as np
import pytest

from abstain.outputs import read_outputs
from abstain.outputs.readers import levels_of, spoken

WORDS = ["nan", "NaN", "NA", "n/a", "<NA>", "None", "null", ""]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_missing_number_is_missing_however_it_is_written(tmp_path, word, ending):
    """A finished confidence, a score beside it and a probability: as an empty cell."""
    cells = {"loss": ["0", "1", "0"], "confidence": ["0.9", word, "0.3"], "score_b": [word, "0.2", "0.1"]}
    path = tmp_path / f"file.{ending}"
    if ending == "csv":
        path.write_text("\n".join([",".join(cells), *map(",".join, zip(*cells.values(), strict=True))]) + "\n")
    else:
        rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
        path.write_text("\n".join(json.dumps(row | {"loss": int(row["loss"])}) for row in rows))
    found = read_outputs(path, scores=["score_b"])
    assert np.array_equal(found.confidence, [0.9, np.nan, 0.3], equal_nan=True)
    assert np.array_equal(found.scores["score_b"], [np.nan, 0.2, 0.1], equal_nan=True)


@pytest.mark.parametrize("word", WORDS[:-1])
def test_a_word_among_classes_that_are_numbers_is_refused(tmp_path, word):
    """It may be a label that is missing, or a class of that name; only an empty cell is surely missing."""
    path = tmp_path / "file.csv"
    path.write_text(f"labels,predictions,confidence\n1,1,.9\n{word},0,.8\n0,0,.3\n")
    what = "labels is missing" if word == "NaN" else f"column 'labels' holds numbers, and '{word}' in data row 2"
    with pytest.raises(ValueError, match=what):
        read_outputs(path)
    path.write_text(f"labels,predictions,confidence\ncat,cat,.9\n{word},{word},.8\ndog,dog,.3\n")
    if word != "NaN":
        assert read_outputs(path).loss_per_sample().tolist() == [0, 0, 0]


def test_a_word_of_the_scale_is_no_missing_one():
    """The word none may be the least of one's own, and alone it stays a word that no scale has."""
    assert spoken(["none", "some", "None"], levels=["none", "some"]).tolist() == [1, 2, 1]
    assert levels_of(["90 %", "NA"]) == ["%"]
    assert levels_of(["0.9", "none"]) is None
    with pytest.raises(ValueError, match="which is no word of a known scale"):
        spoken(["none", "none"])
    with pytest.raises(ValueError, match="mixes numbers"):
        spoken(["0.9", "none", "sure"])
