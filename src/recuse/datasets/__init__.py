"""Small bundled outputs of real models, and a seeded generator of synthetic ones."""

from recuse.datasets._bundled import load, names
from recuse.datasets._synthetic import synthetic

__all__ = ["load", "names", "synthetic"]
