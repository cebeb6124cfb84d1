"""Certificates that may be issued again on any day."""

from abstain.live._certificate import LiveCertificate as LiveCertificate
from abstain.live._file import begin_live as begin_live
from abstain.live._file import load_live, update_live
from abstain.live._file import same_options as same_options
from abstain.live._result import LiveCertification as LiveCertification
from abstain.live._result import LiveGroup as LiveGroup

# LiveCertificate is public at the top of the package.
__all__ = ["load_live", "update_live"]
