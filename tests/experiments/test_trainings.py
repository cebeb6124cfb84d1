"""Studies of trainings: sizes are complete, the smallest runs to its tables, and what is finished is not done again."""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("lightning")

from abstain import Outputs  # noqa: E402
from abstain.study import add_outputs, read_study  # noqa: E402
from experiments.cwsa_cnn._rows import STUDY as CWSA  # noqa: E402
from experiments.cwsa_cnn._tables import shown as shown_thresholds  # noqa: E402
from experiments.estimators_table1._rows import STUDY as TABLE_1  # noqa: E402
from experiments.estimators_table1._tables import shown as shown_objectives  # noqa: E402
from experiments.fd_shifts._claims import claims as claims_of_scores  # noqa: E402
from experiments.fd_shifts._rows import STUDY as FD_SHIFTS  # noqa: E402
from experiments.fd_shifts._tables import SCORES  # noqa: E402
from experiments.fd_shifts._tables import shown as shown_scores  # noqa: E402
from experiments.openood._claims import claims  # noqa: E402
from experiments.openood._numbers import alone  # noqa: E402
from experiments.openood._rows import LADDER  # noqa: E402
from experiments.openood._rows import STUDY as OPENOOD  # noqa: E402
from experiments.openood._tables import by_seeds, labelled, read, welch  # noqa: E402
from experiments.training._differences import Measure, cell, compared  # noqa: E402
from experiments.training._jobs import SIZES, Setting  # noqa: E402
from experiments.training._main import main  # noqa: E402
from experiments.training._numbers import read as read_numbers  # noqa: E402
from experiments.training._run import dry_run, finished  # noqa: E402
from tests.imports import ROOT  # noqa: E402

STUDIES = [OPENOOD, FD_SHIFTS, TABLE_1, CWSA]


def settings(of, prefix=""):
    """Return all settings of a recipe by their full key."""
    found = {}
    for name, value in of.items():
        found |= settings(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return found


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


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_the_size_for_a_gpu_counts_on_generated_data(study):
    """A dry run builds every network at its full width for the papers' shapes; sums are those of its lines."""
    jobs = study.jobs("gpu")
    some = list({job.model: job for job in reversed(jobs)}.values())[:6]
    some += [next(job for job in jobs if job.setting.shifted)] if any(job.setting.shifted for job in jobs) else []
    lines = dry_run(some).splitlines()
    counted = [float(re.search(r"([\d.,]+) M$", line)[1].replace(",", "")) for line in lines[1:-1]]
    total = float(re.search(r", ([\d,]+) million", lines[-1])[1].replace(",", ""))
    assert len(counted) == len(some)
    assert sum(counted) == pytest.approx(total, abs=0.6)


@pytest.mark.parametrize(
    ("study", "options"),
    [
        pytest.param(OPENOOD, ["--models", "ce", "sure_plus", "--seeds", "0"], marks=pytest.mark.slow),
        pytest.param(FD_SHIFTS, ["--seeds", "0", "--models", "confidnet-dropout=true",
                                 "deep_gamblers-reward=6-dropout=true", "deep_gamblers-reward=2.2-dropout=true"],
                     marks=pytest.mark.slow),
        pytest.param(TABLE_1, ["--models", "before", "ce", "aurc", "confidnet"], marks=pytest.mark.slow),
        (CWSA, ["--seeds", "0"]),
    ],
    ids=lambda value: value.name if hasattr(value, "name") else "",
)  # fmt: skip
def test_the_smallest_size_runs_to_its_tables_and_no_further(study, options, tmp_path, capsys):
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
    again = {FD_SHIFTS: shown_scores, TABLE_1: shown_objectives, CWSA: shown_thresholds}
    if study in again:
        assert again[study](read_numbers(tmp_path / "numbers.csv")) + "\n" == text
    assert main(study, command) == 0
    assert "0 of" in capsys.readouterr().err
    assert len((tmp_path / "records.jsonl").read_text().splitlines()) == len(records)


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_the_whole_smallest_size(study, tmp_path):
    """All rows, both seeds."""
    assert main(study, ["--output", str(tmp_path), "--accelerator", "cpu"]) == 0
    assert all(finished(job, tmp_path) for job in study.jobs("smoke"))


def test_unknown_rows_are_said(tmp_path):
    """A name that is not there stops before anything is loaded."""
    with pytest.raises(SystemExit, match="sure_minus: is not known; known: ce"):
        main(OPENOOD, ["--output", str(tmp_path), "--models", "sure_minus"])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_an_end_in_between_loses_one_epoch(tmp_path):
    """The command ends on a signal with one line, and goes on when it is repeated."""
    command = [sys.executable, "-m", "experiments.cwsa_cnn", "--output", str(tmp_path), "--accelerator", "cpu"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not list(tmp_path.glob("smoke/*/*/checkpoints/*/last.ckpt")):
        if process.poll() is not None:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert "Traceback" not in said
    assert main(CWSA, command[3:]) == 0
    assert len(read_study(tmp_path / "smoke").runs) == 2


def test_noise_in_labels_is_the_same_for_every_run():
    """A fifth is drawn anew, so that about 15 % of four classes change; validation and test stay."""
    clean = Setting("a", "synthetic:n=4000,size=8", 4000, "size=8", validation="test:0.1")
    noisy = Setting("b", "synthetic:n=4000,size=8", 4000, "size=8", validation="test:0.1", noise=0.2)
    first, one, two = clean.task(), noisy.task(), noisy.task()
    changed = float((first.train.labels != one.train.labels).double().mean())
    assert changed == pytest.approx(0.15, abs=0.02)
    assert torch.equal(one.train.labels, two.train.labels)
    assert torch.equal(first.validation.labels, one.validation.labels)


def test_differences_count_training(tmp_path):
    """Runs that scatter widen the interval of a difference; a model beside itself has none."""
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=600)
    signal_ = np.eye(4)[labels]
    for model, gain in (("ce", 1.0), ("other", 1.4)):
        for seed in range(4):
            scatter = 1.0 + 0.5 * (seed % 2)
            logits = gain * scatter * signal_ + np.random.default_rng(seed).normal(size=(600, 4))
            add_outputs(tmp_path / "wide", Outputs(labels=labels, logits=logits), model=model, run=f"seed{seed}",
                        set="test", data="toy")  # fmt: skip
            if seed % 2 == 0:
                add_outputs(tmp_path / "narrow", Outputs(labels=labels, logits=logits), model=model,
                            run=f"seed{seed}", set="test", data="toy")  # fmt: skip
    measure = Measure("AUGRC", "augrc")
    wide, narrow = (
        compared(tmp_path / name, "ce", ["ce", "other"], "test", measure, score_of={}, paired=False)
        for name in ("wide", "narrow")
    )
    assert wide["other"]["difference"] < 0
    assert wide["other"]["high"] - wide["other"]["low"] > narrow["other"]["high"] - narrow["other"]["low"]
    assert math.isnan(wide["ce"]["difference"])
    one = alone(Outputs(labels=labels, logits=signal_))
    assert one["errors"] == 0.0


def test_welch_by_hand():
    """Two and two values: df 2, t 4.3027, squared errors 1/2 each; one value says nothing."""
    assert welch([0.0, 2.0**0.5], [1.0, 1.0 + 2.0**0.5]) == pytest.approx(4.30265 * 1.0, rel=1e-5)
    assert math.isnan(welch([1.0], [1.0, 2.0]))


def judged(setting="fashion_small", claim="J29", quantity="test errors", **models):
    """Return counts and verdict of a claim on rows made by hand: values of each seed, by model."""
    rows = [
        {"setting": setting, "model": model, "seed": str(seed), "quantity": name, "value": value}
        for model, values in models.items()
        for name in {"test errors", quantity}
        for seed, value in enumerate(values)
    ]
    line = next(line for line in claims(rows, setting).splitlines() if line.startswith(f"| {claim}"))
    return line.removesuffix(" |").split(" | ")[2:]


GOOD, BAD = (0.050, 0.051, 0.052), (0.080, 0.081, 0.082)


def ladder(values, **others):
    """Return all rows with the same values, but for some."""
    return dict.fromkeys(LADDER, values) | others


def test_claims_are_counted_by_hand():
    """What beats every row on every seed holds; the reverse does not; noise decides nothing; bars leave rows out."""
    assert judged(**ladder(BAD, sure_plus=GOOD)) == ["11", "0", "0", "0", "holds"]
    assert judged(sure_plus=BAD, ce=GOOD) == ["0", "1", "0", "10", "does not hold"]
    assert judged(**ladder(BAD, sure_plus=(0.05, 0.08, 0.06))) == ["0", "0", "11", "0", "not decided"]
    assert judged(sure_plus=GOOD, ce=(0.11, 0.12, 0.13)) == ["0", "0", "0", "11", "not judged"]
    assert judged("cifar10", **ladder((0.18, 0.181, 0.182), sure_plus=(0.15, 0.151, 0.152)))[-1] == "holds"
    assert judged(sure_plus=GOOD, ce=BAD[:1]) == ["0", "0", "0", "11", "not judged"]


def test_what_is_left_out_keeps_a_claim_from_holding():
    """Rows that are not there, with one seed, or below the bar; exactly at the bar is not below."""
    assert judged(sure_plus=GOOD, ce=BAD) == ["1", "0", "0", "10", "not decided"]
    for mixup in (BAD[:1], (0.11, 0.12, 0.13)):
        assert judged(**ladder(BAD, sure_plus=GOOD, mixup=mixup)) == ["10", "0", "0", "1", "not decided"]
    assert judged(**ladder(GOOD, sure_plus=BAD, mixup=BAD[:1]))[-1] == "does not hold"
    assert judged(**ladder((0.099, 0.1, 0.101), sure_plus=GOOD)) == ["11", "0", "0", "0", "holds"]
    assert judged(claim="J27", sure=BAD, sure_linear=(0.11, 0.12, 0.13))[-2:] == ["100", "not judged"]
    assert judged(claim="J21", quantity="near f1 msp", ce=GOOD)[-2:] == ["72", "not judged"]


def test_all_count_each_alone_and_one_against_for_all():
    """Told apart at 95 %, not at 99.5 %: enough for each to come out as said, too little for one against."""
    near = (0.0600, 0.0625, 0.0650)
    assert judged(**ladder(near, sure_plus=GOOD)) == ["11", "0", "0", "0", "holds"]
    assert judged(sure_plus=near, ce=GOOD)[1:] == ["1", "0", "10", "does not hold"]
    assert judged(**ladder(GOOD, sure_plus=near)) == ["0", "0", "11", "0", "not decided"]
    assert welch(GOOD, near, df=2) > welch(GOOD, near)


def test_no_scatter_is_no_interval():
    """Equal values of every seed, by rounding too, tell nothing apart; nor does an interval that is NaN."""
    same = (0.05, 0.05, 0.05)
    assert math.isnan(welch(same, [0.1 + 0.2 - 0.25, 0.05, 0.05]))
    assert judged(**ladder((0.08, 0.08, 0.08), sure_plus=same)) == ["0", "0", "11", "0", "not decided"]
    assert judged(**ladder(BAD, sure_plus=same))[-1] == "holds"
    rows = [
        {"model": model, "quantity": quantity, "value": value}
        for model, value in (("ce", 0.05), ("mixup", 0.05 + 1e-16))
        for quantity in ("test errors", "test errors", "test errors", "test aurc", "test aurc")
    ]
    shown = by_seeds(rows, ["ce", "mixup"], labelled("test")[:2])
    assert "**" not in shown
    assert "| mixup | 2 to 3 | 5.0 (+0.0) |" in shown
    row = {"n": 3, "value": 1.0, "difference": 0.5, "low": math.nan, "high": math.nan}
    assert "**" not in cell(row, 1.0, 1, base=False)
    assert "**" in cell({**row, "low": 0.1, "high": 0.9}, 1.0, 1, base=False)


def test_a_number_that_is_there_twice_is_refused(tmp_path):
    """It would count as another seed and make intervals narrower."""
    lines = ["setting,model,seed,quantity,value", "cifar10,ce,0,test errors,0.2", "cifar10,ce,0,test errors,0.2"]
    (tmp_path / "numbers.csv").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ValueError, match="cifar10, ce, 0, test errors twice"):
        read(tmp_path / "numbers.csv")


def judged_scores(value, errors=0.08):
    """Return what was counted and the verdict, by claim; ``value(name, seed, set, metric)`` fills two sets of three."""
    rows = []
    for name, (family, score) in SCORES.items():
        model = {"devries": "devries-dropout=false", "deep_gamblers": "deep_gamblers-reward=6-dropout=true"}.get(
            family, f"confidnet-dropout={'true' if score.startswith('pass_') else 'false'}"
        )
        for seed in range(3):
            for data, role in (("validation", "validation"), ("test", "test"), ("textures", "foreign")):
                shift = '{"kind": "new_class", "semantic": false}' if role == "foreign" else ""
                row = {"data": "fashion_mnist", "id_failures": "", "label": "", "direction": "lower", "n": 9,
                       "model": model, "seed": seed, "set": data, "role": role, "shift": shift, "score": score}  # fmt: skip # noqa: E501
                rows += [{**row, "metric": m, "value": value(name, seed, data, m)} for m in ("augrc", "aurc")]
                rows.append({**row, "metric": "selective_risk(coverage=1.0)", "value": errors})
    lines = claims_of_scores(rows, "fashion_mnist").splitlines()[2:]
    return {line[2:5]: line.removesuffix(" |").split(" | ")[2:] for line in lines}


def test_claims_on_scores_are_counted_by_hand():
    """Dropout's scores lie below or above the others by much more than seeds scatter."""

    def by_passes(gain, size=1e-4, errors=0.08):
        def value(name, seed, *_):
            number = list(SCORES).index(name)
            return 0.02 + 1e-4 * number + gain * name.startswith("MCD") + size * np.sin(7.0 * seed + number)

        return judged_scores(value, errors)

    found = by_passes(-0.01)
    assert found["A29"][0].startswith(
        "by means the same without shift, others in 0 of 2 columns; distinguished: 0 changes"
    )
    assert found["A29"][1] == "not decided"
    assert found["A30"] == ["by means 0 of 26 ranks, 0 by three or more; distinguished: 0 of 156 pairs", "not decided"]
    assert found["A37"] == ["distinguished: MCD-MSR lower in 2 of 2; 7 of 12 scores higher somewhere", "does not hold"]
    assert found["A38"][1] == "holds"
    assert found["A38"][0].startswith("distinguished: MCD-MSR on MSR lower in 2 and higher in 0 of 2; MCD-PE on PE")
    assert by_passes(0.01)["A38"][1] == "does not hold"
    assert by_passes(-0.001, size=0.01)["A38"][1] == "not decided"
    assert {verdict for _, verdict in by_passes(-0.01, errors=0.11).values()} == {"not judged"}
    assert by_passes(-0.01, errors=1.0 - 0.9)["A38"][1] == "holds"


def test_ranks_change_where_scores_are_told_apart_in_both_orders():
    """Two metrics that scatter apart rank otherwise and decide nothing; a clear reversal of third and fourth holds."""
    rng = np.random.default_rng(0)
    noise = judged_scores(lambda *_: 0.02 + 1e-4 * rng.normal())
    assert noise["A30"][0].endswith("distinguished: 0 of 156 pairs")
    assert not noise["A30"][0].startswith("by means 0 ")
    assert (noise["A29"][1], noise["A30"][1]) == ("not decided", "not decided")
    order = list(SCORES)
    other = [*order[:2], order[3], order[2], *order[4:]]

    def clear(name, seed, data, metric, size=1e-7):
        number = (order if metric == "aurc" else other).index(name)
        return 0.02 + 1e-3 * number + size * np.sin(7.0 * seed + number)

    found = judged_scores(clear)
    assert " 1 changes without shift: holds" in ": ".join(found["A29"])
    assert found["A30"] == ["by means 4 of 26 ranks, 0 by three or more; distinguished: 2 of 156 pairs", "holds"]
    still = judged_scores(lambda *of: clear(*of, size=0.0))
    assert {verdict for _, verdict in still.values()} == {"not decided"}
