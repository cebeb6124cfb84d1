"""Few labels: which rows of a pool to label, and what they say of the whole pool."""

import warnings
from typing import Any

from abstain.pool._certificate import RegionCertificate as RegionCertificate
from abstain.pool._certificate import certify_region, interim_level
from abstain.pool._estimate import Sample as Sample
from abstain.pool._estimate import require as require
from abstain.pool._interval import Found as Found
from abstain.pool._interval import Unseen as Unseen
from abstain.pool._interval import estimate as estimate
from abstain.pool._interval import one_more as one_more
from abstain.pool._labels import at_random as at_random
from abstain.pool._labels import pair_of as pair_of
from abstain.pool._labels import places as places
from abstain.pool._labels import row_names as row_names
from abstain.pool._labels import sample_of as sample_of
from abstain.pool._pair import contrast as contrast
from abstain.pool._plan import LabelPlan as LabelPlan
from abstain.pool._plan import load_plan
from abstain.pool._planning import plan_labels as plan_labels
from abstain.pool._planning import scores as scores
from abstain.pool._pool import Pool as Pool
from abstain.pool._sampling import PlanFacts as PlanFacts

# Public here. What is imported as its own name is for the packages above, or public at the top of the package.
__all__ = ["certify_region", "interim_level", "load_plan"]

#: Names of 0.2, which work for one more release.
_RENAMED: dict[str, Any] = {
    "ZoneCertificate": RegionCertificate,
    "certify_zone": certify_region,
    "look_level": interim_level,
}


def __getattr__(name: str) -> Any:
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = _RENAMED[name]
    warnings.warn(f"abstain.pool.{name} is now abstain.pool.{new.__name__}", FutureWarning, stacklevel=2)
    return new
