"""scikit-learn: a classifier with a reject option, scorers, and a confusion matrix with a column for the rejected."""

from abstain._extras import need

need("abstain.sklearn", "sklearn", extra="sklearn")  # before its parts import it

from abstain.sklearn._classifier import SelectiveClassifier  # noqa: E402
from abstain.sklearn._metrics import confusion_matrix_with_reject, selective_scorer  # noqa: E402

__all__ = ["SelectiveClassifier", "confusion_matrix_with_reject", "selective_scorer"]
