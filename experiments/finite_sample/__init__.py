"""What the estimators of AURC do on finite samples: the study of Zhou et al. (2025) on saved outputs.

    python -m experiments.finite_sample --data FOLDER --output FOLDER

The folder holds ``.npz`` files with class probabilities, or with predictions and a confidence; ``_sources`` says how
they are read.
"""
