"""Mixup, RegMixup and CutMix: batches combined with themselves, shuffled."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from abstain._checks import fraction, generator, positive
from abstain._typing import Seed
from abstain.nn.ingredients._terms import Part, cross_entropy, mixed_cross_entropy


def mixup(x: Tensor, y: Tensor, alpha: float, rng: Seed = None) -> tuple[Tensor, Tensor, float]:
    r"""Return a mixed batch, the labels of the partners, and the share of the first.

    .. math:: \tilde x_i = \kappa x_i + (1 - \kappa) x_{\pi(i)}, \qquad \kappa \sim \text{Beta}(\alpha, \alpha)

    with one :math:`\kappa` and one permutation :math:`\pi` for the batch.

    Parameters
    ----------
    x : Tensor of shape (n_samples, ...)
    y : Tensor of shape (n_samples,)
    alpha : float
        Above 0. Small: shares near 0 or 1. Large: shares near 1/2.
    rng : int or numpy.random.Generator, optional

    Returns
    -------
    mixed, other, share : Tensor, Tensor, float
        The loss of logits z is share * CE(z, y) + (1 - share) * CE(z, other).

    Raises
    ------
    ValueError
        An alpha that is not positive.

    References
    ----------
    Zhang et al. (2018), ICLR.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import mixup
    >>> mixed, other, share = mixup(torch.tensor([[0.0], [1.0]]), torch.tensor([0, 1]), alpha=1.0, rng=2)
    >>> other, round(share, 3), mixed.squeeze(1).round(decimals=3)
    (tensor([1, 0]), 0.467, tensor([0.5330, 0.4670]))
    """
    positive(alpha, "alpha")
    source = generator(rng)
    share = float(source.beta(alpha, alpha))
    order = torch.as_tensor(source.permutation(len(y)), device=x.device)
    return share * x + (1.0 - share) * x[order], y[order.to(y.device)], share


@dataclass(frozen=True)
class Mixup:
    """Cross-entropy of a mixed batch with both labels; alone it is Mixup, together with :class:`Clean` it is RegMixup.

    Parameters
    ----------
    alpha : float
        Of the Beta distribution; .2 for Mixup (OpenOOD), 10 for RegMixup on CIFAR-100, 20 on CIFAR-10 (its authors).
    weight : float
        In the sum of all terms.

    References
    ----------
    Zhang et al. (2018), ICLR. Pinto et al. (2022), NeurIPS: RegMixup.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import Mixup
    >>> part = Mixup(alpha=0.2).draw(torch.rand(4, 3), torch.tensor([0, 1, 1, 0]), rng=0)[0]
    >>> part.inputs.shape, part.clean
    (torch.Size([4, 3]), False)
    """

    alpha: float = 0.2
    weight: float = 1.0

    def __post_init__(self) -> None:
        positive(self.alpha, "alpha")

    def draw(self, x: Tensor, y: Tensor, rng: Seed = None) -> tuple[Part, ...]:
        """Return the mixed batch."""
        mixed, other, share = mixup(x, y, self.alpha, rng)
        return (Part(mixed, lambda logits: mixed_cross_entropy(logits, y, other, share)),)


@dataclass(frozen=True)
class RegMixup:
    r"""Cross-entropy of the batch plus eta times that of a mixed batch.

    Parameters
    ----------
    alpha : float
        Of the Beta distribution; large, so that shares are near 1/2.
    eta : float
        Of the mixed loss.
    joined : bool
        True: clean and mixed images in one forward pass over 2n, which share the statistics of batch norm, and the
        loss :math:`(\ell_\text{clean} + \eta\,\ell_\text{mixed})/(1 + \eta)`, at eta = 1 the mean over 2n: the
        authors' code. False: two passes and the plain sum: SURE.
    weight : float
        In the sum of all terms.

    References
    ----------
    Pinto et al. (2022), NeurIPS: Eq. 4. Li et al. (2024), CVPR: SURE.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import RegMixup
    >>> x, y = torch.rand(4, 3), torch.tensor([0, 1, 1, 0])
    >>> [len(part.inputs) for part in RegMixup().draw(x, y, rng=0)]
    [8]
    >>> [len(part.inputs) for part in RegMixup(joined=False).draw(x, y, rng=0)]
    [4, 4]
    """

    alpha: float = 10.0
    eta: float = 1.0
    joined: bool = True
    weight: float = 1.0

    def __post_init__(self) -> None:
        positive(self.alpha, "alpha")
        positive(self.eta, "eta")

    def draw(self, x: Tensor, y: Tensor, rng: Seed = None) -> tuple[Part, ...]:
        """Return one part of both, or two parts."""
        mixed, other, share = mixup(x, y, self.alpha, rng)
        n, eta = len(x), self.eta

        def both(logits: Tensor) -> Tensor:
            regular = mixed_cross_entropy(logits[n:], y, other, share)
            return (cross_entropy(logits[:n], y) + eta * regular) / (1.0 + eta)

        if self.joined:
            return (Part(torch.cat([x, mixed]), both),)
        return (
            Part(x, lambda logits: cross_entropy(logits, y), clean=True),
            Part(mixed, lambda logits: mixed_cross_entropy(logits, y, other, share), weight=eta),
        )


def cutmix(x: Tensor, y: Tensor, alpha: float = 1.0, rng: Seed = None) -> tuple[Tensor, Tensor, float]:
    r"""Return a batch with a pasted rectangle, the labels of its source, and the share of area that was kept.

    The rectangle has sides :math:`W\sqrt{1-\lambda}` and :math:`H\sqrt{1-\lambda}`, rounded down, with
    :math:`\lambda \sim \text{Beta}(\alpha, \alpha)`, a centre drawn uniformly, and is clipped at the border. The share
    is then one minus its area over W H.

    Parameters
    ----------
    x : Tensor of shape (n_samples, channels, height, width)
    y : Tensor of shape (n_samples,)
    alpha : float
        Above 0.
    rng : int or numpy.random.Generator, optional

    Returns
    -------
    mixed, other, share : Tensor, Tensor, float
        As for :func:`mixup`.

    Raises
    ------
    ValueError
        An alpha that is not positive; no images.

    References
    ----------
    Yun et al. (2019), ICCV: Section 3.1 and Algorithm 1.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import cutmix
    >>> x = torch.stack([torch.zeros(1, 4, 4), torch.ones(1, 4, 4)])
    >>> mixed, other, share = cutmix(x, torch.tensor([0, 1]), rng=2)
    >>> float(mixed[0].mean()) == 1.0 - share if other[0] == 1 else True
    True
    """
    positive(alpha, "alpha")
    if x.ndim != 4:
        raise ValueError(f"cutmix cuts images, but x has shape {tuple(x.shape)}; give (n, channels, height, width)")
    source = generator(rng)
    height, width = x.shape[2:]
    side = math.sqrt(1.0 - source.beta(alpha, alpha))
    order = torch.as_tensor(source.permutation(len(y)), device=x.device)
    row, column = int(source.integers(height)), int(source.integers(width))
    half_height, half_width = int(height * side) // 2, int(width * side) // 2
    rows = slice(max(row - half_height, 0), min(row + half_height, height))
    columns = slice(max(column - half_width, 0), min(column + half_width, width))
    mixed = x.clone()
    mixed[:, :, rows, columns] = x[order][:, :, rows, columns]
    area = (rows.stop - rows.start) * (columns.stop - columns.start)
    return mixed, y[order.to(y.device)], 1.0 - area / (height * width)


@dataclass(frozen=True)
class CutMix:
    """Cross-entropy of a batch with pasted rectangles; with some chance, else of the batch itself.

    Parameters
    ----------
    alpha : float
        Of the Beta distribution; 1, uniform, in the paper.
    chance : float in [0, 1]
        That a batch is cut; .5 on CIFAR (authors and OpenOOD).
    weight : float
        In the sum of all terms.

    References
    ----------
    Yun et al. (2019), ICCV.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import CutMix
    >>> x, y = torch.rand(4, 3, 8, 8), torch.tensor([0, 1, 1, 0])
    >>> CutMix(chance=0.0).draw(x, y, rng=0)[0].clean
    True
    """

    alpha: float = 1.0
    chance: float = 0.5
    weight: float = 1.0

    def __post_init__(self) -> None:
        positive(self.alpha, "alpha")
        fraction(self.chance, "chance")

    def draw(self, x: Tensor, y: Tensor, rng: Seed = None) -> tuple[Part, ...]:
        """Return the batch, cut or not."""
        source = generator(rng)
        if source.random() >= self.chance:
            return (Part(x, lambda logits: cross_entropy(logits, y), clean=True),)
        mixed, other, share = cutmix(x, y, self.alpha, source)
        return (Part(mixed, lambda logits: mixed_cross_entropy(logits, y, other, share)),)
