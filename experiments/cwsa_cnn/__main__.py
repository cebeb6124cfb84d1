"""Run the study: ``python -m experiments.cwsa_cnn --size cpu --output FOLDER``."""

from experiments.cwsa_cnn._rows import STUDY
from experiments.training._main import main

if __name__ == "__main__":
    raise SystemExit(main(STUDY))
