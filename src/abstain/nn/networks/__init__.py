"""Networks of the papers, in any width; any other module as one of them."""

from abstain.nn.networks._build import build, names, parameters
from abstain.nn.networks._network import Network as Network
from abstain.nn.networks._network import Normalise as Normalise
from abstain.nn.networks._network import adapt

__all__ = ["adapt", "build", "names", "parameters"]
