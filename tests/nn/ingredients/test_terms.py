"""Terms of the loss against hand computations: Mixup, RegMixup, CutMix, AugMix, PixMix."""

import numpy as np
import pytest
import torch

from abstain.nn import ingredients
from tests.refusal import refused

Y = torch.tensor([0, 1, 2, 1])
X = torch.arange(4 * 3 * 8 * 8, dtype=torch.float32).reshape(4, 3, 8, 8) / 767.0
PICTURES = ingredients.mixing_set(12, size=9, seed=0)


def table(logits):
    """Log-probabilities by NumPy."""
    z = logits.detach().numpy().astype(np.float64)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))


def test_mixup_by_hand():
    """Mixed images, shares and loss with the draws of the same generator, worked in NumPy."""
    rng = np.random.default_rng(3)
    share, order = rng.beta(0.4, 0.4), rng.permutation(4)
    part = ingredients.Mixup(alpha=0.4).draw(X, Y, 3)[0]
    assert torch.allclose(part.inputs, share * X + (1 - share) * X[order])
    logits = torch.tensor([[1.0, 0.0, 2.0], [0.5, 0.5, 0.0], [3.0, 1.0, 0.0], [0.0, 2.0, 1.0]])
    log_p, y = table(logits), Y.numpy()
    rows = np.arange(4)
    expected = -(share * log_p[rows, y] + (1 - share) * log_p[rows, y[order]]).mean()
    assert part.loss(logits).item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_cutmix_share_is_the_area_that_was_kept(seed):
    """Every pixel is its own or its partner's, those of the partner form one rectangle, and the share is its area."""
    x = torch.arange(4.0)[:, None, None, None].expand(4, 1, 7, 9).clone()
    mixed, other, share = ingredients.cutmix(x, torch.arange(4), rng=seed)
    for row in range(4):
        ood = mixed[row, 0] == other[row]
        own = mixed[row, 0] == row
        assert bool((own | ood).all())
        if other[row] != row:
            assert 1.0 - ood.float().mean().item() == pytest.approx(share)
            found = ood.nonzero()
            if len(found):
                sides = found.amax(dim=0) - found.amin(dim=0) + 1
                assert int(sides.prod()) == len(found)


def test_augmix_consistency_by_hand():
    """Clean cross-entropy plus 12 times the mean divergence of three answers from their mean, in NumPy."""
    logits = torch.randn(12, 3, generator=torch.Generator().manual_seed(0))
    part = ingredients.AugMix(jsd=True).draw(X, Y, 0)[0]
    assert len(part.inputs) == 12
    log_p = table(logits).reshape(3, 4, 3)
    p = np.exp(log_p)
    divergence = (p * (log_p - np.log(p.mean(axis=0)))).sum(axis=2).mean()
    expected = -log_p[0, np.arange(4), Y.numpy()].mean() + 12 * divergence
    assert part.loss(logits).item() == pytest.approx(expected, rel=1e-5)


def test_mixing_sets_are_kept_in_files(tmp_path):
    """The same bytes from the file, in a folder that is made; a file of its own per kind, size and seed."""
    folder = tmp_path / "a" / "b"
    first = ingredients.mixing_set(6, size=9, channels=1, seed=4, cache=folder)
    (file,) = folder.iterdir()
    assert file.name == "mixing-1-both-6x1x9-seed4.npy"
    assert torch.equal(first, ingredients.mixing_set(6, size=9, channels=1, seed=4))
    assert ingredients.PixMix(3, kind="noise").with_images((1, 16, 10)).pictures.shape == (3, 1, 18, 18)
    np.save(file, 255 - first.numpy())
    assert torch.equal(255 - first, ingredients.mixing_set(6, size=9, channels=1, seed=4, cache=folder))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ingredients.Mixup(alpha=0.0), "alpha must be a finite number > 0, got 0.0"),
        (lambda: ingredients.CutMix(chance=50), "chance must lie in .0, 1., got 50.0; give a fraction"),
        (lambda: ingredients.PixMix(most=-1), "most must be a whole number >= 0, got -1"),
        (lambda: ingredients.draw([], X, Y), "terms is empty"),
        (lambda: ingredients.AugMix().mixed(X * 3 - 1), "normalise in the model instead"),
        (
            lambda: ingredients.PixMix(PICTURES).mixed(X[:, :1]),
            "the mixing set has shape .12, 3, 9, 9.; for this batch give",
        ),
        (lambda: ingredients.mixing_set(4, kind="cats"), "kind='cats' is not known"),
        (lambda: ingredients.Clean().draw(X, Y)[0].loss(torch.zeros(3, 3)), "shapes do not fit"),
    ],
)
def test_errors(make, message):
    """Each names what is wrong and what to give."""
    refused(ValueError, message, make)
