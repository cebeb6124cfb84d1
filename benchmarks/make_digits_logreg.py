"""Make src/abstain/datasets/data/digits_logreg.csv: real predictions of a small model of our own.

Logistic regression on the UCI hand-written digits (as scikit-learn ships them), trained on one half and
asked about the other. Run from the repository root: ``python benchmarks/make_digits_logreg.py``.
"""

from __future__ import annotations

import csv
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

TARGET = Path(__file__).parents[1] / "src/abstain/datasets/data/digits_logreg.csv"


def main() -> None:
    images, labels = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(
        images / 16.0, labels, test_size=0.5, random_state=0, stratify=labels
    )
    model = LogisticRegression(solver="newton-cholesky", tol=1e-10).fit(train, y_train)
    probabilities = model.predict_proba(test)
    with TARGET.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["labels", "predictions", "confidence"])
        for label, row in zip(y_test, probabilities, strict=True):
            # Newton steps converge to rounding, so six digits are the same with any number of threads
            writer.writerow([label, row.argmax(), f"{row.max():.6f}"])


if __name__ == "__main__":
    main()
