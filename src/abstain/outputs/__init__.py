"""One model's saved outputs on one split: the value, and how it is read from and written to files.

A door of the house: the public spelling is ``abstain.Outputs``.
"""

from abstain.outputs._costs import cost_texts as cost_texts
from abstain.outputs._costs import largest_cost as largest_cost
from abstain.outputs._doubts import doubts as doubts
from abstain.outputs._engine import REMEDY as REMEDY
from abstain.outputs._engine import first_of as first_of
from abstain.outputs._expected import expect as expect
from abstain.outputs._grades import declined as declined
from abstain.outputs._outputs import Outputs as Outputs
from abstain.outputs._page_sizes import check_sizes as check_sizes
from abstain.outputs._partly import missing as missing
from abstain.outputs._partly import read_pool as read_pool
from abstain.outputs._parts import Parts as Parts
from abstain.outputs._parts import parts_of as parts_of
from abstain.outputs._parts import refuse_without_frame as refuse_without_frame
from abstain.outputs._read import read_outputs as read_outputs
from abstain.outputs._scan import Scan as Scan
from abstain.outputs._scan import scan as scan
from abstain.outputs._states import GRADED as GRADED
from abstain.outputs._states import States as States
from abstain.outputs._tally import Counted as Counted
from abstain.outputs._tally import Tally as Tally
from abstain.outputs._tally import count as count
from abstain.outputs._tally import group_names as group_names
from abstain.outputs._timed import count_in_time as count_in_time
from abstain.outputs._together import Together as Together
from abstain.outputs._together import count_together as count_together
from abstain.outputs._understood import Origin as Origin
from abstain.outputs._understood import sentence as sentence
from abstain.outputs._write import write_outputs as write_outputs
from abstain.outputs._write import write_pool as write_pool
from abstain.outputs.readers import spoken as spoken
