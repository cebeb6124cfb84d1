"""Summaries of two scores: no rows leave their bounds, they add up, and files and the command keep them."""

import pickle

import duckdb
import numpy as np
import polars
import pytest

import abstain
from abstain.summaries import JointSummary, read_summary, summarize_joint
from tests.refusal import refused
from tests.summaries.test_trials import probabilities, reals


def rows(rng, n_id, n_ood, scales=("probability", "real")):
    """Columns of rows in and out of distribution, of scores that mean something or nothing."""
    made = {"probability": probabilities, "real": reals}
    columns = {"id_loss": (rng.random(n_id) < rng.random()).astype(float)}
    for name, scale in zip(("confidence", "detector"), scales, strict=True):
        score = made[scale](rng, n_id + n_ood)
        if rng.random() < 0.5:  # those that should be accepted have the higher scores, mostly
            bad = np.append(columns["id_loss"], np.ones(n_ood)) + rng.normal(0, 0.5, n_id + n_ood)
            score = np.sort(score)[::-1][np.argsort(np.argsort(bad))]
        columns[f"id_{name}"], columns[f"ood_{name}"] = score[:n_id], score[n_id:]
    return columns


def exact(columns, prevalence):
    """All metrics of the rows themselves."""
    told, loss = {**columns, "prevalence": prevalence}, columns["id_loss"]
    joint = abstain.joint
    found = {(name, "both"): float(getattr(joint, name)(**told)) for name in ("ds_f1", "ds_aurc", "ds_augrc")}
    for name in ("confidence", "detector"):
        alone = {"id_score": columns[f"id_{name}"], "ood_score": columns[f"ood_{name}"], "prevalence": prevalence}
        found |= {(each, name): float(getattr(joint, each)(loss, **alone)) for each in ("f1", "aurc", "augrc")}
    return found


def same(one, other):
    """Whether two summaries are equal to the bit."""
    mine, theirs = one.columns(), other.columns()
    return one.name == other.name and all(np.array_equal(mine[name], theirs[name]) for name in mine)


def in_parts(columns, rng, **key):
    """The summary from shuffled parts, each of some ID and some OOD rows, or of none."""
    n_id, n_ood = len(columns["id_loss"]), len(columns["ood_detector"])
    number = int(rng.integers(1, 5))
    orders = [np.array_split(rng.permutation(n), number) for n in (n_id, n_ood)]
    parts = []
    for inside, outside in zip(*orders, strict=True):
        cut = {name: each[outside if name.startswith("ood") else inside] for name, each in columns.items()}
        parts.append(JointSummary(**key).update(**cut))
    return parts[0].merge(*parts[1:])


@pytest.mark.parametrize(
    ("first", "repetitions"),
    [(0, 120), *(pytest.param(first, 1000, marks=pytest.mark.slow) for first in range(0, 10_000, 1000))],
)
def test_no_value_leaves_its_bounds(first, repetitions):
    """Each exact value lies within the bounds, whatever the parts of the summary, at any share of OOD rows."""
    seen = narrow = 0
    for seed in range(first, first + repetitions):
        rng = np.random.default_rng(seed)
        n_id, n_ood = (int(rng.integers(low, 40 if rng.random() < 0.9 else 200)) for low in (1, 0))
        scales = [str(rng.choice(["probability", "real"])) for _ in "12"]
        columns = rows(rng, n_id, n_ood, scales)
        share = None if not n_ood or rng.random() < 0.5 else float(rng.choice([0.0, 0.1, 0.5, 0.9]))
        bits = int(rng.choice([8, 8, 9, 12]))
        result = in_parts(columns, rng, scale=scales[0], detector_scale=scales[1], bits=bits).result(prevalence=share)
        for key, value in exact(columns, share).items():
            each = result[key]
            where = f"{seed}: {key}: {value} {each}"
            assert each.low - 1e-12 <= value <= each.high + 1e-12, where
            assert each.value in (each.low, each.high), where
            if each.width == 0.0:
                assert value == pytest.approx(each.value, abs=1e-12), where
            narrow += 0.0 < each.high - each.low < 0.05
            seen += 1
    assert seen == 9 * repetitions
    assert narrow > repetitions // 2


@pytest.mark.parametrize("bits", [8, 10])
def test_the_value_is_that_of_rows_whose_bins_are_ties(bits):
    """Thresholds at ends of bins, and no others, give the value."""
    columns = rows(np.random.default_rng(bits), 300, 200)
    summary = JointSummary(bits=bits).update(**columns)
    binned = dict(columns)
    for name, key in (("confidence", summary.key), ("detector", summary.detector_key)):
        for kind in ("id", "ood"):
            binned[f"{kind}_{name}"] = -key.of(columns[f"{kind}_{name}"] + 0.0).astype(float)
    for key_, value in exact(binned, 0.3).items():
        assert summary.result(prevalence=0.3)[key_].value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("piece", [1, 7, 300])
def test_a_grid_in_pieces_has_the_bounds_of_all_at_once(piece, monkeypatch):
    """However many bins of the confidence are looked at together."""
    for seed in range(4):
        summary = JointSummary(bits=8).update(**rows(np.random.default_rng(seed), 120, 60))
        whole = summary.result(prevalence=0.3).rows()
        with monkeypatch.context() as small:
            small.setattr("abstain.summaries._cells.TOGETHER", piece)
            assert summary.result(prevalence=0.3).rows() == whole


def test_few_distinct_scores_are_exact():
    """Bins of one score have no inside: every width is 0; and -0.0 is 0.0."""
    rng = np.random.default_rng(0)
    columns = {name: np.round(4.0 * each) / 4.0 for name, each in rows(rng, 500, 300, ("probability",) * 2).items()}
    signs = {name: np.where(each == 0.0, -0.0, each) for name, each in columns.items()}
    summary, other = (JointSummary("real", bits=12).update(**each) for each in (columns, signs))
    found, wanted = ([each.tobytes() for each in one.columns().values()] for one in (other, summary))
    assert found == wanted
    result = summary.result()
    for key, value in exact(columns, None).items():
        assert (result[key].width, result[key].value) == (0.0, pytest.approx(value, abs=1e-12))


def test_it_adds_up_pickles_and_survives_files(tmp_path):
    """Parts in any order are the whole to the bit, after a pickle and a file, too, and nobody else changes."""
    rng = np.random.default_rng(2)
    columns = rows(rng, 700, 500)
    whole = JointSummary(bits=9).update(**columns)
    assert same(in_parts(columns, rng, bits=9), whole)
    copy = pickle.loads(pickle.dumps(whole))
    copy.update([1.0], id_confidence=[0.5], id_detector=[1.0])
    assert (whole.n, copy.n, whole.columns()["n_ood"].sum()) == (1200, 1201, 500)
    whole.save(tmp_path / "s.parquet")
    assert same(read_summary(tmp_path / "s.parquet"), whole)


def test_what_cannot_be_is_refused(tmp_path):
    """Bad rows leave no trace; other keys and kinds do not add up; what does not follow is named."""
    summary, file = (
        JointSummary().update([0, 1], id_confidence=[0.9, 0.5], id_detector=[3.0, 2.0]),
        tmp_path / "s.parquet",
    )
    good = {"id_loss": [0], "id_confidence": [0.5], "id_detector": [1.0]}
    only_ood = JointSummary().update(ood_confidence=[0.5], ood_detector=[1.0])
    for message, call, told in (
        (r"must be 0 \(right\) or 1 \(wrong\), but 0.5 occurs", summary.update, {**good, "id_loss": [0.5]}),
        (r"id_confidence lies outside \[0, 1\]", summary.update, {**good, "id_confidence": [1.5]}),
        (r"id_detector holds NaN.*-inf is accepted last", summary.update, {**good, "id_detector": [np.nan]}),
        ("lengths differ", summary.update, {**good, "id_detector": [1.0, 2.0]}),
        ("lengths differ", summary.update, {**good, "ood_confidence": [0.5]}),
        ("and probability/8 and real/8 do not add up", lambda: summary.merge(JointSummary(bits=8)), {}),
        ("of one kind", lambda: summary.merge(abstain.summaries.Summary()), {}),
        ("'null_gain' does not follow from a summary of two scores", lambda: summary.bounds("null_gain"), {}),
        ("needs OOD rows, but there are none", summary.result, {"prevalence": 0.5}),
        ("holds no rows in distribution", only_ood.result, {}),
        ("bits of two scores must lie between 8 and 12", JointSummary, {"bits": 16}),
        ("nothing to save", lambda: JointSummary().save(file), {}),
    ):
        refused((ValueError, TypeError), message, call, **told)
    assert summary.n == 2
    summary.save(file)
    frame, lit = polars.read_parquet(file), polars.lit
    for message, change in {
        "contradict each other": frame.with_columns(n_right=lit(0), n_wrong=lit(0)),
        "whole numbers from 0 on": frame.with_columns(n_ood=lit(-1)),
        "occurs twice": frame.vstack(frame),
        "'highest' has nulls": frame.with_columns(highest=lit(None, polars.Float64)),
        "must have as many bits": frame.with_columns(detector_key=lit("real/9")),
        "the column 'n_ood' is missing": frame.drop("n_ood"),
    }.items():
        change.write_parquet(file)
        refused(ValueError, f"^{file}: .*{message}", read_summary, file)


def test_the_command_makes_merges_and_shows_them(do):
    """Two days with OOD rows add up to both, also of labels and predictions; a wrong use is one line."""
    columns = rows(np.random.default_rng(4), 900, 400)
    named = {each: {"msp": columns[f"{each}_confidence"], "knn": columns[f"{each}_detector"]} for each in ("id", "ood")}
    inside, outside = polars.DataFrame(named["id"] | {"wrong": columns["id_loss"]}), polars.DataFrame(named["ood"])
    inside[:300].write_parquet("monday.parquet")
    inside[300:].write_parquet("tuesday.parquet")
    outside.write_parquet("foreign.parquet")
    told, one = "--confidence msp --detector knn --loss wrong", "summarize monday.parquet --confidence msp --loss wrong"
    do(f"summarize monday.parquet {told} -o monday-s.parquet")
    do(f"summarize tuesday.parquet {told} --ood foreign.parquet -o tuesday-s.parquet")
    do("merge '*-s.parquet' -o week.parquet")
    whole = JointSummary().update(**columns)
    assert same(read_summary("week.parquet"), whole)
    judged = {"labels": "wrong", "predictions": "zero", "confidence": "msp", "detector": "knn"}
    assert same(
        summarize_joint(inside.with_columns(zero=0.0).lazy(), duckdb.from_arrow(outside.to_arrow()), **judged), whole
    )
    assert do("summarize week.parquet --prevalence 0.5 --json -").json["prevalence"] == 0.5
    text = do("summarize week.parquet --metrics ds_f1").out
    assert ("F1 ↑" in text, "AURC" in text) == (True, False)
    for line, message in {
        f"{one} --ood foreign.parquet": "--ood needs --detector",
        f"summarize monday.parquet {told} --groups day": "--groups and --detector",
        f"{one} --detector kn": "monday.parquet: column 'kn' is not there",
        f"summarize --sql {told}": "--sql counts one score",
        "summarize week.parquet --metrics aurc": "'aurc' does not follow from a summary of two scores",
        f"{one} --prevalence 0.5": "--prevalence needs",
    }.items():
        assert message in do(line, 2).err
