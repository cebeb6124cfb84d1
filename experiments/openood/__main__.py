"""Train the rows of "From Misclassifications to Outliers" and judge them: ``python -m experiments.openood``."""

from experiments.openood._rows import STUDY
from experiments.training._main import main

if __name__ == "__main__":
    raise SystemExit(main(STUDY))
