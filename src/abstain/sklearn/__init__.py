"""scikit-learn: a classifier with a reject option, scorers, and a confusion matrix with a column for the rejected."""

from abstain.sklearn._classifier import SelectiveClassifier
from abstain.sklearn._confusion import confusion_matrix_with_reject
from abstain.sklearn._scorer import selective_scorer

__all__ = ["SelectiveClassifier", "confusion_matrix_with_reject", "selective_scorer"]
