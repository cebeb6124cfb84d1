"""Sharpness-aware optimizers: two passes, the second at disturbed weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from abstain._checks import fraction, positive
from abstain._typing import Options

_BATCH_NORM = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)


def batch_norm_layers(model: nn.Module) -> list[Any]:
    """Return the batch-norm layers that keep running statistics."""
    return [each for each in model.modules() if isinstance(each, _BATCH_NORM) and each.running_mean is not None]


@contextmanager
def frozen_statistics(model: nn.Module | None) -> Iterator[None]:
    """Let batch norm normalise by its batch, as in training, without touching its running statistics.

    Parameters
    ----------
    model : nn.Module or None
        None: nothing is frozen.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import frozen_statistics
    >>> layer = torch.nn.BatchNorm1d(2)
    >>> with frozen_statistics(layer):
    ...     _ = layer(torch.ones(4, 2))
    >>> layer.running_mean, int(layer.num_batches_tracked)
    (tensor([0., 0.]), 0)
    """
    layers = [] if model is None else [each for each in batch_norm_layers(model) if each.track_running_stats]
    for layer in layers:
        layer.track_running_stats = False
    try:
        yield
    finally:
        for layer in layers:
            layer.track_running_stats = True


class SAM(torch.optim.Optimizer):
    r"""Sharpness-aware minimization around any optimizer: it steps with the gradient of a worse place nearby.

    .. math:: \epsilon = \rho\,\frac{g}{\lVert g\rVert_2 + 10^{-12}}, \quad g = \nabla L(w), \qquad
              w \leftarrow \text{step}\bigl(w, \nabla L(w + \epsilon)\bigr)

    with the norm over all parameters together.

    Parameters
    ----------
    base : torch.optim.Optimizer
        Makes the step; its learning rate, momentum and weight decay hold, and its groups are these.
    model : nn.Module, optional
        Its batch-norm statistics stand still in the second pass, as in the examples of the usual implementation and in
        F-SAM; None moves them in both, as SURE and FMFP do.
    rho : float
        Length of the disturbance; .05 in SURE and FMFP.

    Raises
    ------
    ValueError
        A rho that is not positive.
    TypeError
        ``step`` without a closure: a loss scaler for float16 does that; use bfloat16.

    Notes
    -----
    ``step(closure)`` calls the closure twice; it has to clear the gradients, compute the loss of the *same* batch and
    call ``backward``. Under DDP both gradients are those of the global batch. Parameters without gradient stay.

    References
    ----------
    Foret et al. (2021), ICLR: Eq. 2 and 3.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import SAM
    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> optimizer = SAM(torch.optim.SGD([w], lr=0.1), rho=0.5)
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (w**2).sum()
    ...     loss.backward()
    ...     return loss
    >>> loss = optimizer.step(closure)  # gradient 2 * 1.5 at w = 1.5
    >>> round(w.item(), 4)
    0.7
    """

    def __init__(self, base: torch.optim.Optimizer, model: nn.Module | None = None, *, rho: float = 0.05) -> None:
        positive(rho, "rho")
        super().__init__(base.param_groups, base.defaults)
        self.base, self.model, self.rho = base, model, rho
        self._share()

    def _share(self) -> None:
        """Groups and state are the base's: one state dict, one learning rate."""
        self.param_groups, self.state = self.base.param_groups, self.base.state

    def state_dict(self) -> Options:
        """Return the state of the base, in which ours lies next to its own."""
        return self.base.state_dict()

    def load_state_dict(self, state_dict: Options) -> None:
        """Load what ``state_dict`` gave."""
        self.base.load_state_dict(state_dict)
        self._share()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Call the closure twice and make the base's step; return the loss of the first call."""
        if closure is None:
            raise TypeError("step needs a closure that computes the loss and its gradient; see the example of SAM")
        closure = torch.enable_grad()(closure)
        loss = closure()
        held = [
            (parameter, parameter.grad.detach().clone())
            for group in self.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        ]
        shift = self._shift(held)
        with torch.no_grad():
            before = [parameter.detach().clone() for parameter, _ in held]
            for (parameter, _), each in zip(held, shift, strict=True):
                parameter.add_(each)
        with frozen_statistics(self.model):
            closure()
        with torch.no_grad():
            for (parameter, first), old in zip(held, before, strict=True):
                parameter.copy_(old)  # exactly: adding and subtracting would leave a rounding error
                self._combine(parameter, first)
        self.base.step()
        return loss

    def _shift(self, held: list[tuple[nn.Parameter, Tensor]]) -> list[Tensor]:
        """The disturbance of each parameter."""
        return _scaled([gradient for _, gradient in held], self.rho)

    def _combine(self, parameter: nn.Parameter, first: Tensor) -> None:
        """Change the gradient of the second pass, if the method wants to."""


def _scaled(direction: list[Tensor], rho: float) -> list[Tensor]:
    """A direction over all parameters, brought to length rho."""
    if not direction:
        return []
    device = direction[0].device
    norm = torch.stack([each.norm(2).to(device) for each in direction]).norm(2)
    factor = rho / (norm + 1e-12)
    return [each * factor.to(each.device) for each in direction]


class FriendlySAM(SAM):
    r"""Friendly SAM as published: the disturbance leaves out what successive gradients have in common.

    .. math:: d_t = g_t - \sigma m_{t-1}, \qquad m_t = \lambda m_{t-1} + (1 - \lambda) g_t, \qquad
              \epsilon_t = \rho\,\frac{d_t}{\lVert d_t\rVert_2 + 10^{-12}}

    with :math:`m_0 = g_0`, and :math:`d_0 = g_0` in the first step.

    Parameters
    ----------
    base, model
        As for :class:`SAM`.
    rho : float
        .2 in the authors' CIFAR-100 runs (rate .05, weight decay 1e-3).
    sigma : float
        Share of the mean gradient that is removed; 1 in the paper.
    lam : float in [0, 1)
        Memory; .6 in the authors' CIFAR-100 script, .9 and .95 elsewhere in their code.

    Raises
    ------
    ValueError
        Settings out of range.

    Notes
    -----
    The memory m lies in the optimizer's state dict. Weight decay is no part of g. With ``gamma`` mixing, which the
    joint-reliability paper writes under this name, see :class:`MixedSAM`.

    References
    ----------
    Li et al. (2024), CVPR: Friendly Sharpness-Aware Minimization.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import FriendlySAM
    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> optimizer = FriendlySAM(torch.optim.SGD([w], lr=0.1), rho=0.5, lam=0.6)
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (w**2).sum()
    ...     loss.backward()
    ...     return loss
    >>> _ = optimizer.step(closure), optimizer.step(closure)
    >>> round(w.item(), 4)  # 0.7, then d = 1.4 - 2 < 0: the gradient at 0.7 - 0.5
    0.66
    """

    def __init__(
        self,
        base: torch.optim.Optimizer,
        model: nn.Module | None = None,
        *,
        rho: float = 0.2,
        sigma: float = 1.0,
        lam: float = 0.6,
    ) -> None:
        fraction(lam, "lam")
        if lam == 1.0:
            raise ValueError("lam must lie in [0, 1), got 1.0; 0.6 is usual")
        super().__init__(base, model, rho=rho)
        self.sigma, self.lam = sigma, lam

    def _shift(self, held: list[tuple[nn.Parameter, Tensor]]) -> list[Tensor]:
        directions = []
        for parameter, gradient in held:
            state = self.state[parameter]
            if "common" not in state:
                state["common"] = gradient.clone()
                directions.append(gradient)
                continue
            directions.append(gradient - self.sigma * state["common"])
            state["common"].mul_(self.lam).add_(gradient, alpha=1.0 - self.lam)
        return _scaled(directions, self.rho)


class MixedSAM(SAM):
    r"""What the joint-reliability paper writes as F-SAM: SAM's disturbance, and a mean of both losses.

    .. math:: L = \gamma L(w) + (1 - \gamma) L(w + \epsilon), \qquad \epsilon = \rho\,g/\lVert g\rVert_2

    Its step is that with :math:`\gamma\nabla L(w) + (1-\gamma)\nabla L(w + \epsilon)`: a penalty on the norm of the
    gradient. :class:`FriendlySAM` is the method whose name the paper uses.

    Parameters
    ----------
    base, model
        As for :class:`SAM`.
    rho : float
        Not given in the paper; .05 as for SAM.
    gamma : float in [0, 1]
        Share of the undisturbed loss; not given in the paper. 0 is SAM, 1 the base alone.

    Raises
    ------
    ValueError
        Settings out of range.

    References
    ----------
    "From Misclassifications to Outliers": A.5. Zhao et al. (2022), ICML: penalising the gradient norm.

    Examples
    --------
    >>> import torch
    >>> from abstain.nn.ingredients import MixedSAM
    >>> w = torch.nn.Parameter(torch.tensor([1.0]))
    >>> optimizer = MixedSAM(torch.optim.SGD([w], lr=0.1), rho=0.5, gamma=0.5)
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (w**2).sum()
    ...     loss.backward()
    ...     return loss
    >>> _ = optimizer.step(closure)  # gradient (2 + 3) / 2
    >>> round(w.item(), 4)
    0.75
    """

    def __init__(
        self, base: torch.optim.Optimizer, model: nn.Module | None = None, *, rho: float = 0.05, gamma: float = 0.5
    ) -> None:
        fraction(gamma, "gamma")
        super().__init__(base, model, rho=rho)
        self.gamma = gamma

    def _combine(self, parameter: nn.Parameter, first: Tensor) -> None:
        if parameter.grad is not None:
            parameter.grad.mul_(1.0 - self.gamma).add_(first, alpha=self.gamma)
