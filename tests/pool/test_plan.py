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


def test_ids_find_rows_in_any_order():
    """A pool whose rows come in another order, or as a frame, gives the same numbers."""
    order = RNG.permutation(N)
    frame = pl.DataFrame({"id": IDS, "confidence": SCORE, "wrong": LABELS}).with_columns(pl.col("wrong").fill_nan(None))
    found = [
        evaluated(),
        evaluated(loss=LABELS[order], confidence=SCORE[order], ids=IDS[order]),
        abstain.evaluate(frame, plan=PLAN, loss="wrong"),
        abstain.evaluate(frame[order.tolist()].to_pandas(), plan=PLAN, loss="wrong"),
    ]
    assert len({each.to_csv() for each in found}) == 1


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
    flat = abstain.plan_labels(np.zeros(50), n=10, seed=0)
    assert any("all scores are equal" in note for note in flat.notes())
    for n_rows, n in ((2, 1), (3, 2), (1, 1), (50, 1)):
        score = np.linspace(0.0, 1.0, n_rows) if n_rows < 50 else np.zeros(50)
        plan = abstain.plan_labels(score, n=n, seed=0)
        loss = np.where(plan.stage > 0, 1.0, np.nan)
        entry = abstain.evaluate(loss=loss, confidence=score, plan=plan, metrics="augrc").measurements[0]
        assert entry.low <= entry.value <= entry.high


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
def test_a_plan_survives_its_file(tmp_path, kind):
    """What was written is read again to the bit; an edited file is refused."""
    judge = (SCORE < 0.2).astype(float)
    plan = abstain.plan_labels(np.where(SCORE < 0.1, -np.inf, SCORE), n=40, ids=IDS, judge=judge, design="planned")
    plan = plan.extend(np.where(plan.stage > 0, LOSS, np.nan), n=20)
    file = tmp_path / f"plan.{kind}"
    plan.save(file)
    read = load_plan(file)
    assert read.digest == plan.digest
    assert read.facts == plan.facts
    assert read.sizes == (40, 20)
    for name in ("confidence", "stage", "probability", "ids", "judge"):
        assert np.array_equal(getattr(read, name), getattr(plan, name))
    if kind == "csv":
        pl.read_csv(file).with_columns(stage=pl.lit(1)).write_csv(file)
        refused(ValueError, "was changed since it was written", load_plan, file)
        file.write_text("a,b\n1,2\n")
        refused(ValueError, "is no plan of labels", load_plan, file)


def test_a_width_is_met():
    """So many labels as a half-width was said to need give about that half-width at the error rate that was named."""
    score = np.random.default_rng(0).random(3000)
    loss = (np.random.default_rng(1).random(3000) < 0.3 * (1.0 - score)).astype(float)
    plan = abstain.plan_labels(score, halfwidth=0.012, error_rate=0.15, seed=0)
    known = np.where(plan.stage > 0, loss, np.nan)
    entry = abstain.evaluate(loss=known, confidence=score, plan=plan, metrics="augrc").measurements[0]
    assert plan.facts.expected.halfwidth <= 0.012
    assert 0.008 < 0.5 * (entry.high - entry.low) < 0.016


def test_the_command_plans_extends_and_evaluates(do):
    """From a pool without labels to numbers, with a second stage between, all by files."""
    frame = pl.DataFrame({"id": IDS, "confidence": SCORE})
    frame.write_csv("pool.csv")

    def label(plan):
        known = [int(x) if s else None for x, s in zip(LOSS, plan.stage, strict=True)]
        frame.with_columns(pl.Series("wrong", known)).write_csv("pool.csv")

    planned = do("plan pool.csv --metric augrc --labels 50 --seed 1 -o plan.parquet").out
    assert planned.startswith("Label 50 of 400 rows to estimate AUGRC (design: uniform)")
    label(load_plan("plan.parquet"))
    second = do("plan pool.csv --extend plan.parquet --loss wrong --labels 30 -o more.csv").out
    assert "Label 30 of 400 rows (stage 2)" in second
    label(load_plan("more.csv"))
    for option in ("", "--verbose"):
        shown = do(f"evaluate pool.csv --plan more.csv --loss wrong {option}")
        assert "! Estimated from 80 of 400 rows, labelled by plan (uniform), " in shown.out
        assert "AUGRC" in shown.out
    assert "400 rows, 80 labelled by plan (uniform), " in shown.text
    do("evaluate pool.csv --loss wrong --at-random --metrics augrc")
    said = do("evaluate pool.csv --loss wrong", 2).err
    for sentence in ("320 of 400 rows have no label", "--plan (of 'abstain plan')", "--at-random"):
        assert sentence in said
    for line, sentence in (
        ("plan pool.csv --labels 9 --metric ece -o ece.csv", "ece is no function of sums of losses"),
        ("plan pool.csv --labels 401 -o x.csv", "--labels 401, but the pool has 400 rows; --labels 400 labels"),
        ("plan pool.csv -o x.csv", "give exactly one of --labels (how many can be paid) and --halfwidth"),
        ("plan pool.csv --labels 9 --judge jdg -o x.csv", "column 'jdg' is not in the file; known: "),
        ("plan pool.csv --extend more.csv --loss wrong -o x.csv", "give --labels, such as --labels 200"),
        ("evaluate pool.csv --plan more.csv", "name the column that holds what was found: --loss or --labels"),
        ("evaluate pool.csv --plan pool.csv --loss wrong", "is no plan of labels (it has no 'plan')"),
        ("evaluate pool.csv --plan more.csv --at-random", "give --plan or --at-random, not both"),
    ):
        assert sentence in do(line, 2).err
    do("evaluate pool.csv --plan more.csv --loss wrong --report page.html")
    assert "labelled by plan" in Path("page.html").read_text("utf-8")


def test_the_probability_of_one_class_serves_without_labels(do):
    """A plan, its evaluation and one at random read P(class 1) as an evaluation of labels for all rows does."""
    frame = pl.DataFrame({"pd": SCORE})
    frame.write_csv("pool.csv")
    do("plan pool.csv --positive-probability pd --labels 60 --seed 1 -o plan.csv")
    done = load_plan("plan.csv")
    np.testing.assert_array_equal(done.confidence, np.maximum(SCORE, 1.0 - SCORE))
    truth = [int(x) if s else None for x, s in zip(LOSS, done.stage, strict=True)]
    frame.with_columns(pl.Series("default", truth)).write_csv("pool.csv")
    for way in ("--plan plan.csv", "--at-random"):
        do(f"evaluate pool.csv --positive-probability pd --labels default {way}")
    said = "give positive_probability='y_prob' or confidence='y_prob'"
    refused(ValueError, said, abstain.read_outputs, pl.DataFrame({"y_prob": SCORE}), unlabelled=True)


def test_a_pool_reads_per_cent(do):
    """A confidence such as 87% is read in a pool as in a file whose rows are all labelled."""
    told = [f"{round(100.0 * x)}%" for x in SCORE]
    some = [int(x) if row < 100 else None for row, x in enumerate(LOSS)]
    pl.DataFrame({"confidence": told, "wrong": some}).write_csv("pool.csv")
    do("plan pool.csv --labels 9 -o plan.csv")
    np.testing.assert_array_equal(load_plan("plan.csv").confidence, [float(each[:-1]) / 100.0 for each in told])
    do("evaluate pool.csv --loss wrong --at-random")


def test_a_plan_is_not_replaced(do, tmp_path):
    """Labels that were given by a plan stay its own: a second draw needs a file of its own."""
    pl.DataFrame({"confidence": SCORE}).write_csv("pool.csv")
    do("plan pool.csv --labels 9 -o plan.csv")
    before = (tmp_path / "plan.csv").read_bytes()
    said = do("plan pool.csv --labels 9 -o plan.csv", 2).err
    assert "is there already; give -o another name, or add a stage to a plan with --extend" in said
    assert (tmp_path / "plan.csv").read_bytes() == before


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
    read, write = (pl.read_csv, "write_csv") if kind == "csv" else (pl.read_parquet, "write_parquet")
    for ids in (None, [f"doc{k}" for k in range(40)]):
        file = tmp_path / f"plan-{ids is None}.{kind}"
        plan = abstain.plan_labels(np.linspace(0, 1, 40), n=10, seed=0, ids=ids)
        plan.save(file)
        getattr(read(file).sort("to_label", "confidence", descending=True), write)(file)
        if ids is None:
            assert load_plan(file).digest == plan.digest
        else:
            refused(ValueError, r"its rows were sorted: .* undo the sorting", load_plan, file)


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@x", "\tx", "'=1+1", "'x", "-5"])
def test_a_spreadsheet_runs_no_id_of_a_plan_and_reading_restores_it(tmp_path, name):
    ids = with_(IDS.astype("U20"), 3, name)
    plan = abstain.plan_labels(SCORE, n=60, seed=0, ids=ids)
    plan.save(tmp_path / "plan.csv")
    written = pl.read_csv(tmp_path / "plan.csv", infer_schema=False)["id"]
    assert not written[3].startswith(("=", "+", "@", "\t", "-x"))
    assert load_plan(tmp_path / "plan.csv").ids.tolist() == ids.tolist()
    loss = np.where(plan.stage > 0, LOSS, np.nan)
    found, same = (evaluated(plan=plan, loss=loss, ids=each) for each in (written.to_list(), ids))
    assert str(found) == str(same)
