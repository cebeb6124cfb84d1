"""Write the recorded values of all modules, or of those that are named."""

import sys

from tests.recorded import MODULES, record

for module in sys.argv[1:] or MODULES:
    print(f"{module}: {record(module):,} characters")
