"""``SelectiveClassifier``: any classifier, with a threshold chosen on rows that it was not fitted on."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing, assert_all_finite, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_method_params, check_is_fitted, column_or_1d

from abstain._checks import one_of
from abstain._typing import AnyArray, Array, ArrayLike, BoolArray, FloatArray, Options
from abstain.policy import Policy
from abstain.thresholds import GroupThresholds, choose_threshold, cwsa_threshold

#: A classifier of scikit-learn's interface; a confidence from class probabilities.
Estimator: TypeAlias = Any
Scorer: TypeAlias = Callable[[FloatArray], ArrayLike]

_SCORES = ("msp", "margin", "neg_entropy")


def confidence_of(estimator: Estimator, X: ArrayLike, score: str | Scorer) -> FloatArray:
    """Return the confidence of a fitted classifier, from probabilities, else from its decision function."""
    name = type(estimator).__name__
    if not hasattr(estimator, "predict_proba") and (callable(score) or not hasattr(estimator, "decision_function")):
        also = "" if callable(score) else " and no decision_function"
        raise TypeError(f"{name} has no predict_proba{also} to take a confidence from; try CalibratedClassifierCV")
    if callable(score):
        return np.asarray(score(estimator.predict_proba(X)), dtype=np.float64)
    one_of(score, _SCORES, "confidence_score")
    if hasattr(estimator, "predict_proba"):
        proba = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        if score == "msp" or proba.shape[1] < 2:
            return np.asarray(proba.max(axis=1))
        if score == "neg_entropy":
            return np.asarray(np.sum(proba * np.log(np.maximum(proba, np.finfo(float).tiny)), axis=1))
    else:
        proba = np.asarray(estimator.decision_function(X), dtype=np.float64)
        if proba.ndim == 1:
            return np.abs(proba)
    top = np.sort(proba, axis=1)
    return np.asarray(top[:, -1] - top[:, -2])


def _has(name: str) -> Callable[[Any], bool]:
    def check(self: Any) -> bool:
        inner = getattr(self, "estimator_", None) or self._unfitted()
        return hasattr(inner, name)

    return check


class SelectiveClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Any classifier with a reject option: labels for every row, and an explicit mask of those it stands by.

    Parameters
    ----------
    estimator : classifier, optional
        Default: logistic regression. It is fitted, unless ``prefit``.
    risk, delta, coverage, capacity, cost, metric
        The objective, as in :func:`abstain.choose_threshold`: one must be given.
    prefit : bool
        Whether the classifier is fitted already, and is taken as it is; all rows then calibrate, none that it was fit
        on. A ``FrozenEstimator`` is always taken so.
    per_class : bool
        A threshold for each predicted class; with ``delta`` all guarantees hold together. A class that does not attain
        the objective, or was never predicted on the calibration rows, is always rejected.
    confidence_score : {"msp", "margin", "neg_entropy"} or callable
        Confidence from the class probabilities; without ``predict_proba`` the margin of the decision function.
    calibration : float in (0, 1) or "cv"
        Share of the rows that is held out to choose the threshold; or out-of-fold predictions of all rows, after which
        the classifier is fitted on all. A certificate is exact for held-out rows only.
    cv : int
        Folds of ``calibration="cv"``.
    reject_value : object, optional
        The label that ``predict`` returns for a rejected row; None: the label all the same, see :meth:`accept`. With a
        value, ``score`` counts rejected rows as wrong.
    random_state : int
        Of the split.

    Notes
    -----
    ``fit(X, y, groups=...)`` chooses a threshold for each group of rows, such as sites; ``predict``, ``accept`` and
    ``score`` then need the groups, and reject those that were not calibrated. With metadata routing request them:
    ``.set_fit_request(groups=True).set_predict_request(groups=True)``.

    Warns
    -----
    UserWarning
        The classifier that is given is fitted already, and would be fitted again; an objective that is not attainable.

    Attributes
    ----------
    estimator_ : the fitted classifier
    threshold_ : EmpiricalThreshold, CertifiedThreshold or GroupThresholds
    classes_ : ndarray
    n_calibration_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import abstain.sklearn
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> clf = abstain.sklearn.SelectiveClassifier(tree, coverage=0.7).fit(X, y)
    >>> clf.predict(X).shape, clf.accept(X).dtype, clf.threshold_.coverage >= 0.7
    ((569,), dtype('bool'), True)
    """

    def __init__(
        self,
        estimator: Estimator = None,
        *,
        risk: float | None = None,
        delta: float | None = None,
        coverage: float | None = None,
        capacity: float | tuple[float, float] | None = None,
        cost: tuple[float, float] | None = None,
        metric: str | None = None,
        per_class: bool = False,
        confidence_score: str | Scorer = "msp",
        calibration: float | str = 0.25,
        cv: int = 5,
        prefit: bool = False,
        reject_value: Any = None,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.risk = risk
        self.delta = delta
        self.coverage = coverage
        self.capacity = capacity
        self.cost = cost
        self.metric = metric
        self.per_class = per_class
        self.confidence_score = confidence_score
        self.calibration = calibration
        self.cv = cv
        self.prefit = prefit
        self.reject_value = reject_value
        self.random_state = random_state

    # ------------------------------------------------------------------ fit

    def _unfitted(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression()

    def get_metadata_routing(self) -> MetadataRouter:
        """Route what ``fit`` is given to the classifier, but for the groups, which stay here if they are requested."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self._unfitted(), method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags, inner = super().__sklearn_tags__(), get_tags(self._unfitted())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.classifier_tags.multi_class = inner.classifier_tags is None or inner.classifier_tags.multi_class
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None, **params: Any) -> SelectiveClassifier:
        """Fit the classifier, and choose the threshold on rows that it was not fitted on.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), optional
            One threshold for each value.
        **params
            Passed to the classifier's ``fit``; columns with one value per sample are split like X.
        """
        from sklearn.frozen import FrozenEstimator

        if np.ndim(self.reject_value):
            raise ValueError(f"reject_value must be one label, got {self.reject_value!r}; or None: labels all the same")
        objective = self._objective()
        if groups is not None and self.per_class:
            raise TypeError("groups= and per_class=True both ask for a threshold each; give one of them")
        X, y = indexable(X, y)
        y = column_or_1d(np.asarray(y), warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        inner = self._unfitted()
        fit_params = self._routed(params)
        if self.prefit or isinstance(inner, FrozenEstimator):
            if fit_params:
                raise TypeError(f"a prefit classifier is not fitted, it takes no {', '.join(fit_params)}; leave it out")
            check_is_fitted(inner)
            self.estimator_, rows = inner, np.arange(len(y))
            confidence, predicted = confidence_of(inner, X, self.confidence_score), inner.predict(X)
        elif self.calibration == "cv":
            _warn_if_fitted(self.estimator)
            confidence, predicted, rows = self._cross_fitted(inner, X, y, fit_params)
            self.estimator_ = clone(inner).fit(X, y, **fit_params)
        else:
            _warn_if_fitted(self.estimator)
            train, rows = self._split(y)
            part = _check_method_params(X, fit_params, indices=train)
            self.estimator_ = clone(inner).fit(_safe_indexing(X, train), y[train], **part)
            held_out = _safe_indexing(X, rows)
            confidence = confidence_of(self.estimator_, held_out, self.confidence_score)
            predicted = self.estimator_.predict(held_out)
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        self.n_calibration_ = len(rows)
        loss = (np.asarray(predicted) != y[rows]).astype(np.float64)
        split_by = np.asarray(predicted) if self.per_class else groups
        if groups is not None:
            split_by = _safe_indexing(groups, rows)
        choose = choose_threshold if self.metric is None else cwsa_threshold
        self.threshold_ = choose(loss, confidence, groups=split_by, **objective)
        found: Any = self.threshold_
        each = found.groups if split_by is not None else {"": found}
        failed = {name: one.reason for name, one in each.items() if not one.attainable}
        if failed:
            where = "rows predicted as" if self.per_class else "rows of"
            which = f"{where} {', '.join(failed)}" if split_by is not None else "rows"
            reason = next(iter(failed.values()))
            warnings.warn(f"all {which} are rejected, the objective is not attainable: {reason}", stacklevel=2)
        return self

    def _routed(self, params: Options) -> Options:
        from sklearn import get_config

        if params and get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **params).estimator.fit)
        return params

    def _objective(self) -> Options:
        names = ("risk", "delta", "coverage", "capacity", "cost", "metric")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        if not given:
            raise TypeError(f"no objective: give one of {', '.join(name for name in names if name != 'delta')}")
        return given

    def _split(self, y: ArrayLike) -> tuple[AnyArray, AnyArray]:
        from sklearn.model_selection import train_test_split

        share = self.calibration
        if not isinstance(share, int | float) or not 0.0 < share < 1.0:
            raise ValueError(f"calibration must lie inside (0, 1) or be 'cv', got {share!r}; 0.25 is usual")
        if len(y) < 4:
            word = "sample" if len(y) == 1 else "samples"
            raise ValueError(f"{len(y)} {word} cannot be split for calibration: at least 4 are needed")
        rows = np.arange(len(y))
        counts = np.unique(y, return_counts=True)[1]
        fits = counts.min() >= 2 and min(len(y) * share, len(y) * (1.0 - share)) >= len(counts)
        train, held_out = train_test_split(
            rows, test_size=share, random_state=self.random_state, stratify=y if fits else None
        )
        return train, held_out

    def _cross_fitted(self, inner: Estimator, X: ArrayLike, y: ArrayLike, fit_params: Options) -> tuple[Any, Any, Any]:
        from sklearn.model_selection import StratifiedKFold

        if self.delta is not None:
            warnings.warn(
                "with calibration='cv' the certificate is about the out-of-fold classifiers, not about the one that is "
                "deployed; hold rows out (calibration=0.25) for an exact one",
                stacklevel=3,
            )
        confidence, predicted = np.empty(len(y)), np.empty(len(y), dtype=y.dtype)
        folds = StratifiedKFold(self.cv, shuffle=True, random_state=self.random_state)
        for train, test in folds.split(np.zeros(len(y)), y):
            part = _check_method_params(X, fit_params, indices=train)
            fold = clone(inner).fit(_safe_indexing(X, train), y[train], **part)
            confidence[test] = confidence_of(fold, _safe_indexing(X, test), self.confidence_score)
            predicted[test] = fold.predict(_safe_indexing(X, test))
        return confidence, predicted, np.arange(len(y))

    # ------------------------------------------------------------------ decide

    def predict(self, X: ArrayLike, groups: ArrayLike | None = None) -> AnyArray:
        """Return a label for every row; ``reject_value`` takes the place of rejected ones if it is given."""
        check_is_fitted(self, "threshold_")
        labels = np.asarray(self.estimator_.predict(X))
        if self.reject_value is None:
            return labels
        accepted = self.accept(X, groups)
        kind = (
            np.result_type(labels, np.asarray(self.reject_value)) if _same_kind(labels, self.reject_value) else object
        )
        decided = labels.astype(kind)
        decided[~accepted] = self.reject_value
        return decided

    def confidence(self, X: ArrayLike) -> FloatArray:
        """Return the confidence score of every row."""
        check_is_fitted(self, "threshold_")
        return confidence_of(self.estimator_, X, self.confidence_score)

    def accept(self, X: ArrayLike, groups: ArrayLike | None = None) -> BoolArray:
        """Return the mask of the rows that the classifier stands by; with groups in ``fit`` they are needed here."""
        confidence = self.confidence(X)
        if isinstance(self.threshold_, GroupThresholds):
            if groups is None and not self.per_class:
                raise TypeError("there is a threshold for each group; give groups=")
            return self.threshold_.accept(confidence, self.estimator_.predict(X) if self.per_class else groups)
        return self.threshold_.accept(confidence)

    def policy(self, *, score: str, predicted: str | None = None, group: str | None = None, **options: Any) -> Policy:
        """Return the policy for other programs.

        Parameters
        ----------
        score : str
            Column of the confidence in their files.
        predicted : str, optional
            Column of the predicted class, with ``per_class``.
        group : str, optional
            Column of the groups, if ``fit`` was given some.
        **options
            Model, author and note, as in :meth:`abstain.EmpiricalThreshold.policy`.
        """
        check_is_fitted(self, "threshold_")
        if not isinstance(self.threshold_, GroupThresholds):
            return self.threshold_.policy(score=score, **options)
        column = predicted if self.per_class else group
        if column is None:
            what = "class; name the column of the predicted class with predicted="
            raise TypeError(
                f"there is a threshold per {what if self.per_class else 'group; name its column with group='}"
            )
        return self.threshold_.policy(score=score, group=column, **options)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the class probabilities of the classifier."""
        check_is_fitted(self, "threshold_")
        return self.estimator_.predict_proba(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: ArrayLike) -> Array:
        """Return the decision function of the classifier."""
        check_is_fitted(self, "threshold_")
        return self.estimator_.decision_function(X)

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Return the logarithms of the class probabilities."""
        check_is_fitted(self, "threshold_")
        return self.estimator_.predict_log_proba(X)


def _warn_if_fitted(estimator: Estimator) -> None:
    """Warn of a second fit, which somebody who saved a model hardly wants."""
    if estimator is None:
        return
    try:
        check_is_fitted(estimator)
    except (NotFittedError, TypeError):
        return
    warnings.warn(
        f"{type(estimator).__name__} is fitted already and is fitted again here; prefit=True takes it as it is",
        UserWarning,
        stacklevel=3,
    )


def _same_kind(labels: AnyArray, value: object) -> bool:
    kinds = {labels.dtype.kind, np.asarray(value).dtype.kind}
    return kinds <= set("iuf") or kinds <= set("U")
