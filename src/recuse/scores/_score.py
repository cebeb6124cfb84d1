"""What a confidence score is: a named function of ``Outputs``, and the list of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from recuse._checks import UnmetNeed
from recuse._registry import Registry
from recuse._typing import FloatArray
from recuse.outputs import Outputs

#: What a score is computed from. ``"probabilities"`` follow from logits, too.
Need: TypeAlias = Literal["logits", "probabilities", "confidence"]


@dataclass(frozen=True)
class Score:
    """A confidence score: higher = surer, one float64 per sample, never NaN.

    Parameters
    ----------
    name, title : str
        The name to call it by, and how a table or a plot writes it.
    function : callable
        From ``Outputs`` to an array of shape (n_samples,).
    needs : "logits", "probabilities" or "confidence"
        What the outputs must hold; logits stand in for probabilities, not the other way round.
    source : str
        Where it was described.
    range : str
        Values that it can take.

    Examples
    --------
    >>> import recuse
    >>> msp = recuse.scores.get("msp")
    >>> msp.title, msp.needs
    ('Maximum softmax probability', 'probabilities')
    >>> msp(recuse.Outputs(labels=[0, 1], probabilities=[[0.9, 0.1], [0.4, 0.6]]))
    array([0.9, 0.6])
    """

    name: str
    title: str
    function: Callable[[Outputs], FloatArray]
    needs: Need
    source: str
    range: str

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Compute the score; raise ``UnmetNeed`` if the outputs do not hold what it needs."""
        if not self.available(outputs):
            raise UnmetNeed(_unmet(self, outputs))
        return self.function(outputs)

    def available(self, outputs: Outputs) -> bool:
        """Whether these outputs hold what the score needs."""
        if self.needs == "confidence":
            return outputs.confidence is not None
        return outputs.logits is not None or (self.needs == "probabilities" and outputs.probabilities is not None)


def _unmet(score: Score, outputs: Outputs) -> str:
    if score.needs == "confidence":
        return "the score 'confidence' needs an external confidence column; give confidence= or choose another score"
    if score.needs == "logits" and outputs.probabilities is not None:
        return (
            f"{score.name} needs logits, but these outputs hold probabilities only: a softmax loses the scale of the "
            "logits and rounds small probabilities to 0, and log-probabilities do not bring these back; "
            "save the logits, or use 'neg_log_error'"
        )
    what = "logits" if score.needs == "logits" else "logits or probabilities"
    return f"{score.name} needs {what}, which these outputs do not hold; save them beside the labels"


SCORES: Registry[Score] = Registry("score")
