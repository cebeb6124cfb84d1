"""Operating points, empirical and certified; policies; monitoring."""

from abstain.thresholds._among import ChosenAmong, choose_among
from abstain.thresholds._apply import Applied, apply_policy
from abstain.thresholds._attained import Attained
from abstain.thresholds._band import CertifiedBand, certified_band
from abstain.thresholds._choose import choose_threshold as choose_threshold
from abstain.thresholds._conditional import conditional_threshold
from abstain.thresholds._conformal import conformal_threshold
from abstain.thresholds._copies import CopiedRowsWarning
from abstain.thresholds._copies import copied_rows as copied_rows
from abstain.thresholds._groups import GroupThresholds
from abstain.thresholds._ladder import Promise as Promise
from abstain.thresholds._ladder import ladder as ladder
from abstain.thresholds._monitor import monitor
from abstain.thresholds._monitoring import Monitoring
from abstain.thresholds._order import DependentRowsWarning, SortedRowsWarning
from abstain.thresholds._pair import ChosenPair, choose_pair
from abstain.thresholds._period import Period
from abstain.thresholds._plan import CertificatePlan, plan_certificate
from abstain.thresholds._report import Audit, audit
from abstain.thresholds._results import CertifiedThreshold as CertifiedThreshold
from abstain.thresholds._results import EmpiricalThreshold as EmpiricalThreshold
from abstain.thresholds._results import plan_of as plan_of  # for the verdict
from abstain.thresholds._reuse import ReusedCalibrationWarning, ReusedSelectionWarning, remember_selection
from abstain.thresholds._watch import Watch, load_watch

# What is imported under its own name is public at the top of the package.
__all__ = [
    "CertificatePlan",
    "ChosenAmong",
    "ChosenPair",
    "choose_among",
    "choose_pair",
    "conditional_threshold",
    "plan_certificate",
    "remember_selection",
]
__all__ += ["Applied", "Attained", "Audit", "CertifiedBand", "CopiedRowsWarning", "GroupThresholds", "Monitoring"]
__all__ += ["ReusedCalibrationWarning", "ReusedSelectionWarning", "apply_policy", "audit", "certified_band"]
__all__ += ["DependentRowsWarning", "Period", "SortedRowsWarning", "Watch", "load_watch", "monitor"]
__all__ += ["conformal_threshold"]
