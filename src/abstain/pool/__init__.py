"""Few labels: which rows of a pool to label, and what they say of the whole pool."""

from abstain.pool._estimate import Sample as Sample
from abstain.pool._interval import Found as Found
from abstain.pool._interval import estimate as estimate
from abstain.pool._interval import one_more as one_more
from abstain.pool._labelled import at_random as at_random
from abstain.pool._labelled import pair_of as pair_of
from abstain.pool._labelled import places as places
from abstain.pool._labelled import sample_of as sample_of
from abstain.pool._looks import look_level
from abstain.pool._make import load_plan
from abstain.pool._make import plan_labels as plan_labels
from abstain.pool._names import row_names as row_names
from abstain.pool._pair import contrast as contrast
from abstain.pool._plan import LabelPlan
from abstain.pool._pool import Pool as Pool
from abstain.pool._stages import scores as scores
from abstain.pool._weights import require as require
from abstain.pool._zone import ZoneCertificate, certify_zone

# Public here. What is imported as its own name is for the rooms above, or public at the top of the package.
__all__ = ["LabelPlan", "ZoneCertificate", "certify_zone", "load_plan", "look_level"]
