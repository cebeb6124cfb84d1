"""What a training step sends through the network: terms, each with the loss of its own logits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from abstain._checks import generator
from abstain._typing import Seed
from abstain.nn._confidence import check_batch


@dataclass(frozen=True)
class Part:
    """Inputs of one forward pass, and the loss of the logits that come back.

    Parameters
    ----------
    inputs : Tensor
        As the network takes them.
    loss : callable
        From logits to a scalar.
    weight : float
        Of this loss in the sum.
    clean : bool
        Whether the inputs are the batch itself, row by row.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import Clean
    >>> part = Clean().draw(torch.zeros(2, 3), torch.tensor([0, 1]))[0]
    >>> part.clean, part.weight
    (True, 1.0)
    """

    inputs: Tensor
    loss: Callable[[Tensor], Tensor]
    weight: float = 1.0
    clean: bool = False


class Term(Protocol):
    """Draws what it adds to a batch; the same draw serves every pass of a sharpness-aware step."""

    @property
    def weight(self) -> float:
        """In the sum of all terms."""
        ...

    def draw(self, x: Tensor, y: Tensor, rng: Seed = None) -> tuple[Part, ...]:
        """Return the parts of a batch x (n, ...) with labels y (n,)."""
        ...


@dataclass(frozen=True)
class Draw:
    """The parts of one batch, drawn once.

    Parameters
    ----------
    parts : tuple of Part

    Examples
    --------
    >>> import torch
    >>> from abstain.nn import ingredients
    >>> batch = ingredients.draw([ingredients.Clean()], torch.zeros(2, 3), torch.tensor([0, 1]))
    >>> batch.loss(torch.nn.Linear(3, 2)).shape, batch.passes(2)
    (torch.Size([]), 1.0)
    """

    parts: tuple[Part, ...]

    def loss(self, model: Callable[[Tensor], Tensor]) -> Tensor:
        """Send each part through the model and return the weighted sum of the losses."""
        return torch.stack([part.weight * part.loss(model(part.inputs)) for part in self.parts]).sum()

    def passes(self, n: int) -> float:
        """Return how many batches of size n go through the network."""
        return sum(len(part.inputs) for part in self.parts) / n


def draw(terms: Iterable[Term], x: Tensor, y: Tensor, rng: Seed = None) -> Draw:
    """Draw all terms of a batch once, for one or for several passes.

    Parameters
    ----------
    terms : iterable of terms
        Such as :class:`Clean`, :class:`Mixup`, :class:`PixMix`.
    x : Tensor of shape (n_samples, ...)
        The batch. Terms that edit images want (n, channels, height, width) in [0, 1].
    y : Tensor of shape (n_samples,)
        Class indices.
    rng : int or numpy.random.Generator, optional
        Of all draws; they are made on the host, so that they are the same on every device.

    Returns
    -------
    Draw
        Its ``loss(model)`` is the sum of weight times loss.

    Raises
    ------
    ValueError
        No term; images out of range.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn import ingredients
    >>> terms = [ingredients.Clean(), ingredients.Mixup(alpha=10.0)]  # RegMixup in two passes
    >>> batch = ingredients.draw(terms, torch.rand(4, 3), torch.tensor([0, 1, 1, 0]), rng=0)
    >>> batch.passes(4)
    2.0
    """
    source = generator(rng)
    parts = [
        Part(part.inputs, part.loss, term.weight * part.weight, part.clean)
        for term in terms
        for part in term.draw(x, y, source)
    ]
    if not parts:
        raise ValueError("terms is empty, so nothing would be learnt; give at least Clean()")
    return Draw(tuple(parts))


@dataclass(frozen=True)
class Clean:
    r"""The batch as it is, with cross-entropy :math:`-\frac1n\sum_i\ln p_{i,y_i}`.

    Parameters
    ----------
    weight : float
        In the sum of all terms.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import Clean
    >>> Clean().draw(torch.zeros(2, 3), torch.tensor([0, 1]))[0].inputs.shape
    torch.Size([2, 3])
    """

    weight: float = 1.0

    def draw(self, x: Tensor, y: Tensor, rng: Seed = None) -> tuple[Part, ...]:
        """Return the batch."""
        return (Part(x, lambda logits: cross_entropy(logits, y), clean=True),)


def cross_entropy(logits: Tensor, y: Tensor) -> Tensor:
    """Mean cross-entropy; a label that is no class is an error, never skipped."""
    check_batch(logits, y)
    value: Tensor = nn.functional.cross_entropy(logits, y, ignore_index=-(2**31))
    return value


def mixed_cross_entropy(logits: Tensor, y: Tensor, other: Tensor, share: float) -> Tensor:
    """``share`` times the cross-entropy of y plus the rest times that of the partners' labels."""
    return share * cross_entropy(logits, y) + (1.0 - share) * cross_entropy(logits, other)


def check_pictures(x: Tensor, who: str) -> None:
    """Refuse what is no batch of images in [0, 1]."""
    if x.ndim != 4 or not x.is_floating_point():
        raise ValueError(
            f"{who} edits images, but got {tuple(x.shape)} of {x.dtype}; "
            "give floats of shape (n, channels, height, width) in [0, 1]"
        )
    least, most = (float(bound) for bound in torch.aminmax(x))
    if least < -1e-6 or most > 1.0 + 1e-6:
        raise ValueError(
            f"{who} edits images in [0, 1], but got values from {least:.3g} to {most:.3g}; "
            "normalise in the model instead, with abstain.nn.networks.Normalise"
        )
