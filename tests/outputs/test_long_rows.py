"""A row of a CSV with a field too many would be read in the wrong columns."""

import gzip

import pytest

import abstain

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
        abstain.read_outputs(path)


def test_signs_in_quotes_are_no_fields(tmp_path):
    """Only fields count, also of texts with line breaks."""
    path = tmp_path / "a.csv"
    path.write_text('y,pred,conf,text\n0,1,0.7,"a, b,\nc"\n1,1,0.5,"d"\n')
    assert abstain.read_outputs(path).confidence.tolist() == [0.7, 0.5]
