"""The public names of the package; each is loaded when it is first used."""

from abstain.nn.train._plan import Plan as Plan
from abstain.nn.train._plan import plan as plan
from abstain.nn.train._recipes import Recipe as Recipe
from abstain.nn.train._recipes import names as names
from abstain.nn.train._recipes import recipe as recipe
from abstain.nn.train._run import fit as fit
