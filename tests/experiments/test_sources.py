"""The full size is what the sources set: every field of every training, with the deviations that the table names."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from fnmatch import fnmatch
from functools import cache

import pytest

pytest.importorskip("torch")
pytest.importorskip("lightning")

from abstain.nn import data
from experiments.cwsa_cnn._rows import STUDY as CWSA
from experiments.estimators_table1._rows import STUDY as TABLE_1
from experiments.fd_shifts._rows import STUDY as FD_SHIFTS
from experiments.openood._rows import STUDY as OPENOOD
from experiments.training._settings import fields, recorded, wrong

STUDIES = {study.name: study for study in (OPENOOD, FD_SHIFTS, TABLE_1, CWSA)}
by_study = pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)


@cache
def full(study):
    """Return the jobs of the full size."""
    return list(study.jobs("gpu"))


@cache
def trainings(study):
    """Return the first seed of each training of the full size."""
    return list({(job.setting.name, job.model): job for job in reversed(full(study))}.values())


@by_study
def test_every_field_of_the_full_size_is_that_of_its_source(study):
    """Or stands in the table as a deviation, with the reason."""
    assert list(wrong(study, full(study))) == []


CHANGES = (
    "data.crop=7", "data.cutout=5", "main.epochs=7", "main.clip=0.3", "stage.main.rate=0.3", "main.keep=best",
    "network.dropout=true", "extract.passes=9", "extract.odin=false", "data.validation=test:0.2",
)  # fmt: skip


@by_study
@pytest.mark.parametrize("change", CHANGES)
def test_a_wrong_setting_is_named(study, change):
    """Whatever is set otherwise in one training is found there and nowhere else."""
    jobs = full(study)
    key = change.partition("=")[0].removeprefix("stage.")
    for job in (each for each in trainings(study) if each.made().stage):
        other = replace(job, settings=(*job.settings, change))
        if fields(study, other, 1) != fields(study, job, 1):
            found = list(wrong(study, [other if each is job else each for each in jobs]))
            assert found
            assert all(f"{job.setting.name}/{job.model}:" in line for line in found)
            assert any(key in line for line in found)
            return
    there = {str(value).lower() for name, value in fields(study, job, 1).items() if name.endswith(key)}
    assert there <= {change.partition("=")[2]}  # all have it already, or it does nothing in them


@by_study
def test_each_field_alone_counts(study):
    """No field is looked at in vain: with another value in its place the table does not fit."""
    seeds = Counter((job.setting.name, job.model) for job in full(study))
    for job in trainings(study):
        own = fields(study, job, seeds[job.setting.name, job.model])
        for key, value in own.items():
            changed = {**own, key: "another"}
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("experiments.training._settings.fields", lambda *_, changed=changed: changed)
                lines = list(wrong(study, [job]))
            assert [line for line in lines if f"{key} = 'another', the table has {value!r}" in line], key


def test_fewer_seeds_other_scores_and_other_sets_are_named():
    """What no recipe says counts, too."""
    jobs = full(OPENOOD)
    assert any("seeds = 2" in line for line in wrong(OPENOOD, [job for job in jobs if job.seed != 1]))
    few = replace(OPENOOD, scores=("MSP", "VIM"))
    assert any("scores = ['MSP', 'VIM']" in line for line in wrong(few, jobs))
    other = [replace(job, setting=replace(job.setting, foreign=job.setting.foreign[1:])) for job in jobs]
    assert sum("set.foreign" in line for line in wrong(OPENOOD, other)) == 25


def test_all_that_a_source_trains_is_there():
    """The rows of the joint paper; the rewards that FD-Shifts registers, with and without dropout."""
    modes = recorded()["modes"]
    found = {}
    for job in full(OPENOOD):
        found.setdefault(job.setting.name, set()).add(job.model)
    assert found == {name: set(models) for name, models in modes["openood"].items()}
    assert len(full(FD_SHIFTS)) == 518
    found = {}
    for job in full(FD_SHIFTS):
        found.setdefault(job.setting.name, set()).add(job.model)
    assert found == {
        name: {
            f"{family}-dropout={dropout}"
            for dropout in ("false", "true")
            for family in ("confidnet", "devries", *(f"deep_gamblers-reward={reward:g}" for reward in rewards))
        }
        for name, rewards in modes["fd_shifts"].items()
    }


def test_every_set_of_the_full_size_can_be_found():
    """Its name is one that the readers look for; none is a path of somebody's machine."""
    for study in STUDIES.values():
        for setting in {job.setting for job in full(study)}:
            names = [setting.data, *setting.foreign, *setting.shifted]
            assert {name.partition(":")[0] for name in names} <= set(data.known())


def test_entries_name_what_was_read_and_hold_for_something():
    """Repository, commit and files; a reason for each deviation; no field that no training has."""
    for entry in recorded()["entry"]:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", entry["repository"])
        assert re.fullmatch(r"[0-9a-f]{7}", entry["commit"])
        assert entry["files"]
        assert all(each["why"] for each in entry.get("other", {}).values())
        study = STUDIES[entry["study"]]
        held = [
            fields(study, job, 1)
            for job in trainings(study)
            if any(fnmatch(job.setting.name, each) for each in entry.get("settings", ["*"]))
            and any(fnmatch(job.model, each) for each in entry.get("models", ["*"]))
        ]
        assert held, entry
        for key in (*entry.get("same", {}), *entry.get("other", {})):
            assert any(key in each for each in held), (entry, key)
