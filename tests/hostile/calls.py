"""Every public function with arguments that are right, and hostile values for each of them."""

import importlib
import inspect
import pkgutil

import numpy as np

import abstain

N = 40
_RNG = np.random.default_rng(0)
SCORE = np.round(_RNG.random(N), 2)
LOSS = (_RNG.random(N) > SCORE) * 1.0
OTHER = _RNG.random(N)
LABELS = np.arange(N) % 3
SITE = np.array(["a", "b"] * (N // 2))
ERRORS = np.arange(N) % 2 * 1.0  # enough of both for a claim at a margin
MATRIX = _RNG.dirichlet(np.ones(3), N)
OUTPUTS = abstain.Outputs(labels=LABELS, probabilities=MATRIX)
POLICY = abstain.choose_threshold(LOSS, SCORE, coverage=0.5).policy(score="msp")

#: Values by the name of the argument, wherever a function needs it.
USUAL = {
    "loss": LOSS, "confidence": SCORE, "labels": LABELS, "probabilities": MATRIX, "predictions": LABELS,
    "metric": "augrc", "metrics": ["augrc"], "scores": {"a": SCORE, "b": OTHER}, "score_a": SCORE, "score_b": OTHER,
    "id_loss": LOSS, "id_score": SCORE, "ood_score": OTHER, "id_confidence": SCORE, "id_detector": OTHER,
    "ood_confidence": OTHER, "ood_detector": SCORE, "outputs": OUTPUTS, "name": "msp", "spec": "augrc", "text": "augrc",
    "accuracy": 0.8, "auroc_f": 0.7, "n": 100, "beta": [0.5], "rank": [1, 2], "threshold": 0.5, "coverage": None,
    "candidates": {"a": SCORE, "b": OTHER}, "risk": 0.3, "delta": 0.05, "errors": 3, "p_values": [0.1, 0.2],
    "significant": [[False, True], [True, False]], "difference": 0.1, "width": 0.1, "pilot": (LOSS, SCORE, OTHER),
    "one": OTHER, "other": SCORE, "replicates": _RNG.random((20, 2)), "fpr": 0.1, "thresholds": (0.5, 0.5),
    "cost": np.ones((3, 3)), "mask_true": LABELS.reshape(2, 20) == 1, "mask_pred": LABELS.reshape(2, 20) == 0,
    "is_ood": LABELS == 1, "where": LABELS > 0, "what": "the rest", "policy": POLICY, "kind": "calibrated",
    "score": "msp", "validation": OUTPUTS, "columns": [(LOSS, SCORE)], "analysis": 1, "analyses": 3,
    "test": OUTPUTS, "ood": OUTPUTS,
}  # fmt: skip

TWO = {"labels": LABELS % 2, "probabilities": np.column_stack([OTHER, 1.0 - OTHER])}
HALF = {"coverage": 0.5}
PRIOR = {0: 0.5, 1: 0.3, 2: 0.2}

#: Where a function means something else by that name, or takes long by default.
OWN = {
    "abstain.choose_threshold": {"loss": LOSS, "confidence": SCORE, "risk": 0.6, "delta": 0.1},
    "abstain.compare": {"loss": LOSS, "scores": {"a": SCORE, "b": OTHER}, "n_resamples": 20, "n_permutations": 20},
    "abstain.ranking_study": {"n_resamples": 100},
    "abstain.confidence_interval": {"n_resamples": 20},
    "abstain.macro_selective_risk": {"coverage": 0.5, "threshold": None},
    "abstain.evaluate": {"outputs": OUTPUTS, "scores": "msp"},
    "abstain.auroc_accepted_area": TWO,
    "abstain.oc_auc_classifier": TWO,
    **dict.fromkeys(("abstain.generalized_risk", "abstain.selective_risk", "abstain.selective_accuracy"), HALF),
    "abstain.losses.cross_entropy": {"probabilities": MATRIX},
    "abstain.select": {"candidates": {"a": (LOSS, SCORE), "b": (LOSS, OTHER)}},
    "abstain.cwsa_sweep": {"thresholds": [0.5, 0.6]},
    "abstain.plan_labels": {"n": 10},
    "abstain.tune": {"score": "gen", "grid": {"gamma": [0.1, 0.5]}},
    "abstain.metrics.get": {"name": "augrc"},
    "abstain.plots.get": {"name": "reliability"},
    "abstain.metrics.image_of": {"function": abstain.risk, "offset": 1.0, "factor": -1.0},
    "abstain.scores.parse": {"spec": "msp"},
    "abstain.scores.parse_list": {"text": "msp"},
    "abstain.losses.ood_cost": {"cost": 1.0},
    "abstain.datasets.load": {"name": "cifar10_vgg16"},
    "abstain.inference.bootstrap": {"n_resamples": 20},
    "abstain.inference.replicates": {"n_resamples": 20},
    "abstain.inference.permutation_test": {"n_permutations": 20},
    "abstain.inference.risk_band": {"n_draws": 100, "risk": "selective"},
    "abstain.inference.detectable_difference": {"sd": 0.2, "pilot": None},
    "abstain.inference.samples_for_difference": {"sd": 0.2, "pilot": None},
    "abstain.inference.samples_for_width": {"pilot": (LOSS, SCORE)},
    "abstain.joint.confidence_intervals": {"n_splits": 2},
    "abstain.joint.evaluate": {"n_permutations": 2, "n_splits": 2},
    "abstain.joint.null_gain": {"n_permutations": 2, "metric": "ds_aurc"},
    "abstain.joint.transfer": {"n_splits": 2},
    "abstain.thresholds.plan_certificate": {"coverage": 0.1, "risk": 0.6},
    "abstain.choose_among": {"risk": 0.6},
    "abstain.thresholds.conditional_threshold": {"risk": 0.6},
    "abstain.audit": {"threshold": POLICY},
    "abstain.thresholds.choose_pair": {"second": OTHER, "risk": 0.6},
    "abstain.inference.compare_groups": {"groups": SITE, "metric": "risk", "n_resamples": 20},
    "abstain.inference.non_inferiority": {"loss": ERRORS, "margin": 0.1},
    "abstain.policy.compute": {"kind": "probabilities", "matrix": MATRIX},
    "abstain.gate": {"evaluation": abstain.evaluate(OUTPUTS, "msp"), "conditions": "augrc<=0.5"},
    "abstain.thresholds.prior_threshold": {"risk": 0.6, "scores": None, "thresholds": [0.9, 0.5], "prior": PRIOR},
    "abstain.monitor": {"loss": LOSS, "confidence": SCORE, "delta": None},
}

#: Functions of files, of networks and for declarations, which have tests of their own.
LEFT_OUT = {
    "abstain.load_policy", "abstain.inference.covariance", "abstain.testing.assert_selective_risk",
    "abstain.read_outputs", "abstain.write_outputs", "abstain.metrics.register",
    "abstain.scores.load", "abstain.scores.pass_predictions", "abstain.scores.recover_head",
    "abstain.apply_policy", "abstain.monitoring.load_monitor", "abstain.monitoring.update_monitor",
    "abstain.joint.protocol", "abstain.pool.load_plan", "abstain.pool.certify_region",
    "abstain.summaries.summarize_joint", "abstain.live.load_live", "abstain.live.update_live",
}  # fmt: skip

#: Any argument gets each of these.
HOSTILE = {
    "nan": float("nan"), "inf": float("inf"), "minus": -1.0, "two": 2.0, "huge": 1e300, "giant": 10**30, "zero": 0,
    "true": True, "none": None, "word": "x", "bytes": b"x", "empty": [], "one": [1.0], "dict": {}, "complex": 1j,
    "object": object(), "ragged": [[1.0], [1.0, 2.0]], "matrix": np.ones((N, 2)), "column": np.ones((N, 1)),
    "scalar": np.array(0.5), "words": np.array(["a"] * N), "nans": np.full(N, np.nan), "short": np.ones(N - 1),
    "infs": np.full(N, np.inf), "large": np.full(N, 1e200), "below": -np.ones(N), "zeros": np.zeros(N),
    "masked": np.ma.array(np.ones(N), mask=[True] + [False] * (N - 1)), "complexes": np.ones(N) * 1j,
    "dates": np.arange(N).astype("datetime64[D]"), "nones": [None] * N, "mixed": [1.0, "a"] * (N // 2),
    "set": {1.0, 2.0}, "generator": iter([1.0] * N), "type": float, "pair": (1.0, None), "nested": {"a": None},
}  # fmt: skip


#: Parameters that stand for any number of arguments.
MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def public():
    """Return every public function that is no method, by its home."""
    found = {}
    for home in ("abstain", *(f"abstain.{each.name}" for each in pkgutil.iter_modules(abstain.__path__))):
        if (home.rpartition(".")[2].startswith("_") and home != "abstain") or home in ("abstain.nn", "abstain.sklearn"):
            continue
        if home in ("abstain.cli", "abstain.report", "abstain.blocks", "abstain.outputs", "abstain.evaluation"):
            continue  # not public, or all of it at the top
        module = importlib.import_module(home)
        for name in getattr(module, "__all__", ()):
            files = home == "abstain.study" and name != "join_new_class"
            if inspect.isfunction(getattr(module, name)) and not files:
                found.setdefault(f"{home}.{name}", getattr(module, name))
    return found


def needed(function):
    """Return the names that a function must be given, and all that it takes by name."""
    found = [each for each in inspect.signature(function).parameters.values() if each.kind not in MANY]
    return {each.name for each in found if each.default is each.empty}, [each.name for each in found]


def known(home, function):
    """Whether arguments for all that the function needs stand above."""
    return needed(function)[0] <= USUAL.keys() | OWN.get(home, {}).keys()


def right(home, function):
    """Return arguments that the function takes."""
    must, may = needed(function)
    given = USUAL | OWN.get(home, {})
    return {name: given[name] for name in may if name in must or name in OWN.get(home, {})}
