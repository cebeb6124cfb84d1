"""Each of the files is read rightly, or refused with a remedy that works; none is silently wrong."""

import warnings
from typing import Any

import numpy as np
import pytest

import abstain
from tests.front_door.files import everything

pytest.importorskip("polars")
pytest.importorskip("sklearn")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the files, written once."""
    return everything(tmp_path_factory.mktemp("files"))


NAMES = [
    "p1_as_score", "p1_as_y_prob", "sklearn_y_score", "prob_1_alone", "both_columns", "minus_plus", "minus_plus_p",
    "booleans", "text_labels", "text_and_p_yes", "uncertainty", "uncertainty_as_conf", "is_correct", "correct_bool",
    "acc_and_labels", "logits", "semicolons", "tabs", "gzipped", "json_records", "per_cent", "y_prob_of_three",
    "class_columns", "hf_pipeline", "hf_all_scores", "plain_npy", "named_npy", "words", "probs_as_percent",
    "columns_0_1_2", "columns_of_names", "suffix_prob", "keras_matrix", "keras_one_hot", "keras_sigmoid",
    "a_matrix_of_logits", "lists_as_text", "numpy_as_text", "json_with_results", "json_by_id", "regression",
    "several_labels", "free_text", "said_abstain", "other_names", "camel_case", "decision_value",
    "row_per_model",
    "marked_ood", "ood_label", "quality", "loss_is_correct", "two_labels", "lm_eval", "lm_eval_text", "inspect_log",
    "inspect_frame", "inspect_eval", "fd_shifts", "fd_shifts_sets", "openood", "openood_ood", "openood_pickle",
]  # fmt: skip


def right(file: Any, outputs: Any) -> None:
    """Assert that losses are those of the file, and that the confidence orders its rows as it should."""
    np.testing.assert_allclose(outputs.loss_per_sample(), np.asarray(file.wrong, dtype=float), atol=1e-9)
    if file.sure is not None:
        score = abstain.scores.compute(abstain.scores.default(outputs), outputs)
        order = np.argsort(np.asarray(file.sure), kind="stable")
        ordered = score[order]
        assert (np.diff(ordered) >= -1e-9).all()
        assert len(np.unique(score.round(9))) == len(np.unique(np.asarray(file.sure).round(9)))


@pytest.mark.parametrize("name", NAMES)
def test_read_rightly_or_refused_with_a_remedy_that_works(files: dict[str, Any], name: str) -> None:
    """No file gives losses or an order of its rows other than the ones that are in it."""
    file = files[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not file.refused:
            right(file, abstain.read_outputs(file.path))
            return
        with pytest.raises((ValueError, TypeError)) as caught:
            abstain.read_outputs(file.path)
        assert file.refused in str(caught.value)
        if file.remedy:
            assert all(f"{argument}=" in str(caught.value) for argument in file.remedy)
            right(file, abstain.read_outputs(file.path, **file.remedy))
