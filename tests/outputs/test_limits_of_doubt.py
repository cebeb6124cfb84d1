"""Where a doubt begins: decision tables by SciPy and scikit-learn, the last case without one and the first with."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

import abstain
from tests.command import csv
from tests.outputs.test_doubts import said


def kinds(notes):
    """Return the kind of each note by a part of its text."""
    parts = {"are the two swapped": "swapped", "it is no loss": "correctness", "higher where the loss": "backwards",
             "higher where the prediction": "backwards", "below chance": "chance", "abstention_unit": "unit",
             "side by side": "several", "or all as passes=": "several",
             "looks like the probability": "step"}  # fmt: skip
    return [next(kind for part, kind in parts.items() if part in note) for note in notes]


def against(loss, score):
    """Whether the ranks of at least 50 known rows rise together by five standard errors, and both vary in ten."""
    loss, score = loss[~np.isnan(score)], score[~np.isnan(score)]
    varied = min(len(each) - np.unique(each, return_counts=True)[1].max() for each in (loss, score)) if len(loss) else 0
    return len(loss) >= 50 and varied >= 10 and stats.spearmanr(loss, score)[0] * np.sqrt(len(loss) - 1) > 5.0


@pytest.mark.parametrize("seed", range(40))
def test_a_score_that_rises_with_the_loss(seed):
    """Random columns about the limit: graded losses, ties, rows without a score, few rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([49, 50, 55, 200]))
    for strength in np.linspace(0.4, 1.6, 7):
        loss = rng.random(n) if seed % 2 else (rng.random(n) < rng.choice([0.15, 0.3])) * 1.0
        score = np.round(loss * strength * 5 / np.sqrt(n) / loss.std() + rng.normal(size=n), int(rng.integers(0, 3)))
        score[rng.random(n) < 0.05] = np.nan
        expected = ["backwards"] if n >= 50 and against(loss, score) else []
        assert kinds(said(loss=loss, confidence=score)) == expected
        if not seed % 2:
            judged = {"labels": np.zeros(n, dtype=int), "predictions": loss.astype(int)}
            assert kinds(said(**judged, scores={"s": score})) == (["backwards"] if against(loss, score) else [])


def test_no_confidence_lies_above_one():
    for top, expected in ((1.0, True), (1.5, False)):
        notes = said(loss=np.linspace(0.0, top, 60), confidence=np.arange(60) % 2 * 1.0)
        assert ("swapped" in kinds(notes)) is expected


def test_ten_rows_must_vary():
    """Nine errors among a thousand rows say nothing of the direction, ten do."""
    for errors, expected in ((9, []), (10, ["backwards"])):
        loss = (np.arange(1000) < errors) * 1.0
        assert kinds(said(loss=loss, confidence=-np.arange(1000.0))) == expected
        assert kinds(said(loss=np.arange(1000) / 1e3, confidence=0.5 - 0.1 * loss)) == expected


@pytest.mark.parametrize(
    ("n", "wrong", "expected"), [(49, 49, 0), (100, 75, 0), (100, 76, 1), (400, 250, 0), (400, 251, 1)]
)
def test_most_losses_are_1(n, wrong, expected):
    """More than five standard errors above one half; graded losses never."""
    loss = (np.arange(n) < wrong) * 1.0
    assert kinds(said(loss=loss)) == ["correctness"] * expected
    assert kinds(said(loss=np.where(loss > 0, 0.99, 0.0))) == []


@pytest.mark.parametrize("field", ["probabilities", "logits", "passes"])
@pytest.mark.parametrize(("n", "right", "expected"), [(49, 0, []), (128, 8, []), (128, 7, ["chance"]), (50, 0, [])])
def test_below_chance(field, n, right, expected):
    """(1/4 - right/n) sqrt(n / (1/4 3/4)) above five: 4.95 of 8, 5.10 of 7 among 128; 4.1 of none among 50."""
    labels = np.arange(n) % 4
    predicted = np.where(np.arange(n) < right, labels, (labels + 1) % 4)
    matrix = 0.7 * np.eye(4)[predicted] + 0.075
    matrix = np.log(matrix) + 3.0 if field == "logits" else matrix[None] if field == "passes" else matrix
    assert kinds(said(labels=labels, **{field: matrix})) == expected


def test_a_class_that_is_no_label():
    """The last of at least three, with the probability of 25 rows, while all others are labels; without names."""

    def columns(mass, k=4, missing=0, seen=0):
        labels = np.arange(100) % (k - 1)
        labels[labels == missing - 1] = 1
        labels[:seen] = k - 1
        p = np.full((100, k), (1.0 - mass) / (k - 1))
        p[:, k - 1] = mass
        p[np.arange(100), labels] += 1e-3
        return {"labels": labels, "probabilities": p / p.sum(axis=1, keepdims=True)}

    given = columns(0.2504)
    (note,) = said(**given)
    assert "class 3, the last of 4, has the probability of 25 samples" in note
    assert kinds(said(labels=given["labels"], logits=np.log(given["probabilities"]) + 7.0)) == ["unit"]
    assert "unit" in kinds(said(**columns(0.9, k=3)))
    assert "unit" in kinds(said(labels=given["labels"], probabilities=np.full((100, 4), 0.25)))
    others = [columns(0.2499), columns(0.9, k=2), columns(0.9, missing=1), columns(0.2504, seen=1)]
    for other in (*others, given | {"class_names": list("abcd")}):
        assert "unit" not in kinds(said(**other))


def test_logits_that_are_probabilities_side_by_side():
    """In [0, 1] and no votes, of 50 rows, with labels of the first classes alone, whose sums are not 1."""
    rng = np.random.default_rng(0)
    p, labels = rng.dirichlet(np.ones(3), (60, 2)).reshape(60, 6), np.arange(60) % 3
    ends = p.copy()
    ends[0, :2] = 0.0, 1.0
    beyond = [np.where(p == p.max(), 1.001, p), np.where(p == p.min(), -0.001, p), np.eye(6)[np.arange(60) % 6]]
    for logits, expected in ((p, 1), (p[:49], 0), (p[:50], 1), (ends, 1), *((each, 0) for each in beyond)):
        assert kinds(said(labels=labels[: len(logits)], logits=logits)).count("several") == expected


def test_a_probability_of_one_class():
    """All rows predicted as one class above all others, three of each among 50, in [0, 1], of two classes."""

    def columns(n=50, upper=3, **changes):
        predicted = (np.arange(n) >= n - upper).astype(int)
        given = {"labels": predicted, "predictions": predicted, "confidence": np.linspace(0.0, 1.0, n)}
        return given | {name: change(given[name]) for name, change in changes.items()}

    assert kinds(said(**columns())) == kinds(said(**columns(upper=47))) == ["step"]
    for wrong in (columns(49), columns(upper=2), columns(upper=48), columns(confidence=lambda c: c * 1.01),
                  columns(confidence=lambda c: c - 0.01), columns(predictions=lambda p: 2 * p, labels=lambda p: 2 * p),
                  columns(labels=lambda p: p + (np.arange(50) == 0) * 2)):  # fmt: skip
        assert kinds(said(**wrong)) == []
    (note,) = said(**columns(confidence=lambda c: 1.0 - c))
    assert "of class 0, which is no confidence: every row predicted 0 lies above" in note
    (note,) = said(**columns(predictions=lambda p: p + 4, labels=lambda p: p + 4))
    assert "of class 5" in note
    (note,) = said(**columns(), class_names=["no", "yes"])
    assert "of class yes" in note
    tied = np.linspace(0.0, 1.0, 50)
    tied[46] = tied[47]
    assert kinds(said(**columns(confidence=lambda c: tied))) == []


# ---------------------------------------------------------------------- of files


def read(path, columns, **told):
    """Return the warnings, or the error, of a file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            abstain.read_outputs(csv(path / "a.csv", **columns), **told)
        except ValueError as error:
            return [str(error)]
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("logits", [False, True])
@pytest.mark.parametrize(("n", "most"), [(100, 5), (700, 7)])
def test_predictions_that_are_not_the_largest(tmp_path, logits, n, most):
    """More than five, and more than one in a hundred."""
    largest = np.arange(n) % 3
    matrix = np.eye(3)[largest] * 0.4 + 0.2
    matrix, kind, word = (np.log(matrix) + 2.0, "logit", "logits") if logits else (matrix, "prob", "probabilities")
    for count in (most, most + 1):
        predicted = np.where(np.arange(n) < count, (largest + 1) % 3, largest)
        columns = {"y_true": largest, "y_pred": predicted, **{f"{kind}_{k}": matrix[:, k] for k in range(3)}}
        notes = read(tmp_path, columns)
        assert len(notes) == (count > most)
        for note in notes:
            assert f"{count} of {n} predictions are not the class with the largest of" in note
            assert word in note
        assert read(tmp_path, columns | {"confidence": np.linspace(0.5, 1, n)}) == []


def test_names_of_classes_in_files(tmp_path):
    """No class in common among 20 rows; one spelled in two ways; one that is called unknown and never predicted."""
    words, n = np.array(["cat", "dog"])[np.arange(20) % 2], np.arange(20)
    in_case, alone = np.char.capitalize(words), "by case or blanks alone"
    unknown, blank = [np.where(n < rows, "Unknown", words) for rows in (1, 2)], np.where(n < 3, " D og", words)
    case = "have no class in common (they differ by case alone); write both"
    for truth, predicted, *parts in (
        (words, in_case, case), (words, np.array(["x", "y"])[n % 2], "have no class in common; write both"),
        (words, blank, f"class ' D og' is predicted but no label, and differs from 'dog' {alone}"),
        (blank, words, "class ' D og' is a label but never predicted, and differs from 'dog'"),
        (words, np.where(n % 2, words, "Cat"), f"'cat' is a label but never predicted, and differs from 'Cat' {alone}"),
        (unknown[0], words, "'Unknown' is the label of 1 row and never predicted", "give ood_label='Unknown'"),
        (unknown[1], words, "'Unknown' is the label of 2 rows and never predicted"),
    ):  # fmt: skip
        (note,) = read(tmp_path, {"y_true": truth, "y_pred": predicted})
        assert all(part in note for part in parts)
    for truth, predicted in ((unknown[1], unknown[1]), (np.where(n < 2, "else", words), words)):
        assert read(tmp_path, {"y_true": truth, "y_pred": predicted}) == []
    assert not any(case in each for each in read(tmp_path, {"y_true": words[:19], "y_pred": in_case[:19]}))


@pytest.mark.parametrize(
    ("n", "k", "right", "expected"),
    [(20, 2, 0, True), (19, 2, 0, False), (100, 2, 33, True), (100, 2, 34, False), (100, 2, 50, False),
     (30, 3, 0, True), (29, 3, 0, False), (100, 4, 10, True)],
)  # fmt: skip
def test_another_order_of_the_classes(tmp_path, n, k, right, expected):
    """More than half right, and twice as much as now, if classes are numbered anew; ten rows of each class."""
    labels, rows = np.arange(n) % k, np.arange(n)
    notes = read(tmp_path, {"y_true": labels, "y_pred": np.where(rows < right, labels, (labels + 1) % k)})
    assert len(notes) == expected
    assert all(f"is {right / n:.3f}, but {1 - right / n:.3f} if the classes came in another" in note for note in notes)


@pytest.mark.parametrize("seed", range(12))
def test_an_uncertainty_that_was_named_as_the_confidence(tmp_path, seed):
    """Refused where its failure AUROC lies three standard errors below one half."""
    rng = np.random.default_rng(seed)
    wrong = (np.arange(45) < 12).astype(int)
    column = np.round(rng.normal(size=45) + (0.6 + 0.1 * seed) * wrong, 1)
    auroc, error = roc_auc_score(1 - wrong, column), np.sqrt(46 / (12 * 12 * 33))
    columns = {"y_true": np.zeros(45, int), "y_pred": wrong, "uncertainty": column}
    notes = [note for note in read(tmp_path, columns, confidence="uncertainty") if "by its values" in note]
    assert len(notes) == (auroc < 0.5 - 3 * error)
    if notes:
        assert f"(failure AUROC {auroc:.3f} as a confidence)" in notes[0]


@pytest.mark.parametrize(("upper", "backwards", "expected"), [(5, 1, 1), (4, 1, 0), (26, 1, 1), (27, 1, 0), (5, 0, 0)])
def test_a_score_from_which_the_prediction_follows(tmp_path, upper, backwards, expected):
    """Among 31 rows, five of each class: refused where it ranks failures backwards, whichever class is above."""
    predicted, score = (np.arange(31) >= 31 - upper).astype(int), np.linspace(0.1, 0.9, 31)
    wrong = score > np.sort(score)[-4] if backwards else score < np.sort(score)[3]
    for prediction in (predicted, 1 - predicted):
        columns = {"y_true": np.where(wrong, 1 - prediction, prediction), "y_pred": prediction, "score": score}
        notes = read(tmp_path, columns)
        assert [note for note in notes if "it looks like the probability of one class" in note] == notes[:expected]
        assert not [n for n in read(tmp_path, columns, confidence="score") if "it looks like" in n]


def test_no_order_is_better_than_by_chance(tmp_path):
    """Predictions that all name one class, or one half; 5 of 9 are more."""
    labels, n = np.arange(90) % 3, np.arange(90)
    spread = [np.where(n % many < 5, (labels + 1) % 3, (labels + 2) % 3) for many in (9, 10)]
    for predicted, number in ((0 * labels + 2, 0), (spread[0], 1), (spread[1], 0)):
        notes = read(tmp_path, {"y_true": labels, "y_pred": predicted})
        assert [("but 0.556 if" in note) for note in notes] == [True] * number
    columns = {"y_true": labels, "y_pred": spread[0], "loss": 0.5 * (labels != spread[0])}
    assert read(tmp_path, columns, loss="loss") == []
    for k, number in ((1000, 1), (1001, 0)):
        n = np.arange(10 * k)
        assert len(read(tmp_path, {"y_true": n % k, "y_pred": (n + 1) % k})) == number
