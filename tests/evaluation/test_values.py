"""``evaluate``: its numbers are those of the single functions, and the same in any process and with any threads."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given

import abstain
from abstain.evaluation import DEFAULT_METRICS
from tests.refusal import refused
from tests.strategies import problems

RNG = np.random.default_rng(7)
N = 300
PROBABILITIES = RNG.dirichlet(np.ones(3), N)
LABELS = np.where(RNG.random(N) < 0.7, PROBABILITIES.argmax(axis=1), RNG.integers(0, 3, N))
OUTPUTS = abstain.Outputs(labels=LABELS, probabilities=PROBABILITIES, scores={"noise": RNG.random(N)})


def test_default_and_all_list_what_the_data_do_not_allow():
    """With ``"default"`` and ``"all"`` nothing is raised: the reason stands beside the NaN."""
    outputs = abstain.Outputs(loss=[0.25, 0.5, 1.0], confidence=[30.0, 20.0, 10.0])
    for metrics in ("default", "all"):
        result = abstain.evaluate(outputs, metrics=metrics)
        reasons = {entry.metric: entry.reason for entry in result.measurements}
        assert "needs a 0/1 loss" in str(reasons["auroc_f"])
        assert "needs confidence scores that are probabilities" in str(reasons["ece"])
        assert reasons["augrc"] is None
    shown = {entry.identifier.partition("/")[0] for entry in result.measurements}
    assert shown == set(abstain.metrics.names("blocks", "probabilities"))


def test_a_metric_asked_for_by_name_must_be_possible():
    """Whoever names a metric gets its value or an error, never a silent NaN; what is not defined has a reason."""
    outputs = abstain.Outputs(loss=[0.25, 0.5], confidence=[0.9, 0.8])
    for metrics, message in (
        (["augrc", "auroc_f"], "auroc_f needs a 0/1 loss"),
        ("nll", "nll needs labels with logits"),
    ):
        refused(abstain.UnmetNeed, message, abstain.evaluate, outputs, metrics=metrics)
    undefined = abstain.evaluate(abstain.Outputs(loss=[0, 0], confidence=[0.9, 0.8]), metrics="auroc_f")
    assert np.isnan(undefined.value("auroc_f"))
    assert undefined.notes() == ["AUROC of failures is not defined: there is no failure to detect: every loss is 0"]


def test_metrics_in_every_form():
    """Text with commas, a list of texts, an object and a mixture; each metric once."""
    aurc = abstain.metrics.get("aurc", estimator="trapezoid")
    for metrics in ("augrc, aurc(estimator=trapezoid)", ["augrc", aurc], iter(["augrc", aurc, "augrc", aurc])):
        specs = [entry.metric for entry in abstain.evaluate(OUTPUTS, metrics=metrics).measurements]
        assert specs == ["augrc", "aurc(estimator=trapezoid)"]


@pytest.mark.parametrize("policy", ["reject", "drop"])
def test_missing_scores(policy):
    """Missing scores are refused, or counted and said, and mean what the functions say that they mean."""
    score = np.array([0.9, np.nan, 0.7, np.nan, 0.5])
    outputs = abstain.Outputs(loss=[0, 1, 0, 0, 1], confidence=score)
    remedy = r"score 'confidence': .*\[1\] = nan \(2 such\).*nan_policy=.reject.*drop"
    refused(ValueError, remedy, abstain.evaluate, outputs)
    result = abstain.evaluate(outputs, metrics="augrc", nan_policy=policy)
    assert result.value("augrc") == abstain.augrc(outputs.loss, score, nan_policy=policy)
    summary, fate = result.summaries[0], "rejected" if policy == "reject" else "dropped"
    assert (summary.n_rejected, summary.n_dropped, summary.n) == ((2, 0, 5) if policy == "reject" else (0, 2, 3))
    assert f"confidence: 2 samples without a score were {fate}" in result.notes()


#: An identifier would give a report that nobody reads.
OF_NOISE = abstain.Outputs(loss=[0, 1], scores={"noise": [1, 2]})
OF_GROUPS = abstain.Outputs(loss=np.zeros(1001), confidence=np.arange(1001.0), groups={"id": np.arange(1001)})
A_DICT = r"got a dict; .* evaluate\({'loss': ..., 'a': ...}, loss=\"loss\", scores=\['a'\]"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"metrics": []}, ValueError, "metrics is empty; give names, 'default' or 'all'"),
        ({"metrics": [3]}, TypeError, "metrics must be names or Metric objects, got 3 of type int"),
        ({"metrics": "augcr"}, ValueError, "metric 'augcr' is not known; did you mean 'augrc'"),
        ({"metrics": "aurc(estimater=log)"}, TypeError, "aurc has no option 'estimater'; its options: estimator="),
        ({"metrics": "aurc(estimator="}, ValueError, "metric 'aurc\\(estimator=' cannot be read"),
        ({"metrics": "aurc\0"}, ValueError, "cannot be read; write a name"),
        ({"metrics": "selective_risk(coverage=80)"}, ValueError, "coverage must .* give a fraction, not per cent"),
        ({"outputs": OF_NOISE}, abstain.UnmetNeed, "no confidence; choose one of noise"),
        ({"fit": "train.npz"}, TypeError, "fit must be Outputs, got str; use abstain.read_outputs"),
        ({"scores": 3}, TypeError, "scores must be a name or a list of names, got 3"),
        ({"scores": np.ones(3)}, TypeError, "must be a name or a list of names, got an array; give .* as confidence="),
        ({"scores": {"a": [1]}}, TypeError, A_DICT),
        ({"metrics": 3}, TypeError, "metrics must be a name or a list of names, got 3"),
        ({"outputs": [0, 1]}, TypeError, "outputs are read from a file, a data frame or arrays by name, got list"),
        ({"scores": "mps"}, ValueError, "score 'mps' is not known; did you mean 'msp'"),
        ({"scores": "energy"}, abstain.UnmetNeed, "energy needs logits"),
        ({"nan_policy": "ignore"}, ValueError, "nan_policy='ignore' is not known"),
        ({"groups": "site"}, ValueError, "groups='site' is no group column; these outputs have no groups"),
        ({"outputs": OF_GROUPS, "groups": "idd"}, ValueError, "groups='idd' is no group column; did you mean 'id'"),
        ({"outputs": OF_GROUPS, "groups": "id"}, ValueError, "'id' has 1001 distinct values, more than 1000; give a"),
    ],
)
def test_wrong_arguments(arguments, error, message):
    """Every wrong argument is named with the remedy."""
    refused(error, message, abstain.evaluate, **{"outputs": OUTPUTS} | arguments)


@pytest.mark.parametrize("half", [False, True])
def test_what_a_network_returns_is_evaluated_as_it_is(half):
    """Logits with a gradient, in half precision too, give what their detached array gives: the line of the README."""
    torch = pytest.importorskip("torch")
    made = torch.Generator().manual_seed(0)
    inputs, labels = torch.randn(300, 4, generator=made), torch.randint(3, (300,), generator=made)
    logits = torch.nn.Linear(4, 3)(inputs).to(torch.bfloat16 if half else torch.float32)
    plain = {"labels": labels.numpy(), "logits": logits.detach().float().numpy()}
    given = {"labels": labels, "logits": logits}
    found, expected = (abstain.evaluate(**each, metrics=["augrc"], level=0).value("augrc") for each in (given, plain))
    assert found == expected
    assert logits.requires_grad


# ---------------------------------------------------------------------- to the bit


#: Prints every value and interval of the default evaluation, and of all metrics of single functions, as hex.
SCRIPT = """
import numpy as np, abstain
rng = np.random.default_rng(0)
for n in (300, 60_000):
    score, weight = rng.random(n), rng.random(n)
    for loss in ((rng.random(n) > score) * 1.0, rng.random(n)):
        for weights in (None, weight):
            outputs = abstain.Outputs(loss=loss, confidence=score, sample_weight=weights)
            found = abstain.evaluate(outputs, metrics="default" if weights is None else ["aurc", "augrc", "e_aurc"])
            print(n, [(row.metric, row.value.hex(), row.low, row.high) for row in found.measurements])
            print(abstain.curve.risk_coverage_curve(loss, score, sample_weight=weights).selective_risk.tobytes().hex())
"""

#: Prints scores that multiply matrices.
SCORES = """
import numpy as np, abstain
rng = np.random.default_rng(0)
logits, features = rng.normal(size=(3000, 10)), rng.normal(size=(3000, 64))
outputs = abstain.Outputs(labels=rng.integers(0, 10, 3000), logits=logits, features=features)
for name in ("knn", "mds", "rmds", "klm", "openmax"):
    fitted = abstain.scores.get(name).fit(outputs.select(slice(0, 2000)))
    print(*fitted.score(outputs.select(slice(2000, 3000))).tolist())
"""


@pytest.fixture(scope="module")
def printed():
    """Return what both scripts print in a process of its own, with two threads, as lines."""
    other = {"PYTHONHASHSEED": "2", "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    command, env = [sys.executable, "-c", f"{SCRIPT}\nprint()\n{SCORES}"], {**os.environ, **other}
    shown = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    return [each.splitlines() for each in shown.split("\n\n")]


def here(script, capsys):
    """Return what a script prints in this process, which has one thread unless somebody asked for more."""
    exec(script, {})
    return capsys.readouterr().out.splitlines()


def test_processes_and_threads_change_no_bit(printed, capsys):
    """Another process, another order of hashes, another number of threads: the same bytes."""
    first = here(SCRIPT, capsys)
    assert "".join(first).count("augrc") >= 8
    assert printed[0] == first


def test_threads_keep_the_digits_of_scores_that_multiply_matrices(printed, capsys):
    """The linear algebra behind NumPy divides its sums among the threads; ``knn`` takes its products in float32."""
    first, second = (np.array([row.split() for row in rows], float) for rows in (here(SCORES, capsys), printed[1]))
    np.testing.assert_allclose(first[:1], second[:1], rtol=0.0, atol=5e-7)
    np.testing.assert_allclose(first[1:], second[1:], rtol=1e-10, atol=1e-10 * float(np.abs(first).max()))


def test_defaults_follow_the_data():
    """A given confidence comes before the softmax probability; the accuracy is first where there is one."""
    assert abstain.evaluate(OUTPUTS).scores == ["msp"]
    for loss, wanted in (([0, 1], ("accuracy", 0.5)), ([0.5, 1.0], ("accuracy", 0.25)), ([0.5, 1.5], ("risk", 1.0))):
        result = abstain.evaluate(abstain.Outputs(loss=loss, confidence=[0.9, 0.8]))
        assert result.scores == ["confidence"]
        assert (result.measurements[0].metric, result.measurements[0].value) == wanted


@given(problems(losses=["binary"], weights=["none"]))
def test_defaults_never_fail(problem):
    """All right, all wrong, one sample, one score: the default metrics give numbers or reasons."""
    result = abstain.evaluate(loss=problem.loss, confidence=problem.confidence)
    for entry, spec in zip(result.measurements, DEFAULT_METRICS, strict=True):
        assert entry.metric == abstain.metrics.parse(spec).spec
        assert np.isnan(entry.value) == (entry.reason is not None)
