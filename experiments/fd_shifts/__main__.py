"""Run the study: ``python -m experiments.fd_shifts --size cpu --output FOLDER``."""

from experiments.fd_shifts._rows import STUDY
from experiments.training._main import main

if __name__ == "__main__":
    raise SystemExit(main(STUDY))
