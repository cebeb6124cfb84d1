"""Studies of trainings: sizes are complete, the smallest runs to its tables, and what is finished is not done again."""

import json
import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("lightning")

from experiments.cwsa_cnn._rows import STUDY as CWSA  # noqa: E402
from experiments.cwsa_cnn._tables import shown as shown_thresholds  # noqa: E402
from experiments.estimators_table1._rows import STUDY as TABLE_1  # noqa: E402
from experiments.estimators_table1._tables import shown as shown_objectives  # noqa: E402
from experiments.fd_shifts._rows import STUDY as FD_SHIFTS  # noqa: E402
from experiments.fd_shifts._tables import shown as shown_scores  # noqa: E402
from experiments.openood._claims import claims  # noqa: E402
from experiments.openood._rows import LADDER  # noqa: E402
from experiments.openood._rows import STUDY as OPENOOD  # noqa: E402
from experiments.openood._tables import read, welch  # noqa: E402
from experiments.training._jobs import SIZES, Setting  # noqa: E402
from experiments.training._main import main  # noqa: E402
from experiments.training._numbers import read as read_numbers  # noqa: E402
from tests.refusal import refused  # noqa: E402

STUDIES = [OPENOOD, FD_SHIFTS, TABLE_1, CWSA]


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_job_of_every_size_is_a_recipe_of_its_own(study):
    """Settings are understood; no two trainings share a folder; what begins with others comes after them."""
    for size in SIZES:
        jobs = study.jobs(size)
        places = {job.folder: number for number, job in enumerate(jobs)}
        assert len(places) == len(jobs)
        for job in jobs:
            if job.start is not None:
                assert places[f"{job.setting.name}/{job.start}/seed{job.seed}"] < places[job.folder]
    first = {(job.model, job.settings): job for job in reversed(study.jobs("smoke"))}
    assert all(job.made().name == job.recipe for job in first.values())


TABLES = [(OPENOOD, None), (FD_SHIFTS, shown_scores), (TABLE_1, shown_objectives), (CWSA, shown_thresholds)]
SLOW = [pytest.param(study, [], shown, marks=pytest.mark.slow) for study, shown in TABLES]


@pytest.mark.parametrize(("study", "options", "shown"), [*SLOW, (CWSA, ["--seeds", "0"], shown_thresholds)])
def test_the_smallest_size_runs_to_its_tables_and_no_further(study, options, shown, tmp_path, capsys):
    """Every job leaves its outputs and a record of time and memory; a second call trains nothing."""
    torch.set_num_threads(1)
    command = ["--output", str(tmp_path), "--accelerator", "cpu", *options]
    assert main(study, command) == 0
    text = capsys.readouterr().out
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert records
    assert all(record["cpu_seconds"] > 0 and record["peak_mb"] > 0 for record in records)
    assert (tmp_path / f"{study.name}-smoke.md").read_text(encoding="utf-8") == text
    assert "nan" not in text.replace("(+nan)", "") or study is OPENOOD  # no coverage reaches 5 % risk there
    assert shown is None or shown(read_numbers(tmp_path / "numbers.csv")) + "\n" == text
    assert options or len(records) == len(study.jobs("smoke"))
    assert main(study, command) == 0
    assert "0 of" in capsys.readouterr().err
    assert len((tmp_path / "records.jsonl").read_text().splitlines()) == len(records)


def test_noise_in_labels_is_the_same_for_every_run():
    """A fifth is drawn anew, so that about 15 % of four classes change; validation and test stay."""
    clean = Setting("a", "synthetic:n=4000,size=8", 4000, "size=8", validation="test:0.1")
    noisy = Setting("b", "synthetic:n=4000,size=8", 4000, "size=8", validation="test:0.1", noise=0.2)
    first, one, two = clean.task(), noisy.task(), noisy.task()
    changed = float((first.train.labels != one.train.labels).double().mean())
    assert changed == pytest.approx(0.15, abs=0.02)
    assert torch.equal(one.train.labels, two.train.labels)
    assert torch.equal(first.validation.labels, one.validation.labels)


def test_welch_by_hand():
    """Two and two values: df 2, t 4.3027, squared errors 1/2 each; one value says nothing."""
    assert welch([0.0, 2.0**0.5], [1.0, 1.0 + 2.0**0.5]) == pytest.approx(4.30265 * 1.0, rel=1e-5)
    assert math.isnan(welch([1.0], [1.0, 2.0]))


def judged(setting="fashion_small", **models):
    """Return counts and verdict of a claim on rows made by hand: values of each seed, by model."""
    kept = {"setting": setting, "quantity": "test errors"}
    rows = [
        kept | {"model": m, "seed": str(k), "value": value} for m, of in models.items() for k, value in enumerate(of)
    ]
    (line,) = [line for line in claims(rows, setting).splitlines() if line.startswith("| J29")]
    return line.removesuffix(" |").split(" | ")[2:]


GOOD, BAD = (0.050, 0.051, 0.052), (0.080, 0.081, 0.082)


def test_claims_are_counted_by_hand():
    """What beats every row on every seed holds; the reverse does not; noise decides nothing; bars leave rows out."""
    bad, noise = dict.fromkeys(LADDER, BAD), (0.05, 0.08, 0.06)
    assert judged(**bad | {"sure_plus": GOOD}) == ["11", "0", "0", "0", "holds"]
    assert judged(sure_plus=BAD, ce=GOOD) == ["0", "1", "0", "10", "does not hold"]
    assert judged(**bad | {"sure_plus": noise}) == ["0", "0", "11", "0", "not decided"]
    assert judged(sure_plus=GOOD, ce=(0.11, 0.12, 0.13)) == ["0", "0", "0", "11", "not judged"]
    above = dict.fromkeys(LADDER, (0.18, 0.181, 0.182)) | {"sure_plus": (0.15, 0.151, 0.152)}
    assert judged("cifar10", **above)[-1] == "holds"
    assert judged(sure_plus=GOOD, ce=BAD[:1]) == ["0", "0", "0", "11", "not judged"]


def test_what_is_refused(tmp_path):
    """A number that is there twice, which would count as another seed; a row that is not there, before any work."""
    lines = ["setting,model,seed,quantity,value", *["cifar10,ce,0,test errors,0.2"] * 2]
    (tmp_path / "numbers.csv").write_text("\n".join(lines), encoding="utf-8")
    refused(ValueError, "cifar10, ce, 0, test errors twice", read, tmp_path / "numbers.csv")
    options = ["--output", str(tmp_path), "--models", "sure_minus"]
    refused(SystemExit, "sure_minus: is not known; known: ce", main, OPENOOD, options)
