"""SelectiveMetrics: the core's numbers from batches, constant memory with bounds, collections."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import abstain
from abstain import nn
from tests.refusal import refused
from tests.strategies import partitions, problems

torchmetrics = pytest.importorskip("torchmetrics")

RANKS = ["augrc", "aurc", "aurc(estimator=log)", "sele", "e_augrc", "e_aurc", "auroc_f", "augrc_unbiased", "naurc"]


def data(n=2000, classes=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(classes, (n,), generator=generator)
    logits = torch.randn(n, classes, generator=generator) + 3.0 * torch.nn.functional.one_hot(labels, classes)
    return logits, labels


def expected_of(specs, loss, confidence, weight=None):
    blocks = abstain.TieBlocks.from_samples(loss, confidence, weight, oracle=True)
    return {spec: abstain.metrics.parse(spec)(blocks) for spec in specs}


def assert_equal(found, expected):
    assert found.keys() == expected.keys()
    for name, value in found.items():
        assert value.dtype == torch.float64
        assert value.item() == pytest.approx(expected[name], rel=1e-12, abs=1e-13, nan_ok=True), name


@given(drawn=st.data(), problem=problems(losses=["binary", "graded"], min_size=2))
def test_exact_mode_is_the_core(drawn, problem):
    """Any division into batches gives the metrics of all samples together to 1e-12, ties and infinities included."""
    binary = set(problem.loss) <= {0.0, 1.0}
    specs = [spec for spec in RANKS if binary or spec != "auroc_f"]
    metric = nn.SelectiveMetrics(specs)
    for rows in drawn.draw(partitions(len(problem.loss))):
        part = problem.rows(rows)
        metric.update(torch.tensor(part.confidence), torch.tensor(part.loss))
    assert_equal(metric.compute(), expected_of(specs, problem.loss, problem.confidence))


@given(problem=problems(losses=["graded"], weights=["frequencies", "positive", "with_zeros"]))
def test_exact_mode_takes_weights(problem):
    metric = nn.SelectiveMetrics(["augrc", "aurc", "e_augrc"])
    metric.update(*(torch.tensor(column) for column in (problem.confidence, problem.loss, problem.weight)))
    assert_equal(metric.compute(), expected_of(["augrc", "aurc", "e_augrc"], *problem))


def test_compaction_changes_nothing(monkeypatch):
    """Rows of equal score become one row when there are many; the state stays as small as the distinct scores."""
    monkeypatch.setattr("abstain.nn._live._COMPACT", 50)
    rng = np.random.default_rng(0)
    confidence, loss = rng.integers(0, 20, 5000) / 20, (rng.random(5000) < 0.2).astype(float)
    metric = nn.SelectiveMetrics(["augrc", "aurc"])
    for start in range(0, 5000, 10):
        rows = slice(start, start + 10)
        metric.update(torch.tensor(confidence[rows]), torch.tensor(loss[rows]))
    assert sum(len(part) for part in metric.rows) <= 4 * 60
    assert_equal(metric.compute(), expected_of(["augrc", "aurc"], loss, confidence))


# ---------------------------------------------------------------------- constant memory


def test_bins_of_a_confidence_of_ones_own_take_any_scores():
    """Named scores in [0, 1] have bins made for them; of a function nobody knows its range."""
    logits, labels = torch.tensor([[9.0, 0.0], [3.0, 1.0], [0.0, 5.0]]), torch.tensor([0, 1, 1])
    metric = nn.SelectiveMetrics(["aurc"], confidence=lambda z: z.amax(dim=1), bins=256)
    assert metric(logits, labels)["aurc"].item() == pytest.approx((0 + 0 + 1 / 3) / 3)
    assert (metric.scale, nn.SelectiveMetrics(["aurc"], bins=256).scale) == ("real", "probability")


@pytest.mark.parametrize("bits", [8, 12, 16])
@pytest.mark.parametrize("scale", ["probability", "real"])
def test_the_bins_are_those_of_a_summary(bits, scale):
    """The live metric's summary is the one that NumPy makes of the same rows, to the bit, at every edge of the key."""
    rng = np.random.default_rng(bits)
    score = np.concatenate(
        [rng.random(500), 1.0 - 10.0 ** -rng.uniform(0, 18, 500), [0.0, 1.0, 5e-324, 0.5, 1 - 2**-53]]
    )
    if scale == "real":
        edges = [np.inf, -np.inf, 1e300, -1e300, -0.0, -5e-324, 2.0**32, 2.0**-32, -(2.0**32)]
        score = np.concatenate([score, -score, 1e9 * rng.normal(size=500), edges])
    loss = rng.choice([0.0, 1.0, 0.3], len(score))
    metric = nn.SelectiveMetrics(["aurc", "selective_risk(coverage=0.7)"], bins=2**bits + 5, scale=scale)
    metric.update(torch.tensor(score), torch.tensor(loss))
    summary = abstain.summaries.Summary(scale, bits).update(loss, score)
    live, mine = metric.summary().columns(), summary.columns()
    assert metric.summary().key == summary.key
    for name in mine:
        assert np.array_equal(live[name], mine[name]) or (name == "loss_sum" and np.allclose(live[name], mine[name]))
    for name, value in metric.compute().items():
        spec, _, side = name.rpartition("_") if name.endswith(("_low", "_high")) else (name, "", "value")
        expected = getattr(summary.bounds(spec), side)
        assert value.item() == pytest.approx(expected, rel=1e-12)


# ---------------------------------------------------------------------- torchmetrics


@pytest.mark.parametrize("bins", [None, 4096])
def test_forward_reset_and_pickle(bins, tmp_path):
    """forward() returns the batch and keeps the whole; reset() forgets; a pickled metric goes on."""
    logits, labels = data(400)
    metric = nn.SelectiveMetrics(["augrc", "coverage_at_risk(risk=0.1)"], bins=bins)
    first = metric(logits[:200], labels[:200])
    metric(logits[200:], labels[200:])
    torch.save(metric, tmp_path / "metric.pt")
    again = torch.load(tmp_path / "metric.pt", weights_only=False)
    fresh = nn.SelectiveMetrics(["augrc", "coverage_at_risk(risk=0.1)"], bins=bins)
    fresh.update(logits, labels)
    fresh.update(logits[:0], labels[:0])
    assert metric.compute() == again.compute() == fresh.compute()
    fresh.reset()
    fresh.update(logits[:200], labels[:200])
    assert fresh.compute() == first


def test_half_keeps_the_state_in_float64():
    """model.half() reaches metrics that belong to the model; counts in float16 end at 2048."""
    metric = nn.SelectiveMetrics(bins=256).half()
    metric.set_dtype(torch.float16)
    assert metric.n.dtype == torch.float64


def test_undefined_is_nan_with_a_reason():
    """No failure: AUROC is NaN and ``reasons`` says why, exact and binned."""
    for bins in (None, 256):
        metric = nn.SelectiveMetrics(["auroc_f"], bins=bins)
        metric.update(torch.tensor([0.9, 0.8]), torch.tensor([0.0, 0.0]))
        assert bool(metric.compute()["auroc_f"].isnan())
        assert "no failure" in metric.reasons["auroc_f"]


@pytest.mark.parametrize("bins", [None, 256])
@pytest.mark.parametrize(
    ("confidence", "loss", "message"),
    [
        ([0.5, float("nan")], [0.0, 1.0], "confidence holds NaN in 1 samples"),
        ([0.5, 0.6], [0.0, -1.0], "loss is negative or not finite, or a label is no class, in 1 samples"),
        ([0.5, 0.6], [float("nan"), float("inf")], "loss is negative or not finite, .* in 2 samples"),
        ([[0.0, 1.0]] * 3, [1, 2, -100], "a label is no class, in 2 samples"),
    ],
)
def test_bad_batches_are_refused_when_computing(bins, confidence, loss, message):
    """Bad numbers are counted in update and named by compute."""
    metric = nn.SelectiveMetrics(bins=bins)
    metric.update(torch.tensor(confidence), torch.tensor(loss))
    refused(ValueError, message, metric.compute)


@pytest.mark.filterwarnings("ignore:The ``compute`` method")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.SelectiveMetrics(["augrcc"]), "did you mean"),
        (lambda: nn.SelectiveMetrics(["brier_score"]), "class probabilities"),
        (lambda: nn.SelectiveMetrics(bins=10), "bins must lie between"),
        (lambda: nn.SelectiveMetrics(loss="hinge"), "loss='hinge' is not known"),
        (lambda: nn.SelectiveMetrics().summary(), "bins=65536"),
        (lambda: nn.SelectiveMetrics().compute(), "no sample has been seen"),
        (lambda: nn.SelectiveMetrics().update(torch.zeros(2), torch.zeros(3)), "shapes differ"),
        (lambda: nn.SelectiveMetrics(bins=256).update(torch.zeros(2), torch.zeros(2), torch.ones(2)), "bins=None"),
        (lambda: nn.SelectiveMetrics(scale="probability", bins=256)(torch.tensor([2.0]), torch.zeros(1)), "outside"),
    ],
)
def test_errors(call, message):
    """Wrong arguments are named with the remedy."""
    refused(ValueError, message, call)


@pytest.mark.parametrize("target", [torch.tensor([1, 0, 1]), torch.tensor([True, False, True])])
@pytest.mark.parametrize("bins", [None, 256])
def test_one_logit_per_row_is_not_read_beside_labels(bins, target):
    """Labels would be read as losses; as two classes, or with losses of floating point, the batch is taken."""
    z = torch.tensor([2.0, -3.0, 1.0])
    metric = nn.SelectiveMetrics(["accuracy"], bins=bins, confidence="energy")
    refused(TypeError, r"may be labels or losses; .*\(torch.stack\(", metric.update, z, target)
    metric.update(torch.stack([torch.zeros_like(z), z], dim=1), target)
    assert metric.compute()["accuracy"].item() == 1.0
    metric.update(z, target.float())
    assert metric.compute()["accuracy"].item() == pytest.approx(4 / 6)


@pytest.mark.parametrize("call", [nn.SelectiveMetrics().update, nn.AUGRCLoss(), nn.AURCLoss(), nn.DeepGamblersLoss(2)])
def test_names_of_classes_are_no_tensor(call):
    """A list of words is refused with what to give."""
    with pytest.raises(TypeError, match="target must be a tensor, got list; labels are class indices from 0 on"):
        call(torch.zeros(2, 3), ["cat", "dog"])
