"""Networks of the papers, in any width; any other module as one of them."""

from abstain.nn.networks._build import build, names, parameters
from abstain.nn.networks._network import Network, Normalise, adapt

__all__ = ["Network", "Normalise", "adapt", "build", "names", "parameters"]
