"""Each of the files is read rightly, or refused with a remedy that works; none is silently wrong."""

import numpy as np
import pytest

import abstain
from tests.front_door.files import MAKERS

pytest.importorskip("polars")


def right(file, name, **options):
    """Assert that losses are those of the file, and that the confidence orders its rows as it should."""
    outputs = abstain.read_outputs(file.path, **options)
    np.testing.assert_allclose(outputs.loss_per_sample(), np.asarray(file.wrong, float), atol=1e-9, err_msg=name)
    if file.sure is not None:
        score = abstain.scores.compute(abstain.scores.default(outputs), outputs)
        ordered = score[np.argsort(np.asarray(file.sure), kind="stable")]
        assert (np.diff(ordered) >= -1e-9).all(), name
        assert len(np.unique(score.round(9))) == len(np.unique(np.asarray(file.sure).round(9))), name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("maker", "count"), zip(MAKERS, (11, 10, 13, 9), strict=True))
def test_read_rightly_or_refused_with_a_remedy_that_works(maker, count, tmp_path):
    """No file gives losses or an order of its rows other than the ones that are in it."""
    files = maker(tmp_path)
    assert len(files) == count
    for name, file in files.items():
        if not file.refused:
            right(file, name)
            continue
        with pytest.raises((ValueError, TypeError)) as caught:
            abstain.read_outputs(file.path)
        assert file.refused in str(caught.value), name
        if file.remedy:
            assert all(f"{argument}=" in str(caught.value) for argument in file.remedy), name
            right(file, name, **file.remedy)
