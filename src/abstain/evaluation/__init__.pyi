"""Names of the package; each is loaded when it is first used."""

from abstain.evaluation._compare import compare as compare
from abstain.evaluation._comparison import Comparison as Comparison
from abstain.evaluation._evaluate import evaluate as evaluate
from abstain.evaluation._gate import Check as Check
from abstain.evaluation._gate import Gate as Gate
from abstain.evaluation._gate import Untested as Untested
from abstain.evaluation._gate import gate as gate
from abstain.evaluation._gate import metrics_of as metrics_of
from abstain.evaluation._judge import COVERAGE as COVERAGE
from abstain.evaluation._judge import DELTA as DELTA
from abstain.evaluation._judge import RISK as RISK
from abstain.evaluation._judge import RISK_LEVELS as RISK_LEVELS
from abstain.evaluation._judge import by_column as by_column
from abstain.evaluation._judge import rows_of as rows_of
from abstain.evaluation._measure import DEFAULT_METRICS as DEFAULT_METRICS
from abstain.evaluation._result import Evaluation as Evaluation
from abstain.evaluation._result import Measurement as Measurement
from abstain.evaluation._result import ScoreSummary as ScoreSummary
from abstain.evaluation._select import Choice as Choice
from abstain.evaluation._select import Selection as Selection
from abstain.evaluation._select import select as select
from abstain.evaluation._sources import explained as explained
from abstain.evaluation._tune import Candidate as Candidate
from abstain.evaluation._tune import Tuning as Tuning
from abstain.evaluation._tune import tune as tune
