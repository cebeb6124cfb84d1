"""The table of all scores; scores by name, and fitted ones from a file."""

from __future__ import annotations

import json
import os

import numpy as np

from abstain._registry import not_known, read_spec, split_specs
from abstain._typing import AnyArray, Document
from abstain.scores._fitted import HEADER, FittedScore, digest, rebuilt
from abstain.scores._score import Score

_HENDRYCKS_2022 = "Hendrycks et al., Scaling out-of-distribution detection for real-world settings, ICML 2022"
_GUO = "Guo et al., On calibration of modern neural networks, ICML 2017"
_WANG = "Wang et al., ViM: out-of-distribution with virtual-logit matching, CVPR 2022"
_DJURISIC = "Djurisic et al., Extremely simple activation shaping for out-of-distribution detection, ICLR 2023"
_XIA = "Xia & Bouganis, Augmenting softmax information for selective classification with OOD data, ACCV 2022"
_DEPEWEG = "Depeweg et al., Decomposition of uncertainty in Bayesian deep learning, ICML 2018"
_HERE = "baseline of this library: regression on the correctness of a validation split"
_GIVEN = "given with the outputs"

_ASH_GRID = {"percentile": (0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)}

#: Name, title, module, what it needs of the outputs, range and source; then what it is fitted on, its grid and cost.
_TABLE = (
    Score("msp", "Maximum softmax probability", "softmax", ("probabilities",), "[1/K, 1]",
          "Hendrycks & Gimpel, A baseline for detecting misclassified and out-of-distribution examples, ICLR 2017"),
    Score("neg_log_error", "-log(1 - MSP)", "softmax", ("probabilities",), "[-log(1 - 1/K), inf]",
          "the MSP on a scale that does not saturate; Granese et al., DOCTOR, NeurIPS 2021 (D_beta) has "
          "the same order"),
    Score("neg_entropy", "Negative entropy", "softmax", ("probabilities",), "[-log K, 0]", "Shannon 1948"),
    Score("softmax_margin", "Softmax margin", "softmax", ("probabilities",), "[0, 1]",
          "Scheffer et al., Active hidden Markov models for information extraction, IDA 2001"),
    Score("neg_gini", "Negative Gini impurity", "softmax", ("probabilities",), "[1/K - 1, 0]",
          "Granese et al., DOCTOR: a simple method for detecting misclassification errors, NeurIPS 2021 (D_alpha)"),
    Score("max_logit", "Maximum logit", "softmax", ("logits",), "(-inf, inf)", _HENDRYCKS_2022),
    Score("logit_margin", "Logit margin", "softmax", ("logits",), "[0, inf)", "difference of the two largest logits"),
    Score("energy", "Energy", "softmax", ("logits",), "(-inf, inf)",
          "Liu et al., Energy-based out-of-distribution detection, NeurIPS 2020", grid={"temperature": (1.0,)}),
    Score("gen", "Generalized entropy (GEN)", "softmax", ("probabilities",), "(-min(top, K), 0]",
          "Liu, Lochman & Zach, GEN: pushing the limits of softmax-based out-of-distribution detection, CVPR 2023",
          grid={"gamma": (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0), "top": (10, 50, 100, 200, 500, 1000)}),
    Score("max_logit_pnorm", "MaxLogit p-norm", "fitted_logits", ("logits",), "[0, inf]",
          "Cattelan & Silva, How to fix a broken confidence estimator, UAI 2024", fit_name="fit_pnorm",
          fit_requires=("logits", "loss"), fit_split="validation"),
    Score("temp_msp", "Temperature-scaled MSP", "fitted_logits", ("logits",), "[1/K, 1]", _GUO,
          fit_name="fit_temperature", fit_requires=("logits", "labels"), fit_split="validation"),
    Score("temp_neg_log_error", "-log(1 - temperature-scaled MSP)", "fitted_logits", ("logits",),
          "[-log(1 - 1/K), inf]", _GUO, fit_name="fit_temperature", fit_requires=("logits", "labels"),
          fit_split="validation"),
    Score("klm", "KL matching", "fitted_logits", ("probabilities",), "(-inf, 0]", _HENDRYCKS_2022, fit_name="fit_klm",
          fit_requires=("probabilities",), fit_split="validation", grid={"shrinkage": (0.0, 1.0, 10.0)}, cost="K^2"),
    Score("openmax", "OpenMax", "fitted_logits", ("logits",), "[-1, 0]",
          "Bendale & Boult, Towards open set deep networks, CVPR 2016", fit_name="fit_openmax",
          fit_requires=("logits", "labels"), fit_split="train", grid={"tail": (20,), "alpha": (3,)}, cost="K^2"),
    Score("mds", "Mahalanobis distance (MDS)", "features", ("features",), "(-inf, 0]",
          "Lee et al., A simple unified framework for detecting out-of-distribution samples, NeurIPS "
          "2018 (last layer)", fit_name="fit_mds", fit_requires=("features", "labels"), fit_split="train",
          cost="d^2 + d K"),
    Score("rmds", "Relative Mahalanobis distance (RMDS)", "features", ("features",), "(-inf, inf)",
          "Ren et al., A simple fix to Mahalanobis distance for improving near-OOD detection, 2021",
          fit_name="fit_rmds", fit_requires=("features", "labels"), fit_split="train", cost="2 d^2 + d K"),
    Score("knn", "Distance to the k-th neighbour (kNN)", "features", ("features",), "[-4, 0]",
          "Sun et al., Out-of-distribution detection with deep nearest neighbors, ICML 2022", fit_name="fit_knn",
          fit_requires=("features",), fit_split="train", grid={"neighbours": (50, 100, 200, 500, 1000)}, cost="n d"),
    Score("vim", "Virtual-logit matching (ViM)", "subspace", ("logits", "features"), "(-inf, inf)", _WANG,
          fit_name="fit_vim", fit_requires=("logits", "features", "head"), fit_split="train",
          grid={"dim": (None, 256, 1000)}, cost="d^2"),
    Score("residual", "Residual norm", "subspace", ("features",), "(-inf, 0]", _WANG, fit_name="fit_residual",
          fit_requires=("features", "head"), fit_split="train", grid={"dim": (None, 256, 1000)}, cost="d^2"),
    Score("react", "Rectified activations (ReAct)", "activations", ("features", "head"), "(-inf, inf)",
          "Sun, Guo & Li, ReAct: out-of-distribution detection with rectified activations, NeurIPS 2021",
          fit_name="fit_react", fit_requires=("features",), fit_split="validation",
          grid={"quantile": (0.85, 0.9, 0.95, 0.99)}, cost="d K"),
    Score("dice", "Directed sparsification (DICE)", "activations", ("features",), "(-inf, inf)",
          "Sun & Li, DICE: leveraging sparsification for out-of-distribution detection, ECCV 2022", fit_name="fit_dice",
          fit_requires=("features", "head"), fit_split="train", grid={"sparsity": (0.9,)}, cost="d K"),
    Score("ash_p", "Activation shaping by pruning (ASH-P)", "activations", ("features", "head"), "(-inf, inf)",
          _DJURISIC, grid=_ASH_GRID, cost="d K"),
    Score("ash_b", "Activation shaping by binarizing (ASH-B)", "activations", ("features", "head"), "(-inf, inf)",
          _DJURISIC, grid=_ASH_GRID, cost="d K"),
    Score("ash_s", "Activation shaping by scaling (ASH-S)", "activations", ("features", "head"), "(-inf, inf)",
          _DJURISIC, grid=_ASH_GRID, cost="d K"),
    Score("scale", "Activation scaling (SCALE)", "activations", ("features", "head"), "(-inf, inf)",
          "Xu et al., Scaling for training time and post-hoc out-of-distribution detection enhancement, ICLR 2024",
          grid=_ASH_GRID, cost="d K"),
    Score("gradnorm", "Gradient norm of the last layer (GradNorm)", "activations", ("probabilities", "features"),
          "[0, inf)",
          "Huang, Geng & Li, On the importance of gradients for detecting distributional shifts in the "
          "wild, NeurIPS 2021", cost="d + K"),
    Score("she", "Simplified Hopfield energy (SHE)", "features", ("features", "predictions"), "(-inf, inf)",
          "Zhang et al., Out-of-distribution detection based on in-distribution data patterns memorization, ICLR 2023",
          fit_name="fit_she", fit_requires=("features", "labels", "predictions"), fit_split="train", cost="d"),
    Score("nnguide", "Nearest-neighbour guidance (NNGuide)", "features", ("logits", "features"), "(-inf, inf)",
          "Park, Jung & Teoh, Nearest neighbor guidance for out-of-distribution detection, ICCV 2023",
          fit_name="fit_nnguide", fit_requires=("logits", "features"), fit_split="train",
          grid={"neighbours": (10, 100), "fraction": (0.01, 1.0)}, cost="n d"),
    Score("fdbd", "Distance to decision boundaries (fDBD)", "features", ("logits", "features"), "[0, inf)",
          "Liu & Qin, Fast decision boundary based out-of-distribution detector, ICML 2024", fit_name="fit_fdbd",
          fit_requires=("features", "head"), fit_split="train", grid={"normaliser": ("distance_to_mean", "norm")},
          cost="d + K"),
    Score("sirc_msp_l1", "SIRC (MSP, ||h||_1)", "subspace", ("probabilities", "features"), "(-inf, inf]", _XIA,
          fit_name="fit_l1", fit_requires=("features",), fit_split="train", cost="K + d"),
    Score("sirc_msp_res", "SIRC (MSP, residual)", "subspace", ("probabilities", "features"), "(-inf, inf]", _XIA,
          fit_name="fit_res", fit_requires=("features", "head"), fit_split="train", cost="K + d^2"),
    Score("sirc_neg_entropy_l1", "SIRC (-H, ||h||_1)", "subspace", ("probabilities", "features"), "(-inf, inf]", _XIA,
          fit_name="fit_l1", fit_requires=("features",), fit_split="train", cost="K + d"),
    Score("sirc_neg_entropy_res", "SIRC (-H, residual)", "subspace", ("probabilities", "features"), "(-inf, inf]", _XIA,
          fit_name="fit_res", fit_requires=("features", "head"), fit_split="train", cost="K + d^2"),
    Score("pass_msp", "MSP of the mean of passes", "passes", ("passes",), "[1/K, 1]",
          "Gal & Ghahramani, Dropout as a Bayesian approximation, ICML 2016", cost="R K", judged_by="mean"),
    Score("pass_neg_predictive_entropy", "Negative predictive entropy", "passes", ("passes",), "[-log K, 0]", _DEPEWEG,
          cost="R K", judged_by="mean"),
    Score("pass_neg_expected_entropy", "Negative expected entropy", "passes", ("passes",), "[-log K, 0]", _DEPEWEG,
          cost="R K", judged_by="mean"),
    Score("pass_neg_mutual_information", "Negative mutual information", "passes", ("passes",), "[-log K, 0]", _DEPEWEG,
          cost="R K", judged_by="mean"),
    Score("pass_vote_agreement", "Vote agreement", "passes", ("passes",), "[1/K, 1]",
          "Lakshminarayanan et al., Simple and scalable predictive uncertainty estimation, NeurIPS 2017 (ensembles)",
          cost="R K", judged_by="votes"),
    Score("platt", "Platt-scaled score", "combination", (), "[0, 1]",
          "Platt, Probabilistic outputs for support vector machines, 1999", fit_name="fit_platt",
          fit_requires=("labels", "predictions"), fit_split="validation", cost="that of the score"),
    Score("combine_logistic", "Logistic combination", "combination", (), "(-inf, inf)", _HERE, fit_name="fit_logistic",
          fit_requires=("labels", "predictions"), fit_split="validation", grid={"ridge": (0.01, 1.0, 100.0)},
          cost="that of its scores"),
    Score("combine_ranks", "Rank-linear combination", "combination", (), "(-inf, inf)", _HERE, fit_name="fit_ranks",
          fit_requires=("labels", "predictions"), fit_split="validation", grid={"ridge": (0.01, 1.0, 100.0)},
          cost="that of its scores"),
    Score("confidence", "Confidence", "softmax", ("confidence",), "as given", _GIVEN, cost="1"),
    Score("column", "External score", "softmax", ("column",), "as given", _GIVEN, cost="1"),
)  # fmt: skip

SCORES = {score.name: score for score in _TABLE}

#: Scores made of other scores, or of a column that has to be named: never listed as available.
COMPOSED = ("platt", "combine_logistic", "combine_ranks", "column")


def score_of(name: str) -> Score:
    """Return a score by name."""
    if not isinstance(name, str):
        raise TypeError(f"name must be text, the name of a score, got {type(name).__name__}")
    if name not in SCORES:
        raise not_known("score", name, SCORES)
    return SCORES[name]


def parse(spec: str) -> Score:
    """Return the score that a text such as ``"msp"`` or ``"knn(neighbours=10)"`` names.

    Parameters
    ----------
    spec : str
        A name, with options in parentheses; words need no quotes.

    Returns
    -------
    Score

    Raises
    ------
    ValueError
        Not of that form, or an unknown name.
    TypeError
        An unknown option.

    Examples
    --------
    >>> import abstain
    >>> abstain.scores.parse("knn(neighbours=10)").settings["neighbours"]
    10
    """
    name, options = read_spec(spec, "score", "knn(neighbours=10)")
    return score_of(name).using(**options)


def parse_list(text: str) -> list[str]:
    """Return the parts of a comma-separated list; commas inside parentheses separate options.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str

    Examples
    --------
    >>> import abstain
    >>> abstain.scores.parse_list("msp, gen(gamma=0.5, top=10),")
    ['msp', 'gen(gamma=0.5, top=10)']
    """
    return split_specs(text)


def load(path: str | os.PathLike[str]) -> FittedScore:
    """Read a fitted score from the file that :meth:`FittedScore.save` has written.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    FittedScore

    Raises
    ------
    FileNotFoundError
        No such file.
    ValueError
        No saved score or a damaged one; one whose contents differ from what was saved (a digest stands in its header);
        one of another version of the score's definition.

    Examples
    --------
    >>> import pathlib, tempfile, abstain
    >>> outputs = abstain.datasets.load("cifar10_vgg16")
    >>> klm = abstain.scores.get("klm").fit(outputs)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "klm.npz"
    >>> klm.save(file)
    >>> bool((abstain.scores.load(file).score(outputs) == klm.score(outputs)).all())
    True
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as file, np.load(file, allow_pickle=False) as archive:
            contents = {key: archive[key] for key in archive.files}
        header = json.loads(str(contents.pop(HEADER)))
        stale = _stale(header)
        if stale is None:
            written = header.pop("digest", None)
            fitted = _unpack(header, contents, "")
            if written != digest(header, contents):
                raise ValueError("its arrays or its header were changed after it was saved, or it has no digest")
            return fitted
    except FileNotFoundError:
        raise FileNotFoundError(f"{name}: no such file; check the path") from None
    except Exception as error:  # whatever a damaged file leads to
        raise ValueError(f"{name}: is no saved score ({error}); write it with FittedScore.save") from None
    raise ValueError(f"{name}: {stale}")


def _stale(header: Document) -> str | None:
    """Return why a score cannot be had in this version of the library; None if it can."""
    name, version = header["name"], header["version"]
    if name not in SCORES:
        return f"holds the score {name!r}, which this version of abstain does not know"
    if version != score_of(name).version:
        return f"holds version {version} of {name}, this is version {score_of(name).version}; fit it again"
    return next(filter(None, map(_stale, header["parts"])), None)


def _unpack(header: Document, contents: dict[str, AnyArray], prefix: str) -> FittedScore:
    arrays = {key: contents[f"{prefix}{key}"] for key in header["arrays"]}
    parts = tuple(_unpack(part, contents, f"{prefix}part{number}.") for number, part in enumerate(header["parts"]))
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in header["options"].items()}
    entry = score_of(header["name"]).using(**options)
    names = header.get("class_names")  # files of earlier versions have none
    return rebuilt(entry, arrays, header["fingerprint"], header["n_fit"], parts, names and tuple(names))
