"""Small bundled outputs of real models, and a seeded generator of synthetic ones."""

from abstain.datasets._bundled import load, names
from abstain.datasets._synthetic import synthetic

__all__ = ["load", "names", "synthetic"]
