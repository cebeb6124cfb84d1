"""Run the study: ``python -m experiments.estimators_table1 --size cpu --output FOLDER``."""

from experiments.estimators_table1._rows import STUDY
from experiments.training._main import main

if __name__ == "__main__":
    raise SystemExit(main(STUDY))
