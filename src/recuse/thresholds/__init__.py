"""Operating points, empirical and certified; policies; monitoring."""

from recuse.thresholds._apply import Applied, apply_policy
from recuse.thresholds._band import CertifiedBand, certified_band
from recuse.thresholds._choose import choose_threshold
from recuse.thresholds._conformal import conformal_threshold
from recuse.thresholds._groups import GroupThresholds
from recuse.thresholds._monitor import Monitoring, monitor
from recuse.thresholds._policy import Policy, load_policy
from recuse.thresholds._report import Audit, audit
from recuse.thresholds._results import CertifiedThreshold, EmpiricalThreshold
from recuse.thresholds._reuse import ReusedCalibrationWarning

__all__ = ["Applied", "Audit", "CertifiedBand", "CertifiedThreshold", "EmpiricalThreshold", "GroupThresholds"]
__all__ += ["Monitoring", "Policy", "ReusedCalibrationWarning", "apply_policy", "audit", "certified_band"]
__all__ += ["choose_threshold", "conformal_threshold", "load_policy", "monitor"]
