"""Names of the package; each is loaded when it is first used."""

from abstain.live._certificate import LiveCertificate as LiveCertificate
from abstain.live._file import begin_live as begin_live
from abstain.live._file import load_live as load_live
from abstain.live._file import same_options as same_options
from abstain.live._file import update_live as update_live
from abstain.live._result import LiveCertification as LiveCertification
from abstain.live._result import LiveGroup as LiveGroup
