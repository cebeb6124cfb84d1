"""Each score against its definition, written down slowly or computed by other means."""

import importlib

import numpy as np
import pytest
from scipy import optimize, special, stats

from abstain import Outputs, metrics, scores
from abstain.scores import _batch, _fitted_logits
from tests.scores.toy import TEST, TRAIN, VALIDATION, WEIGHT, fitted

Z, H, Y = np.asarray(TEST.logits), np.asarray(TEST.features), np.asarray(TEST.labels)
P, LOG_P = special.softmax(Z, axis=1), special.log_softmax(Z, axis=1)
W, B = WEIGHT, np.full(4, -1.0)
#: Scores to which a class is as good as another.
ORDER_FREE = (
    "msp", "neg_log_error", "neg_entropy", "softmax_margin", "neg_gini", "max_logit", "logit_margin", "energy", "gen",
    "max_logit_pnorm", "temp_msp", "temp_neg_log_error", "pass_msp", "pass_neg_predictive_entropy",
    "pass_neg_expected_entropy", "pass_neg_mutual_information",
)  # fmt: skip


def close(score, expected, rtol=1e-10):
    np.testing.assert_allclose(score, expected, rtol=rtol, atol=1e-12)


# ---------------------------------------------------------------------- logits


@pytest.mark.parametrize("gamma", [0.01, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("top", [1, 2, 3, 4, 100])
def test_gen_is_the_sum_over_the_largest(gamma, top):
    """-sum of (p (1-p))^gamma over the sorted probabilities."""
    largest = np.sort(P, axis=1)[:, ::-1][:, :top]
    close(scores.get("gen", gamma=gamma, top=top)(TEST), -((largest * (1 - largest)) ** gamma).sum(axis=1))


def test_gen_counts_probabilities_that_single_precision_loses():
    """At gamma = 0.01, p = e^-200 contributes e^-2; in float32 it is 0, and with a floor of 1e-7 another number."""
    outputs = Outputs(labels=[0], logits=[[200.0, 0.0]])
    close(scores.compute("gen(gamma=0.01)", outputs), [-2 * np.exp(-2.0)])
    assert scores.compute("gen(gamma=0.01, floor=float32)", outputs)[0] == 0.0
    close(scores.compute("gen(gamma=0.01, floor=1e-7)", outputs), [-2 * (1e-7 * (1 - 1e-7)) ** 0.01], 1e-7)


@pytest.mark.parametrize("p", [0, 1, 2, 3, 9])
def test_pnorm_is_the_largest_centred_logit_over_the_norm(p):
    """The largest u / ||u||_p, also where u^9 would overflow float32."""
    centred = Z - Z.mean(axis=1, keepdims=True)
    close(fitted("max_logit_pnorm", p=p).score(TEST), centred.max(axis=1) / np.linalg.norm(centred, ord=p, axis=1))
    huge = Outputs(labels=[0], logits=np.array([[1e4, 0.0, -1e4]]))
    close(scores.get("max_logit_pnorm", p=9).fit(huge).score(huge), [2 ** (-1 / 9)])


def test_pnorm_chooses_by_aurc_and_falls_back():
    """The kept p has the least AURC of all candidates; the MSP is one of them."""
    state = fitted("max_logit_pnorm").arrays
    assert state["aurc"].argmin() == list(state["candidates"]).index(state["p"])
    areas = [
        metrics.get("aurc").of(VALIDATION.error, fitted("max_logit_pnorm", p=p).score(VALIDATION)) for p in range(10)
    ]
    close(state["aurc"][1:], areas)
    close(state["aurc"][0], metrics.get("aurc").of(VALIDATION.error, scores.compute("neg_log_error", VALIDATION)))
    binary = Outputs(labels=[0, 1, 1, 0], logits=[[2.0, 0], [0, 1], [0.5, 0], [3, 0]])  # every p ties all samples
    chosen = scores.get("max_logit_pnorm").fit(binary)
    assert chosen.arrays["p"] in (-1.0, 0.0)
    if chosen.arrays["p"] == -1.0:
        close(chosen.score(binary), scores.compute("neg_log_error", binary))


@pytest.mark.parametrize("factor", [3.7, 20.0])
def test_temperature_is_that_of_a_fine_line_search(factor):
    """Newton in a bracket finds the minimum of the convex cross-entropy, which plain gradient steps do not."""
    logits = factor * np.asarray(VALIDATION.logits)

    def loss(log_t):
        log_p = special.log_softmax(logits / np.exp(log_t), axis=1)
        return -log_p[np.arange(len(log_p)), VALIDATION.labels].mean()

    best = optimize.minimize_scalar(loss, bounds=(-4, 4), method="bounded", options={"xatol": 1e-12}).x
    found = _fitted_logits.best_temperature(logits, VALIDATION.labels)
    assert found == pytest.approx(np.exp(best), rel=1e-6)
    assert loss(np.log(found)) <= loss(best) + 1e-15
    outputs = Outputs(labels=VALIDATION.labels, logits=logits)
    close(scores.get("temp_msp").fit(outputs).score(TEST), special.softmax(Z / found, axis=1).max(axis=1))


def test_temperature_without_an_optimum_warns():
    """Fit data without errors push T to 0: the end of the range, with a warning."""
    outputs = Outputs(labels=[0, 1], logits=[[2.0, 0.0], [0.0, 1.0]])
    with pytest.warns(UserWarning, match="the temperature stopped at the end of its range, 0.01832"):
        scores.get("temp_msp").fit(outputs)
    wrong = Outputs(labels=[1, 0], logits=[[2.0, 0.0], [0.0, 1.0]])
    with pytest.warns(UserWarning, match="the temperature stopped at the end of its range, 54.6"):
        scores.get("temp_msp").fit(wrong)


# ---------------------------------------------------------------------- features


def test_mds_is_the_naive_form():
    """-min_k (h - mu_k)^T Sigma^-1 (h - mu_k), one sample and class at a time."""
    means = np.array([TRAIN.features[TRAIN.labels == k].mean(axis=0) for k in range(4)])
    centred = TRAIN.features - means[TRAIN.labels]
    inverse = np.linalg.inv(centred.T @ centred / len(centred))
    naive = [max(-(h - m) @ inverse @ (h - m) for m in means) for h in H]
    close(fitted("mds").score(TEST), naive, 1e-9)
    total = np.linalg.inv(np.cov(TRAIN.features.T, bias=True))
    overall = [(h - TRAIN.features.mean(axis=0)) @ total @ (h - TRAIN.features.mean(axis=0)) for h in H]
    close(fitted("rmds").score(TEST), np.add(naive, overall), 1e-8)


@pytest.mark.parametrize("k", [1, 5, 50])
def test_knn_is_two_minus_two_cosines(k):
    """The squared distance of unit vectors to the k-th neighbour is 2 - 2 cos; as brute force finds it."""
    a, b = (np.asarray(m) / np.linalg.norm(m, axis=1, keepdims=True) for m in (H, TRAIN.features))
    distances = np.sort(((a[:, None] - b[None]) ** 2).sum(axis=-1), axis=1)[:, k - 1]
    close(fitted("knn", neighbours=k, dtype="float64").score(TEST), -distances, 1e-9)
    np.testing.assert_allclose(fitted("knn", neighbours=k).score(TEST), -distances, atol=5e-7)
    np.testing.assert_allclose(fitted("knn", neighbours=k, dtype="float16").score(TEST), -distances, atol=2e-3)


@pytest.mark.parametrize("block", [1, 3, 50, 399])
def test_knn_in_blocks_is_knn_in_one(block, monkeypatch):
    """The running top k over blocks of queries and bank is that of all at once, and no block is larger."""
    sizes, largest = [], _batch.largest

    def watched(values, k, xp):
        sizes.extend([values.shape] * (values.shape[1] > k))  # else nothing is chosen
        return largest(values, k, xp)

    for name in ("knn", "nnguide"):
        score = fitted(name, neighbours=7, dtype="float64")
        whole = score.score(TEST)
        with monkeypatch.context() as patch:
            patch.setattr(_batch, "BLOCK", block)
            patch.setattr(_batch, "QUERIES", 2 * block)
            patch.setattr(_batch, "largest", watched)
            close(score.score(TEST), whole)
    assert max(queries for queries, _ in sizes) <= 2 * block
    assert max(rows for _, rows in sizes) <= max(block, 14)  # two sets of 7 are merged


def test_vim_by_its_definition():
    """v^2 = ||h-u||^2 - ||P^T (h-u)||^2, alpha scales its mean to that of the largest logit."""
    origin = -np.linalg.pinv(W) @ B
    centred = TRAIN.features - origin
    _, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
    for dim in (1, 2, 4, 8):
        outside = vectors[:, : 10 - dim]
        inside = vectors[:, 10 - dim :]
        v = np.linalg.norm((H - origin) @ outside, axis=1)
        close(v**2, ((H - origin) ** 2).sum(axis=1) - (((H - origin) @ inside) ** 2).sum(axis=1), 1e-8)
        close(fitted("residual", dim=dim).score(TEST), -v, 1e-8)
        alpha = TRAIN.logits.max(axis=1).mean() / np.linalg.norm(centred @ outside, axis=1).mean()
        close(fitted("vim", dim=dim).score(TEST), special.logsumexp(Z, axis=1) - alpha * v, 1e-8)


def test_gradnorm_is_the_gradient_of_a_backward_pass():
    """The L1 norm of d/dW of sum_k -log p_k, by autograd, sample by sample."""
    torch = importlib.import_module("torch")
    expected = []
    for h in H:
        weight = torch.tensor(W, requires_grad=True)
        logits = weight @ torch.tensor(h) + torch.tensor(B)
        torch.nn.functional.log_softmax(logits, dim=0).sum().neg().backward()
        expected.append(float(weight.grad.abs().sum()))
    close(scores.compute("gradnorm", TEST), expected)


def test_react_and_dice_by_their_definitions():
    """Energy of clipped features; energy with the strongest weights only."""
    clip = np.percentile(VALIDATION.features, 90)
    close(fitted("react").score(TEST), special.logsumexp(np.minimum(H, clip) @ W.T + B, axis=1))
    contribution = W * TRAIN.features.mean(axis=0)
    mask = contribution > np.percentile(contribution, 50)
    close(fitted("dice").score(TEST), special.logsumexp(H @ (W * mask).T + B, axis=1))


@pytest.mark.parametrize("percentile", [0.1, 0.5, 0.9, 1.0])
def test_ash_and_scale_row_by_row(percentile):
    """The k = d - round(d q) largest entries are kept; P prunes, B binarizes, S and SCALE scale by exp(s1/s2)."""
    k = max(10 - round(10 * percentile), 1)
    energies = {name: [] for name in ("ash_p", "ash_b", "ash_s", "scale")}
    for h in H:
        keep = np.zeros(10, bool)
        keep[np.argsort(-h, kind="stable")[:k]] = True
        factor = np.exp(h.sum() / h[keep].sum())
        shaped = {
            "ash_p": h * keep, "ash_b": np.where(keep & (h > 0), h.sum() / k, 0.0), "ash_s": h * keep * factor,
            "scale": h * factor,
        }  # fmt: skip
        for name, features in shaped.items():
            energies[name].append(special.logsumexp(W @ features + B))
    for name, expected in energies.items():
        close(scores.get(name, percentile=percentile)(TEST), expected)


def test_she_nnguide_and_fdbd_row_by_row():
    """Inner product with the class pattern; guidance; distances to boundaries."""
    right = TRAIN.error == 0
    patterns = np.array([TRAIN.features[right & (TRAIN.labels == k)].mean(axis=0) for k in range(4)])
    predicted = Z.argmax(axis=1)
    close(fitted("she").score(TEST), (H * patterns[predicted]).sum(axis=1))
    unit = H / np.linalg.norm(H, axis=1, keepdims=True)
    energy = special.logsumexp(TRAIN.logits, axis=1, keepdims=True)
    bank = energy * TRAIN.features / np.linalg.norm(TRAIN.features, axis=1, keepdims=True)
    guidance = np.sort(unit @ bank.T, axis=1)[:, -5:].mean(axis=1)
    close(fitted("nnguide", dtype="float64").score(TEST), special.logsumexp(Z, axis=1) * guidance)
    expected = []
    for z, y, h in zip(Z, predicted, H, strict=True):
        boundaries = sum(abs(z[y] - z[k]) / np.linalg.norm(W[y] - W[k]) for k in range(4) if k != y)
        expected.append([boundaries / np.linalg.norm(h - TRAIN.features.mean(axis=0)), boundaries / np.linalg.norm(h)])
    close(fitted("fdbd").score(TEST), np.array(expected)[:, 0])
    close(fitted("fdbd", normaliser="norm").score(TEST), np.array(expected)[:, 1])


@pytest.mark.parametrize(("first", "second"), [(a, b) for a in ("msp", "neg_entropy") for b in ("l1", "res")])
def test_sirc_orders_as_the_published_product(first, second):
    """The score is -log of (s1max - s1)(1 + exp(-b (s2 - a))), with mean and deviation of s2 on the fit data."""
    statistic = {"l1": lambda o: np.abs(o.features).sum(axis=1), "res": lambda o: fitted("residual").score(o)}[second]
    train = statistic(TRAIN)
    a, b = train.mean() - 3 * train.std(), 1 / train.std()
    gap = 1 - P.max(axis=1) if first == "msp" else -(P * LOG_P).sum(axis=1)
    expected = -np.log(gap * (1 + np.exp(-b * (statistic(TEST) - a))))
    np.testing.assert_allclose(fitted(f"sirc_{first}_{second}").score(TEST), expected, rtol=1e-6, atol=1e-9)


# ---------------------------------------------------------------------- passes


def test_scores_of_passes_by_their_definitions():
    """Mean, entropies, mutual information and votes."""
    passes = np.asarray(TEST.passes)
    mean = passes.mean(axis=0)
    predictive = stats.entropy(mean, axis=1)
    expected_entropy = stats.entropy(passes, axis=2).mean(axis=0)
    votes = np.array([np.bincount(column, minlength=4) for column in passes.argmax(axis=2).T])
    close(scores.compute("pass_msp", TEST), mean.max(axis=1))
    close(scores.compute("pass_neg_predictive_entropy", TEST), -predictive)
    close(scores.compute("pass_neg_expected_entropy", TEST), -expected_entropy)
    close(scores.compute("pass_neg_mutual_information", TEST), expected_entropy - predictive, 1e-6)
    close(scores.compute("pass_vote_agreement", TEST), votes.max(axis=1) / 3)
    np.testing.assert_array_equal(scores.pass_predictions(TEST), mean.argmax(axis=1))
    np.testing.assert_array_equal(scores.pass_predictions(TEST, method="votes"), (votes + mean / 9).argmax(axis=1))
    tied = Outputs(labels=[0], passes=[[[0.9, 0.1]], [[0.45, 0.55]]])
    assert scores.pass_predictions(tied, method="votes").tolist() == [0]  # one vote each: the mean decides
    tied = Outputs(labels=[0], passes=[[[0.1, 0.9]], [[0.55, 0.45]]])
    assert scores.pass_predictions(tied, method="votes").tolist() == [1]


# ---------------------------------------------------------------------- classes have no order


@pytest.mark.parametrize("name", ORDER_FREE)
@pytest.mark.parametrize("kind", ["logits", "single precision", "probabilities", "shares of votes"])
def test_the_order_of_the_class_columns_moves_no_bit(name, kind):
    """Rows whose classes are permuted get the same score to the last bit, whatever lies between them in memory."""
    rng = np.random.default_rng(11)
    z = rng.normal(size=(900, 7)) * 3.0
    matrix = {
        "logits": z, "single precision": z.astype(np.float32), "probabilities": special.softmax(z, axis=1),
        "shares of votes": rng.multinomial(100, [0.4, 0.2, 0.15, 0.1, 0.05, 0.05, 0.05], size=900) / 100,
    }[kind]  # fmt: skip
    field = "logits" if kind in ("logits", "single precision") else "probabilities"
    passes, labels = special.softmax(rng.normal(size=(3, 900, 7)), axis=2), matrix.argmax(axis=1)
    labels[::5] = rng.integers(7, size=180)
    first, second = (
        Outputs(labels=np.argsort(order)[labels], passes=passes[:, :, order], **{field: matrix[:, order]})
        for order in (np.arange(7), rng.permutation(7))
    )
    if not scores.get(name).available(first, first):
        pytest.skip(f"{name} is not computed from {field}")
    np.testing.assert_array_equal(scores.compute(name, first, first), scores.compute(name, second, second))
