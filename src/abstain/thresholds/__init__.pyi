"""What stands behind the door; it is loaded when it is first used."""

from abstain.thresholds._apply import Applied as Applied
from abstain.thresholds._apply import apply_policy as apply_policy
from abstain.thresholds._audit import Audit as Audit
from abstain.thresholds._audit import audit as audit
from abstain.thresholds._audit import check_clusters as check_clusters
from abstain.thresholds._band import Attained as Attained
from abstain.thresholds._band import CertifiedBand as CertifiedBand
from abstain.thresholds._band import certified_band as certified_band
from abstain.thresholds._candidates import ChosenAmong as ChosenAmong
from abstain.thresholds._candidates import choose_among as choose_among
from abstain.thresholds._choose import choose_threshold as choose_threshold
from abstain.thresholds._conditional import conditional_threshold as conditional_threshold
from abstain.thresholds._conformal import conformal_threshold as conformal_threshold
from abstain.thresholds._groups import GroupThresholds as GroupThresholds
from abstain.thresholds._procedures import bonferroni_threshold as bonferroni_threshold
from abstain.thresholds._procedures import cwsa_threshold as cwsa_threshold
from abstain.thresholds._procedures import fixed_sequence_threshold as fixed_sequence_threshold
from abstain.thresholds._procedures import prespecified_threshold as prespecified_threshold
from abstain.thresholds._procedures import separate_group_thresholds as separate_group_thresholds
from abstain.thresholds._procedures import sgr_threshold as sgr_threshold
from abstain.thresholds._reach import Reach as Reach
from abstain.thresholds._results import CertifiedThreshold as CertifiedThreshold
from abstain.thresholds._results import EmpiricalThreshold as EmpiricalThreshold
from abstain.thresholds._risk_levels import RiskLevel as RiskLevel
from abstain.thresholds._risk_levels import certified_instead as certified_instead
<<<<<<< HEAD
from abstain.thresholds._risk_levels import certify_levels as certify_levels
=======
from abstain.thresholds._risk_levels import ladder as ladder
from abstain.thresholds._row_hashes import Hashes as Hashes
from abstain.thresholds._row_hashes import named as named
from abstain.thresholds._row_hashes import packed as packed
from abstain.thresholds._row_hashes import unpacked as unpacked
>>>>>>> 609277e (Issue policies from live certificates)
from abstain.thresholds._row_warnings import CopiedRowsWarning as CopiedRowsWarning
from abstain.thresholds._row_warnings import ReusedCalibrationWarning as ReusedCalibrationWarning
from abstain.thresholds._row_warnings import ReusedSelectionWarning as ReusedSelectionWarning
from abstain.thresholds._row_warnings import copied_rows as copied_rows
from abstain.thresholds._row_warnings import remember_selection as remember_selection
from abstain.thresholds._row_warnings import unusual as unusual
from abstain.thresholds._row_warnings import warn_if_copied as warn_if_copied
from abstain.thresholds._row_warnings import warn_if_reused as warn_if_reused
from abstain.thresholds._rows_needed import CertificatePlan as CertificatePlan
from abstain.thresholds._rows_needed import plan_certificate as plan_certificate
from abstain.thresholds._rows_needed import plan_of as plan_of
from abstain.thresholds._sample import cluster_numbers as cluster_numbers
from abstain.thresholds._statements import each_errs as each_errs
from abstain.thresholds._statements import loss_of as loss_of
from abstain.thresholds._two_scores import ChosenPair as ChosenPair
from abstain.thresholds._two_scores import choose_pair as choose_pair
