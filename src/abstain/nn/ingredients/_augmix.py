"""AugMix: a picture mixed with chains of operations on itself; with or without a loss of consistency."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from abstain._checks import generator, whole
from abstain.nn._confidence import at_least_float32
from abstain.nn.ingredients._operations import ALL_OPERATIONS, OPERATIONS, Drawn
from abstain.nn.ingredients._terms import Part, Seed, check_pictures, check_positive, cross_entropy


def jensen_shannon(*logits: Tensor) -> Tensor:
    r"""Return the Jensen-Shannon divergence of several answers to the same samples.

    .. math:: \frac1M \sum_j \text{KL}(p_j \,\Vert\, \bar p), \qquad \bar p = \frac1M \sum_j p_j

    with the mean clamped to :math:`[10^{-7}, 1]`, as in the authors' code.

    Parameters
    ----------
    *logits : Tensor of shape (n_samples, n_classes)
        At least two.

    Returns
    -------
    Tensor
        Scalar in [0, ln M], the mean over samples.

    References
    ----------
    Hendrycks et al. (2020), ICLR: AugMix, Eq. 1.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import jensen_shannon
    >>> sure = torch.tensor([[50.0, 0.0]])
    >>> jensen_shannon(sure, -sure)  # ln 2
    tensor(0.6931)
    """
    log_p = torch.stack([at_least_float32(each) for each in logits]).log_softmax(dim=-1)
    log_mean = log_p.exp().mean(dim=0).clamp(1e-7, 1.0).log()
    return (log_p.exp() * (log_p - log_mean)).sum(dim=-1).mean()


@dataclass(frozen=True)
class AugMix:
    r"""Cross-entropy of pictures mixed with augmented copies of themselves.

    .. math:: (1 - m)\,x + m \sum_{j=1}^{3} w_j\,\text{chain}_j(x), \qquad
              w \sim \text{Dirichlet}(1, 1, 1), \quad m \sim \text{Beta}(1, 1)

    each picture with its own draws, and chains of one to three random operations.

    Parameters
    ----------
    jsd : bool
        Add the loss of consistency: clean cross-entropy plus ``jsd_weight`` times :func:`jensen_shannon` of the clean
        and two mixed pictures; three pictures per sample. False, as in OpenOOD: the mixed picture alone.
    jsd_weight : float
        12 in the paper.
    severity : float
        Levels are uniform in [.1, severity] tenths of each operation's largest.
    width : int
        Number of chains.
    depth : int
        Operations per chain; 0: one to three, drawn.
    all_operations : bool
        Also colour, contrast, brightness and sharpness, which resemble test corruptions.
    weight : float
        In the sum of all terms.

    References
    ----------
    Hendrycks et al. (2020), ICLR: Algorithm 1.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import AugMix
    >>> x, y = torch.rand(2, 3, 8, 8), torch.tensor([0, 1])
    >>> [len(AugMix(jsd=jsd).draw(x, y, rng=0)[0].inputs) for jsd in (False, True)]
    [2, 6]
    """

    jsd: bool = False
    jsd_weight: float = 12.0
    severity: float = 3.0
    width: int = 3
    depth: int = 0
    all_operations: bool = False
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_positive(jsd_weight=self.jsd_weight, severity=self.severity)
        whole(self.width, "width", usual=3)
        whole(self.depth, "depth", least=0, usual=0)

    def mixed(self, x: Tensor, rng: Seed = None) -> Tensor:
        """Return one mixed picture of each."""
        check_pictures(x, "AugMix")
        source, n = generator(rng), len(x)
        weights = torch.as_tensor(source.dirichlet([1.0] * self.width, size=n), dtype=x.dtype, device=x.device)
        share = torch.as_tensor(source.beta(1.0, 1.0, size=n), dtype=x.dtype, device=x.device)
        depth = source.integers(1, 4, size=self.width * n) if self.depth == 0 else [self.depth] * self.width * n
        left = torch.as_tensor(depth)
        chains = x.repeat(self.width, 1, 1, 1)  # all chains side by side
        names = ALL_OPERATIONS if self.all_operations else OPERATIONS
        for done in range(int(left.max())):
            chains = Drawn.at_random(len(chains), self.severity, names, source).apply(chains, left > done)
        sums = (weights.T[:, :, None, None, None] * chains.reshape(self.width, *x.shape)).sum(dim=0)
        share = share[:, None, None, None]
        return (1.0 - share) * x + share * sums

    def draw(self, x: Tensor, y: Tensor, rng: Seed = None) -> tuple[Part, ...]:
        """Return the mixed pictures, or the clean and two mixed ones."""
        source, n = generator(rng), len(x)
        if not self.jsd:
            return (Part(self.mixed(x, source), lambda logits: cross_entropy(logits, y)),)

        def consistent(logits: Tensor) -> Tensor:
            clean, first, second = logits[:n], logits[n : 2 * n], logits[2 * n :]
            return cross_entropy(clean, y) + self.jsd_weight * jensen_shannon(clean, first, second)

        return (Part(torch.cat([x, self.mixed(x, source), self.mixed(x, source)]), consistent),)
