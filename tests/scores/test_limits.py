"""Scores at the ends of their ranges and of their fits, by definition."""

import numpy as np
import pytest
from scipy import optimize, special, stats

from abstain import Outputs, scores
from tests.refusal import refused
from tests.scores.toy import TEST, TRAIN, VALIDATION, fitted, outputs_of


def close(score, expected, rtol=1e-9):
    np.testing.assert_allclose(score, expected, rtol=rtol, atol=1e-12)


def least_log_loss(x, y, ridge):
    """Weights of the columns of x, and an intercept, by a general optimizer."""

    def loss(theta):
        z = x @ theta[:-1] + theta[-1]
        return np.sum(np.logaddexp(0, z) - y * z) + ridge / 2 * np.sum(theta[:-1] ** 2)

    return optimize.minimize(loss, np.zeros(x.shape[1] + 1), method="BFGS", options={"gtol": 1e-9}).x


def test_platt_has_the_least_log_loss_of_its_targets():
    """Right rows count as (r + 1)/(r + 2), wrong ones as 1/(w + 2)."""
    s, right = scores.compute("max_logit", VALIDATION), VALIDATION.error == 0
    target = np.where(right, (right.sum() + 1) / (right.sum() + 2), 1 / ((~right).sum() + 2))
    a, b = least_log_loss((s - s.mean())[:, None], target, 0.0)
    close(fitted("platt").score(TEST), special.expit(a * (scores.compute("max_logit", TEST) - s.mean()) + b), 1e-5)


def test_ranks_are_shares_of_fit_rows_below():
    """Ties count half; the shares are standardised, weighed and summed; beyond all fit rows nothing changes."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 8, (2, 200)).astype(float)
    error = (rng.random(200) > special.expit(columns[0] / 2 + columns[1] / 4 - 2)).astype(int)
    fit = Outputs(labels=error, predictions=np.zeros(200, int), scores={"a": columns[0], "b": columns[1]})
    asked = np.array([[-5.0, 0.0, 2.5, 7.0, 9.0, 90.0], [3.0, 3.0, 0.0, -1.0, 7.0, 70.0]])
    new = Outputs(labels=np.zeros(6, int), predictions=np.zeros(6, int), scores={"a": asked[0], "b": asked[1]})

    def share(values, known):
        return np.array([np.mean(known < v) + np.mean(known == v) / 2 for v in values])

    own = np.array([share(column, column) for column in columns])
    mean, spread = own.mean(axis=1, keepdims=True), own.std(axis=1, keepdims=True)
    theta = least_log_loss(((own - mean) / spread).T, 1.0 - error, 0.5)
    shares = np.array([share(*pair) for pair in zip(asked, columns, strict=True)])
    expected = theta[:2] @ ((shares - mean) / spread) + theta[2]
    close(scores.get("combine_ranks", scores=("a", "b"), ridge=0.5).fit(fit).score(new), expected, 1e-5)


def test_infinity_is_a_thousand_deviations():
    """Mean and deviation are those of the finite fit rows; a finite score further away counts as no more."""
    a = np.array([1.0, 2.0, 3.0, 6.0, np.inf, -np.inf])
    fit = Outputs(labels=[1, 0, 1, 0, 0, 1], predictions=[0] * 6, scores={"a": a})
    score = scores.get("combine_logistic", scores=("a",)).fit(fit)
    new = Outputs(labels=[0] * 4, predictions=[0] * 4, scores={"a": [3.0, 3.0 + a[:4].std(), np.inf, -1e9]})
    found = score.score(new)
    close((found - found[0]) / (found[1] - found[0]), [0.0, 1.0, 1000.0, -1000.0])


def test_no_distance_falls_below_nought():
    """Rounding makes no distance of a row to itself negative."""
    own = Outputs(labels=TRAIN.labels, logits=TRAIN.logits, features=TRAIN.features)
    assert fitted("knn", neighbours=1, dtype="float64").score(own).max() == 0.0
    rng = np.random.default_rng(0)
    means = np.abs(rng.normal(size=(40, 10))) * 100.0
    two = Outputs(labels=np.tile(np.arange(40), 2), features=np.concatenate([means + 1.0 / 3.0, means - 1.0 / 3.0]),
                  logits=np.tile(10.0 * np.eye(40), (2, 1)))  # fmt: skip
    centre = np.array([two.features[[k, k + 40]].mean(axis=0) for k in range(40)])
    asked = Outputs(labels=np.arange(40), features=centre, logits=10.0 * np.eye(40))
    assert scores.get("mds").fit(two).score(asked).max() == 0.0
    logits = rng.normal(size=(60, 60)) + 9.0 * np.eye(60)
    templates = Outputs(labels=np.arange(60), logits=logits)
    found = scores.get("klm").fit(templates).score(templates)
    assert found.max() == 0.0
    assert found.min() > -1e-12


@pytest.mark.parametrize(("shrinkage", "missing"), [(0.0, True), (2.5, False), (2.5, True)])
def test_klm_is_the_double_loop(shrinkage, missing):
    """-min_k KL(p || q_k), q_k the mean softmax of those predicted as k, drawn towards that of all."""
    logits = VALIDATION.logits.copy()
    if missing:
        logits[:, 3] = -50.0
    p = special.softmax(logits, axis=1)
    labels = np.minimum(VALIDATION.labels, 2) if missing else VALIDATION.labels
    validation = Outputs(labels=labels, logits=logits)
    templates = []
    for k in range(4):
        own = p[p.argmax(axis=1) == k]
        q = (own.sum(axis=0) + shrinkage * p.mean(axis=0)) / (len(own) + shrinkage) if len(own) or shrinkage else None
        q = np.maximum(np.eye(4)[k] if q is None else q, 1e-12)
        templates.append(q / q.sum())
    rows = special.softmax(TEST.logits, axis=1)
    expected = [-min(special.rel_entr(row, q).sum() for q in templates) for row in rows]
    close(scores.get("klm", shrinkage=shrinkage).fit(validation).score(TEST), expected)


@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize(("alpha", "tail"), [(3, 20), (6, 7)])
def test_openmax_is_the_definition(alpha, tail, shift):
    """Row by row: rank the classes, weigh their logits down, give what is taken to the unknown class."""
    correct, expected = TRAIN.error == 0, []
    for z in TEST.logits:
        values = z - z.min() if shift else z
        revised, unknown = values.copy(), 0.0
        for i, k in enumerate(np.argsort(-z, kind="stable")[:alpha]):
            own = TRAIN.logits[correct & (TRAIN.labels == k)]
            a, c = stats.gumbel_l.fit(np.sort(np.linalg.norm(own - own.mean(axis=0), axis=1))[-tail:])
            weight = stats.gumbel_l.cdf(np.linalg.norm(z - own.mean(axis=0)), a, c) * (alpha - i) / alpha
            revised[k] -= values[k] * weight
            unknown += values[k] * weight
        expected.append(-special.softmax([*revised, unknown])[-1])
    score = fitted("openmax", alpha=alpha, tail=tail, shift=shift).score(TEST)
    np.testing.assert_allclose(score, expected, rtol=3e-3, atol=1e-6)  # scipy's fit stops early


def test_classes_without_right_rows():
    """SHE: the mean of the class's rows, or of all rows where it has none; OpenMax: nothing is taken from it."""
    features = np.array([[4.0, 0, 0, 0, 1], [2.0, 0, 0, 0, 1], [0, 1.0, 0, 0, 1], [0, 3.0, 0, 0, 1], [0, 5.0, 0, 0, 1]])
    logits = np.array([[5.0, 0, 0, 0], [4, 0, 0, 0], [3, 1, 0, 0], [0, 6, 0, 0], [0, 4.5, 0, 0]])
    fit = Outputs(labels=[0, 0, 2, 1, 1], logits=logits, features=features)
    asked = Outputs(labels=np.arange(4), logits=9.0 * np.eye(4), features=np.eye(4, 5) + 1.0)
    patterns = np.array([[3.0, 0, 0, 0, 1], [0, 4, 0, 0, 1], [0, 1, 0, 0, 1], features.mean(axis=0)])
    close(scores.get("she").fit(fit).score(asked), (asked.features * patterns).sum(axis=1))
    unknown = scores.get("openmax", alpha=1).fit(fit).score(asked)
    untouched = -1 / (1 + np.exp(9.0) + 3)
    close(unknown[2:], [untouched] * 2)
    assert (unknown[:2] < 2 * untouched).all()


@pytest.mark.parametrize(("width", "dim"), [(10, 5), (767, 383), (768, 512)])
def test_directions_that_a_model_uses_by_default(width, dim):
    """Half of the features, 512 of at least 768 (1,000 of at least 2,048)."""
    rng = np.random.default_rng(0)
    features, head = rng.normal(size=(530, width)), (rng.normal(size=(3, width)), np.ones(3))
    fit = Outputs(labels=np.arange(530) % 3, logits=features @ head[0].T + 1.0, features=features, head=head)
    found, same, other = (scores.get("residual", dim=k).fit(fit).score(fit) for k in (None, dim, dim - 1))
    np.testing.assert_array_equal(found, same)
    assert np.abs(found - other).max() > 1e-6


def test_boundaries_between_equal_classes_do_not_count():
    """fDBD: classes with the same weights have none; at the mean itself a distance of 1e-12 divides."""
    weight = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    fit = Outputs(labels=[0, 2, 2], features=[[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]], head=(weight, np.zeros(3)),
                  logits=[[2.0, 2.0, 0.0], [0.0, 0.0, 2.0], [1.0, 1.0, 1.0]])  # fmt: skip
    score = scores.get("fdbd").fit(fit).score(fit)
    close(score[:2], [2 / np.sqrt(2) / np.sqrt(2), 2 * 2 / np.sqrt(2) / np.sqrt(2)])
    assert score[2] == 0.0
    nothing = Outputs(labels=[0, 1, 1], features=fit.features, head=(0.0 * weight, np.zeros(3)), logits=fit.logits)
    assert scores.get("fdbd").fit(nothing).score(fit).tolist() == [0.0] * 3


def test_what_is_left_of_logits_decides_about_a_head():
    """A residual of a thousandth of the deviation is rounding, more is not."""
    rng = np.random.default_rng(1)
    features, noise = rng.random((50, 3)), rng.normal(size=(50, 2))
    logits = features @ rng.normal(size=(3, 2))
    design = np.column_stack([features, np.ones(50)])
    noise -= design @ np.linalg.lstsq(design, noise, rcond=None)[0]
    for share, fine in ((0.9e-3, True), (1.1e-3, False)):
        given = logits + noise * share * logits.std() / np.abs(noise).max()
        outputs = Outputs(logits=given, features=features, unlabelled=True)
        if fine:
            scores.recover_head(outputs)
        else:
            refused(ValueError, "the features do not give the logits", scores.recover_head, outputs)
            scores.recover_head(outputs, tolerance=1.2e-3)


def test_activations_at_their_edges():
    """ASH keeps the first of equal entries, not zeros; SCALE splits the edge; a row of zeros stays."""
    features = np.array([[2.0, 3.0, 2.0, 2.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0], [0.0] * 5, [1.0, 1.0, 1.0, 1.0, 1.0]])
    weight = np.arange(10.0).reshape(2, 5) / 10.0
    outputs = Outputs(logits=features @ weight.T, features=features, head=(weight, np.ones(2)), unlabelled=True)
    kept = np.array([[2.0, 3.0, 0, 0, 0], [1.0, 0, 0, 0, 0], [0.0] * 5, [1.0, 1.0, 0, 0, 0]])  # the largest two

    def energy(h):
        return special.logsumexp(h @ weight.T + 1.0, axis=1)

    factor = np.exp([9 / 5, 1.0, 0.0, 5 / 2])[:, None]
    expected = {"ash_p": energy(kept), "ash_b": energy((kept > 0) * features.sum(axis=1, keepdims=True) / 2)}
    expected |= {"ash_s": energy(kept * factor), "scale": energy(features * factor)}
    for name, values in expected.items():
        close(scores.compute(f"{name}(percentile=0.6)", outputs), values)
    with pytest.raises(ValueError, match=r"ash_p needs features >= 0 .* smallest is -0.5"):
        scores.compute("ash_p", outputs_of(np.full((2, 10), -0.5), [0, 1]))
