"""The full size is what the sources set: every field of every training, with the deviations that the table names."""

import re
from collections import Counter
from fnmatch import fnmatch
from functools import cache
from itertools import product

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


@cache
def full(study):
    """Return the jobs of the full size."""
    return list(study.jobs("gpu"))


@cache
def trainings(study):
    """Return the first seed of each training of the full size."""
    return list({(job.setting.name, job.model): job for job in reversed(full(study))}.values())


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_field_of_the_full_size_is_that_of_its_source(study, monkeypatch):
    """Or stands in the table as a deviation, with the reason; with another value in any field it does not fit."""
    assert list(wrong(study, full(study))) == []
    seeds = Counter((job.setting.name, job.model) for job in full(study))
    for job in trainings(study):
        own = fields(study, job, seeds[job.setting.name, job.model])
        for key, value in own.items():
            changed = {**own, key: "another"}
            monkeypatch.setattr("experiments.training._settings.fields", lambda *_, changed=changed: changed)
            lines = list(wrong(study, [job]))
            assert [line for line in lines if f"{key} = 'another', the table has {value!r}" in line], key


def test_all_that_a_source_trains_is_there():
    """The rows of the joint paper; the rewards that FD-Shifts registers, with and without dropout."""
    modes = recorded()["modes"]
    wanted = {("openood", name, model) for name, models in modes["openood"].items() for model in models}
    for (name, rewards), dropout in product(modes["fd_shifts"].items(), ("false", "true")):
        families = ["confidnet", "devries", *(f"deep_gamblers-reward={reward:g}" for reward in rewards)]
        wanted |= {("fd_shifts", name, f"{family}-dropout={dropout}") for family in families}
    studies = (OPENOOD, FD_SHIFTS)
    assert {(study.name, job.setting.name, job.model) for study in studies for job in full(study)} == wanted


def test_every_set_of_the_full_size_can_be_found():
    """Its name is one that the readers look for; none is a path of somebody's machine."""
    for setting in {job.setting for study in STUDIES.values() for job in full(study)}:
        names = [setting.data, *setting.foreign, *setting.shifted]
        assert {name.partition(":")[0] for name in names} <= set(data.known())


def test_entries_name_what_was_read_and_hold_for_something():
    """Repository, commit and files; a reason for each deviation; no field that no training has."""
    for entry in recorded()["entry"]:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+ [0-9a-f]{7}", f"{entry['repository']} {entry['commit']}")
        assert entry["files"]
        assert all(each["why"] for each in entry.get("other", {}).values())
        study, kinds = STUDIES[entry["study"]], [entry.get(key, ["*"]) for key in ("settings", "models")]
        held = set()
        for job in trainings(study):
            names = zip((job.setting.name, job.model), kinds, strict=True)
            if all(any(fnmatch(name, each) for each in allowed) for name, allowed in names):
                held |= fields(study, job, 1).keys()
        assert entry.get("same", {}).keys() | entry.get("other", {}).keys() <= held, entry
