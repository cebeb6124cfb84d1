"""Tables of seventeen and nine scores: names are the paper's, numbers those of the runs, and one run makes them all."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("lightning")

import torch

from experiments.claims._sources import printed
from experiments.openood._claims import OUTSIDE
from experiments.openood._numbers import DETECTION, JOINT, NINE, SEVENTEEN, numbers
from experiments.openood._rows import ALL_SCORES, SMOKE
from experiments.training._jobs import Job
from experiments.training._run import run


def test_scores_are_those_of_the_tables():
    """Seventeen in the order of Tables 1 and 5, nine in that of Tables 2 and 3."""
    tables = printed("joint")
    assert list(SEVENTEEN) == list(tables["table1"]["rows"]) == list(tables["table5"]["rows"])
    nine = [each["ood_score"] for each in tables["table2"]["columns"] if each["group"] == "near"]
    assert list(NINE) == nine
    assert set(NINE.values()) <= set(SEVENTEEN.values())
    assert OUTSIDE["fashion_scores"] == tuple(NINE.values())[1:]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """All numbers of a tiny training with every score."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("scores")
    tiny = ("network.name=small", "network.width=4", "data.batch=32", "epochs=2", *ALL_SCORES)
    jobs = [Job(SMOKE, "ce", "ce", tiny, 0)]
    run(jobs, folder, precision="32-true", say=lambda line: None, accelerator="cpu")
    first = numbers(folder, jobs)
    assert numbers(folder, jobs) == first
    return first


def test_one_run_has_every_number(judged):
    """Seventeen scores by all metrics beside near and far data; only those outside a principal subspace may lack."""
    found = {str(row["quantity"]): row["value"] for row in judged}
    free = ("vim", "sirc_msp_res", "sirc_neg_entropy_res")
    for group in ("near", "far"):
        for score in SEVENTEEN.values():
            for metric in (*JOINT, *DETECTION):
                value = found.get(f"{group} {metric} {score}")
                assert score in free or value is not None, (group, metric, score)
                assert value is None or 0.0 <= value <= 1.0
            if f"{group} ds_f1 {score}" in found:
                assert found[f"{group} ds_f1 {score}"] >= found[f"{group} f1 {score}"] - 1e-12
                assert found[f"{group} ds_f1 {score}"] >= found[f"{group} f1 msp"] - 1e-12
                assert found[f"{group} ds_aurc {score}"] <= found[f"{group} aurc {score}"] + 1e-12
