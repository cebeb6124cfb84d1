"""Tables of seventeen and nine scores: names are the paper's, numbers those of the runs, and one run makes them all."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("torch")
pytest.importorskip("lightning")

import torch

from experiments.claims._sources import printed
from experiments.openood._claims import OUTSIDE
from experiments.openood._numbers import DETECTION, JOINT, NINE, SEVENTEEN, numbers
from experiments.openood._rows import ALL_SCORES, FOUR, LADDER, LITERAL, SMOKE, STEPS, STUDY
from experiments.openood._scores import TABLE_1, TABLE_5, by_score, by_training, counted, steps_counted
from experiments.openood._tables import read
from experiments.openood.pages import RESULTS
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


def test_every_row_of_the_study_keeps_what_odin_and_gram_need():
    """In the small studies of all scores; rows to the letter differ in one setting each.

    The small studies train networks that other settings have, by the same settings but for the outputs.
    """
    jobs = [job for job in STUDY.jobs("cpu") if job.setting.name == "fashion_scores"]
    for job in jobs:
        extract = job.made().extract
        assert extract.odin, job.folder
        assert extract.gram, job.folder
        assert extract.train, job.folder
    assert {job.model for job in jobs} == {*LADDER, *LITERAL}
    for scored, trained in (("fashion_scores", "fashion_small"), ("cifar10_scores", "cifar10")):
        known = {job.folder.partition("/")[2]: job for job in STUDY.jobs("cpu") if job.setting.name == trained}
        again = [job for job in STUDY.jobs("cpu") if job.setting.name == scored]
        shared = [(job, known[name]) for job in again if (name := job.folder.partition("/")[2]) in known]
        assert {job.model for job, _ in shared} == ({*LADDER} if scored == "fashion_scores" else {*FOUR})
        for job, other in shared:
            assert tuple(each for each in job.settings if each not in ALL_SCORES) == other.settings
    first = {job.model: job for job in jobs if job.seed == 0}
    for name, (like, change) in LITERAL.items():
        assert first[name].settings == (*first[like].settings, change)
        assert first[name].made() != first[like].made()


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


def test_tables_of_one_run(judged):
    """A line per score, a line per row of training; the best of a column is bold."""
    text = by_score(judged, TABLE_1)
    lines = text.splitlines()
    assert len(lines) == 2 + 17
    f1 = next(row["value"] for row in judged if row["quantity"] == "near f1 msp")
    assert re.search(rf"^\| MSP \| \**{100 * f1:.1f}\** / ", lines[2])
    assert r"SIRC(MSP,\|z\|_1)" in text
    assert len(by_score(judged, TABLE_5).splitlines()) == 19
    assert len(by_training(judged, "DS-AURC", "far").splitlines()) == 3
    assert counted(judged).splitlines()[2].startswith("| near | ")


@pytest.mark.parametrize("pair", [("fashion_small", "fashion_scores"), ("cifar10", "cifar10_scores")])
def test_networks_are_those_of_the_former_study(pair):
    """A training that both settings have gives both the same numbers, to rounding of other batches."""
    former, scored = (
        {(row["model"], row["seed"], row["quantity"]): row["value"] for row in read(RESULTS / f"{name}.csv")}
        for name in pair
    )
    shared = former.keys() & scored.keys()
    assert len(shared) >= 53
    assert [scored[key] for key in shared] == pytest.approx([former[key] for key in shared], abs=1e-7)


def test_steps_are_counted_as_the_paper_counts_them():
    """Each step helps by seven scores and costs by two, in far DS-AURC the other way round; so is SURE+."""
    place = {name: number for number, name in enumerate(STEPS)}
    seven = list(NINE.values())[:7]
    ways = {"near ds_f1": 1, "far ds_f1": 1, "near ds_aurc": -1, "far ds_aurc": 1}
    rows = [
        {"setting": "s", "model": model, "seed": seed, "quantity": quantity, "value": value}
        for model in LADDER
        for seed in range(2)
        for quantity, value in [("test errors", 0.1)]
        + [
            (f"{quantity} {score}", (1 if score in seven else -1) * way * place.get(model, -1) + 0.01 * seed)
            for score in NINE.values()
            for quantity, way in ways.items()
        ]
    ]  # fmt: skip
    lines = steps_counted(rows).splitlines()[2:]
    assert lines[0] == "| sure_linear against sure | 7 of 9 | 7 of 9 | 7 of 9 | 2 of 9 |"
    assert lines[-1] == "| sure_plus best of all rows | 7 of 9 | 7 of 9 | 7 of 9 | 2 of 9 |"
    assert len(lines) == len(STEPS) + 2
