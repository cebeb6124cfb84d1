"""Plans: what they refuse, each with a sentence; their files; what they expect; and the command."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import abstain
from abstain.pool import load_plan
from tests.refusal import refused

RNG = np.random.default_rng(8)
N = 400
SCORE = RNG.random(N)
LOSS = (RNG.random(N) < 0.4 * (1.0 - SCORE)).astype(float)
IDS = np.array([f"case-{k:03d}" for k in range(N)])
PLAN = abstain.plan_labels(SCORE, n=60, seed=0, ids=IDS)
LABELS = np.where(PLAN.stage > 0, LOSS, np.nan)


def with_(column, place, value):
    """Return a copy with one value changed."""
    changed = column.copy()
    changed[place] = value
    return changed


TWO = abstain.plan_labels(SCORE, n=60, compare=1.0 - SCORE, seed=0)
SHARED = np.where(TWO.stage > 0, LOSS, np.nan)


def planned(score=SCORE, **options):
    """Plan five labels, or as many as are given."""
    return abstain.plan_labels(score, **{"n": 5, **options})


def evaluated(**changed):
    """Evaluate the pool with its plan, with something changed."""
    return abstain.evaluate(**{"loss": LABELS, "confidence": SCORE, "ids": IDS, "plan": PLAN, **changed})


def without_ids(**changed):
    """Evaluate the pool with what is given alone."""
    return abstain.evaluate(**{"loss": LABELS, "confidence": SCORE, **changed})


def extended(loss=LABELS, **options):
    """Extend the plan."""
    return PLAN.extend(loss, **options)


def compared(**changed):
    """Compare two scores of the pool with their plan, with something changed."""
    given = {"loss": SHARED, "scores": {"a": SCORE, "b": 1.0 - SCORE}, "plan": TWO, **changed}
    return abstain.compare(given.pop("loss"), given.pop("scores"), **given)


NINE = {"loss": LOSS[:9], "confidence": SCORE[:9], "plan": planned()}
TWICE = r"ids occur more than once \(1 such, first: case-007\)"
GAP = r"confidence is NaN in 1 of 400 rows \(first: row 4\); give nan_policy=\"reject\""
NEW = r"1 of its 400 rows are missing and 1 are new \(first missing: case-000, first new: case-new\)"
FOUND = "60 of 60 planned rows have no label .* or name the column that holds what was found: loss= or labels="
CHANGED = r"the scores are not those of the plan: 1 of 400 changed \(first: id case-002 was 0\.\d+ and is"
REFUSED = [
    (planned, {"halfwidth": 0.1}, "give exactly one of n"),
    (planned, {"n": None}, "give exactly one of n"),
    (planned, {"n": 401}, "n=401 labels, but the pool has 400 rows; n=400 labels"),
    (planned, {"n": 0}, "n must be a whole number >= 1"),
    (planned, {"score": with_(SCORE, 3, np.nan)}, GAP),
    (planned, {"ids": with_(IDS, 0, "case-007")}, TWICE),
    (planned, {"ids": IDS[:9]}, "ids must hold one name per row: 400 rows"),
    (planned, {"judge": with_(SCORE, 1, np.nan)}, r"judge is no number in \[0, 1\] in 1 of 400 rows \(first: row 2\)"),
    (planned, {"judge": [1.0]}, "judge must hold one value per row"),
    (planned, {"design": "planned"}, "give judge="),
    (planned, {"metric": "coverage_at_risk"}, "coverage_at_risk is no"),
    (planned, {"metric": "ece"}, "ece is no function of sums of losses"),
    (planned, {"metric": "average_precision_error"}, "average_precision_error is a function of the whole curve"),
    (planned, {"metric": "brier_score"}, "brier_score"),
    (planned, {"design": "clever"}, "design='clever' is not known"),
    (planned, {"score": np.zeros(9), "region": 0.5}, "region=0.5 holds no whole tie"),
    (planned, {"region": 60}, r"region must lie in \(0, 1\]"),
    (without_ids, {}, "340 of 400 rows have no label: if they were never .*, say how the others were chosen: plan="),
    (without_ids, {"loss": LABELS * np.nan, "labelled": "at random"}, "no row has a label; abstain.plan_labels says"),
    (without_ids, {"plan": "plan.csv"}, "load_plan"),
    (without_ids, {"loss": LOSS, "target": "population"}, "target='population' is for a pool with a plan"),
    (without_ids, NINE, "the plan is for 400 rows, the pool has 9"),
    (
        evaluated,
        {"loss": with_(LABELS, PLAN.planned[0], np.nan)},
        r"1 of 60 .* no label \(first: id case-\d+\); label them",
    ),
    (evaluated, {"confidence": with_(SCORE, 2, 0.5)}, CHANGED + " 0.5"),
    (evaluated, {"confidence": with_(SCORE, 2, np.nan)}, CHANGED + " missing"),
    (evaluated, {"ids": with_(IDS, 0, "case-new")}, "the ids are not those of the plan: " + NEW),
    (evaluated, {"ids": with_(IDS, 0, "case-007")}, "ids occur more than once"),
    (evaluated, {"ids": None}, r"knows its rows by ids \(such as case-000\), but the pool has none; give ids="),
    (evaluated, {"loss": LABELS * 0.5}, "a plan needs 0/1 losses, but loss"),
    (evaluated, {"metrics": "coverage_at_risk"}, "coverage_at_risk is no function of sums"),
    (evaluated, {"sample_weight": np.ones(N)}, "no plan draws labels by sample_weight yet"),
    (evaluated, {"clusters": IDS}, "no plan draws labels by clusters yet"),
    (evaluated, {"groups": {"site": IDS}}, "groups= does not go with plan= or labelled= yet"),
    (evaluated, {"scores": ["a", "b"]}, "a plan is for one score"),
    (evaluated, {"labelled": "at random"}, "not both"),
    (evaluated, {"target": "world"}, "target='world' is not known"),
    (extended, {"n": 341}, "n=341 labels, but 340 of the 400 rows are not labelled yet"),
    (extended, {}, "how many rows more"),
    (extended, {"loss": LABELS * np.nan, "n": 5}, FOUND),
    (planned, {"compare": (SCORE, IDS, IDS[:9])}, "needs 400 predictions of each model"),
    (planned, {"error_rate": 0.0}, r"error_rate must lie inside \(0, 1\), got 0.0; 0.1 is usual"),
    (planned, {"level": 1.0}, r"level must lie inside \(0, 1\), got 1.0; 0.95 is usual"),
    (planned, {"compare": SCORE[:9]}, "400 rows, but 9 scores"),
    (planned, {"compare": SCORE, "region": 0.5}, "without region="),
    (planned, {"compare": SCORE, "metric": "auroc_f"}, "auroc_f is no sum over rows"),
    (planned, {"n": None, "halfwidth": 0.1, "compare": SCORE}, "give n="),
    (compared, {"plan": PLAN}, "the plan is for one score"),
    (compared, {"scores": {"a": SCORE, "b": SCORE}}, "the scores 'b' are not those"),
    (compared, {"scores": {"a": SCORE, "b": SCORE, "c": SCORE}}, "a plan compares two scores"),
    (compared, {"loss": {"a": SHARED, "b": with_(SHARED, TWO.planned[0], np.nan)}}, "1 rows have a loss of one"),
    (compared, {"loss": {"a": SHARED, "b": 1.0 - SHARED}}, "60 rows have different losses where the predictions"),
    (compared, {"loss": {"a": SHARED, "x": SHARED}}, "use the same names"),
    (compared, {"sample_weight": np.ones(N)}, "sample_weight= does not go with plan="),
]


@pytest.mark.parametrize(("call", "options", "sentence"), REFUSED)
def test_every_bad_input_has_its_sentence(call, options, sentence):
    """What cannot be done is refused with the argument, the value and the remedy."""
    refused((ValueError, TypeError), sentence, call, **options)


def test_labels_outside_the_plan_are_not_used():
    """A label that nobody planned changes no number, and the reader is told."""
    alone = evaluated()
    with pytest.warns(UserWarning, match="340 labels outside the plan are not used"):
        more = evaluated(loss=LOSS)
    assert alone.to_csv() == more.to_csv()


def test_labels_and_predictions_serve_as_well_as_losses():
    """Missing class labels are missing labels, whether None, NaN or empty text."""
    truth = np.where(LOSS > 0.0, "b", "a").astype(object)
    frame = pl.DataFrame({"id": IDS, "confidence": SCORE, "pred": ["a"] * N,
                          "label": [t if s else None for t, s in zip(truth, PLAN.stage, strict=True)]})  # fmt: skip
    expected = evaluated().to_csv()
    assert abstain.evaluate(frame, plan=PLAN).to_csv() == expected
    assert abstain.evaluate(frame.with_columns(pl.col("label").fill_null("")), plan=PLAN).to_csv() == expected


def test_equal_scores_and_tiny_pools():
    """Scores that say nothing, pools of two rows and a single label still give a value inside its interval."""
    for n_rows, n in ((2, 1), (3, 2), (1, 1), (50, 1)):
        score = np.linspace(0.0, 1.0, n_rows) if n_rows < 50 else np.zeros(50)
        plan = abstain.plan_labels(score, n=n, seed=0)
        assert any("all scores are equal" in note for note in plan.notes()) == (n_rows in (1, 50))
        loss = np.where(plan.stage > 0, 1.0, np.nan)
        entry = abstain.evaluate(loss=loss, confidence=score, plan=plan, metrics="augrc").measurements[0]
        assert entry.low <= entry.value <= entry.high


def test_a_file_that_is_no_plan_is_refused(tmp_path):
    """Edited after it was written, or never written as a plan."""
    PLAN.save(file := tmp_path / "plan.csv")
    whole = pl.read_csv(file)
    drawn, other = (whole["stage"].to_list().index(k) for k in (1, 0))
    row, chance, stage = pl.int_range(pl.len()), pl.col("probability_1"), pl.col("stage")
    for column in (
        pl.lit(1).alias("stage"),
        chance * 2.0,
        pl.col("confidence") * 0.5,
        pl.when(row == other).then(2).otherwise(stage).alias("stage"),
        *(chance - by * (row == drawn) + by * (row == other) for by in (0.15, 0.2)),  # none is left, and less
    ):
        whole.with_columns(column).write_csv(file)
        refused(ValueError, "was changed since it was written", load_plan, file)
    file.write_text("a,b\n1,2\n")
    refused(ValueError, "is no plan of labels", load_plan, file)


def test_the_command_plans_extends_and_evaluates(do):
    """From a pool without labels to numbers, with a second stage between, all by files; and what it refuses."""
    frame = pl.DataFrame({"id": IDS, "confidence": SCORE})
    frame.write_csv("pool.csv")
    for line, said, plan in (
        ("--metric augrc --labels 50 --seed 1 -o plan.parquet", "Label 50 of 400 rows to estimate", "plan.parquet"),
        ("--extend plan.parquet --loss wrong --labels 30 -o more.csv", "Label 30 of 400 rows (stage 2)", "more.csv"),
    ):
        assert said in do(f"plan pool.csv {line}").out
        known = [int(x) if s else None for x, s in zip(LOSS, load_plan(plan).stage, strict=True)]
        frame.with_columns(pl.Series("wrong", known)).write_csv("pool.csv")
    shown = do("evaluate pool.csv --plan more.csv --loss wrong --report page.html --verbose")
    assert "400 rows, 80 labelled by plan (uniform), " in shown.text
    assert "labelled by plan" in Path("page.html").read_text("utf-8")
    before = Path("more.csv").read_bytes()
    for line, sentence in (
        ("evaluate pool.csv --loss wrong", "320 of 400 rows have no label"),
        ("evaluate pool.csv --loss wrong", "--plan (of 'abstain plan')"),
        ("plan pool.csv --labels 9 --metric ece -o ece.csv", "ece is no function of sums of losses"),
        ("plan pool.csv --labels 401 -o x.csv", "--labels 401, but the pool has 400 rows; --labels 400 labels"),
        ("plan pool.csv -o x.csv", "give exactly one of --labels (how many can be paid) and --halfwidth"),
        ("plan pool.csv --labels 9 --judge jdg -o x.csv", "column 'jdg' is not in the file; known: "),
        ("plan pool.csv --extend more.csv --loss wrong -o x.csv", "give --labels, such as --labels 200"),
        ("plan pool.csv --labels 9 -o more.csv", "is there already; give -o another name, or add a stage to a plan"),
        ("evaluate pool.csv --plan more.csv", "name the column that holds what was found: --loss or --labels"),
        ("evaluate pool.csv --plan pool.csv --loss wrong", "is no plan of labels (it has no 'plan')"),
        ("evaluate pool.csv --plan more.csv --at-random", "give --plan or --at-random, not both"),
    ):
        assert sentence in do(line, 2).err
    assert Path("more.csv").read_bytes() == before


@pytest.mark.parametrize("kind", ["P(class 1)", "per cent"])
def test_a_pool_is_read_as_an_evaluation_reads_it(kind, do):
    """A plan, its evaluation and one at random take P(class 1), and a confidence such as 87%."""
    cents = [f"{round(100.0 * x)}%" for x in SCORE]
    frame = pl.DataFrame({"pd": SCORE} if kind == "P(class 1)" else {"confidence": cents})
    frame.write_csv("pool.csv")
    option = "--positive-probability pd" if kind == "P(class 1)" else ""
    do(f"plan pool.csv {option} --labels 60 --seed 1 -o plan.csv")
    done = load_plan("plan.csv")
    wanted = np.maximum(SCORE, 1.0 - SCORE) if option else [float(each[:-1]) / 100.0 for each in cents]
    np.testing.assert_array_equal(done.confidence, wanted)
    truth = [int(x) if s else None for x, s in zip(LOSS, done.stage, strict=True)]
    frame.with_columns(pl.Series("found", truth)).write_csv("pool.csv")
    for way in ("--plan plan.csv", "--at-random"):
        do(f"evaluate pool.csv {option} {'--labels' if option else '--loss'} found {way}")


def test_one_seed_draws_independently_in_each_stage():
    """Whoever gives seed=k to the plan and to its extension gets the chances that the plan states."""
    score, count, chance = np.linspace(0.0, 1.0, 100), np.zeros(100), np.zeros(100)
    for seed in range(250):
        plan = abstain.plan_labels(score, n=20, seed=seed)
        plan = plan.extend(np.where(plan.stage > 0, 0.0, np.nan), n=20, seed=seed)
        count += plan.stage == 2
        chance += np.where(plan.stage == 1, 0.0, plan.inclusion)
    z = (count - chance) / np.sqrt(chance * (1.0 - chance / 250))
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_plan_that_a_spreadsheet_sorted(kind, tmp_path):
    """Rows by number go back to their places; rows by name cannot, which is said with the remedy."""
    for plan in (abstain.plan_labels(SCORE, n=10, seed=0), PLAN):
        plan.save(file := tmp_path / f"plan-{plan is PLAN}.{kind}")
        frame = getattr(pl, f"read_{kind}")(file).sort("to_label", "confidence", descending=True)
        getattr(frame, f"write_{kind}")(file)
        if plan is PLAN:
            refused(ValueError, r"its rows were sorted: .* undo the sorting", load_plan, file)
        else:
            assert load_plan(file).digest == plan.digest


def test_a_spreadsheet_runs_no_id_of_a_plan_and_reading_restores_it(tmp_path):
    names = ["=1+1", "+x", "-x", "@x", "\tx", "'=1+1", "'x", "-5"]
    ids = np.array([*names, *IDS[8:]])
    plan = abstain.plan_labels(SCORE, n=60, seed=0, ids=ids)
    plan.save(tmp_path / "plan.csv")
    written = pl.read_csv(tmp_path / "plan.csv", infer_schema=False)["id"].to_list()
    assert not any(each.startswith(("=", "+", "@", "\t", "-x")) for each in written)
    assert load_plan(tmp_path / "plan.csv").ids.tolist() == ids.tolist()
    loss = np.where(plan.stage > 0, LOSS, np.nan)
    found, same = (evaluated(plan=plan, loss=loss, ids=each) for each in (written, ids))
    assert str(found) == str(same)
