"""Names of the package; each is loaded when it is first used."""

from abstain.pool._certificate import RegionCertificate as RegionCertificate
from abstain.pool._certificate import certify_region as certify_region
from abstain.pool._certificate import interim_level as interim_level
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
from abstain.pool._plan import load_plan as load_plan
from abstain.pool._planning import plan_labels as plan_labels
from abstain.pool._planning import scores as scores
from abstain.pool._pool import Pool as Pool
from abstain.pool._sampling import PlanFacts as PlanFacts
