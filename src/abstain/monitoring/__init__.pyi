"""Names of the package; each is loaded when it is first used."""

from abstain.monitoring._api import begun_monitor as begun_monitor
from abstain.monitoring._api import in_frame as in_frame
from abstain.monitoring._api import in_time_order as in_time_order
from abstain.monitoring._api import load_monitor as load_monitor
from abstain.monitoring._api import monitor as monitor
from abstain.monitoring._api import update_monitor as update_monitor
from abstain.monitoring._evidence import Detector as Detector
from abstain.monitoring._evidence import Drift as Drift
from abstain.monitoring._evidence import Evidence as Evidence
from abstain.monitoring._guarantee import ONLY as ONLY
from abstain.monitoring._guarantee import Period as Period
from abstain.monitoring._guarantee import Violation as Violation
from abstain.monitoring._monitor import Monitor as Monitor
from abstain.monitoring._result import Monitoring as Monitoring
from abstain.monitoring._rows import DependentRowsWarning as DependentRowsWarning
from abstain.monitoring._rows import SentRows as SentRows
from abstain.monitoring._rows import SortedRowsWarning as SortedRowsWarning
from abstain.monitoring._times import Clock as Clock
