"""Terms of the loss against hand computations: Mixup, RegMixup, CutMix, AugMix, PixMix."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from abstain.nn import ingredients
from abstain.nn.ingredients import _augmix as operations
from abstain.nn.ingredients import _pixmix as pixmix

Y = torch.tensor([0, 1, 2, 1])
X = torch.arange(4 * 3 * 8 * 8, dtype=torch.float32).reshape(4, 3, 8, 8) / 767.0
PICTURES = ingredients.mixing_set(12, size=9, seed=0)


def table(logits: torch.Tensor) -> np.ndarray:
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


def test_shares_follow_the_beta_distribution():
    """Kolmogorov-Smirnov over 2,000 seeds."""
    shares = [ingredients.mixup(X[:1], Y[:1], 10.0, seed)[2] for seed in range(2000)]
    assert stats.kstest(shares, stats.beta(10, 10).cdf).pvalue > 0.001


def test_regmixup_in_one_pass_and_in_two():
    """One pass over 2n with the mean over 2n; two passes with the sum, of which the clean one is marked."""
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 3))
    joined = ingredients.draw([ingredients.RegMixup(joined=True)], X, Y, 5)
    apart = ingredients.draw([ingredients.RegMixup(joined=False)], X, Y, 5)
    assert [len(part.inputs) for part in joined.parts] == [8]
    assert [part.clean for part in apart.parts] == [True, False]
    assert joined.passes(4) == apart.passes(4) == 2.0
    assert joined.loss(model).item() == pytest.approx(apart.loss(model).item() / 2, rel=1e-5)
    sum_of_terms = ingredients.draw([ingredients.Clean(), ingredients.Mixup(alpha=10.0)], X, Y, 5)
    assert sum_of_terms.loss(model).item() == pytest.approx(apart.loss(model).item(), rel=1e-6)


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


def test_cutmix_cuts_with_its_chance():
    """Of 400 batches about a quarter is cut; the others are the batch itself with its labels."""
    cut = [not ingredients.CutMix(chance=0.25).draw(X, Y, seed)[0].clean for seed in range(400)]
    assert stats.binomtest(sum(cut), 400, 0.25).pvalue > 0.001


def test_augmix_is_a_convex_combination():
    """With chains that change nothing the image comes back; mixed images stay in [0, 1]."""
    mixed = ingredients.AugMix().mixed(X, 0)
    assert float(mixed.min()) >= -1e-6
    assert float(mixed.max()) <= 1.0 + 1e-6
    grey = torch.full((4, 3, 8, 8), 0.0)  # no operation of AugMix but equalize-like maps changes black
    assert torch.allclose(ingredients.AugMix().mixed(grey, 0), grey)


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


def test_pixmix_mixes_by_the_formulas():
    """Addition and multiplication of one pixel by hand; black to a negative power is clipped, not infinite."""
    x, v, a, b = (torch.tensor(value) for value in (0.8, 0.3, 0.9, 0.2))
    assert pixmix.mix_add(x, v, a, b).item() == pytest.approx((0.9 * 0.6 + 0.2 * -0.4 + 1) / 2)
    assert pixmix.mix_multiply(x, v, a, b).item() == pytest.approx(1.6**0.9 * 0.6**0.2 / 2)
    assert torch.isfinite(pixmix.mix_multiply(x, torch.tensor(0.0), torch.tensor(1.4), torch.tensor(-0.9)))


@pytest.mark.parametrize(("least", "most"), [(0, 4), (1, 4)])
def test_pixmix_rounds(least, most):
    """Uniform over 0-4 as in the code, or 1-4 as in the paper."""
    rounds = ingredients.PixMix(PICTURES, least=least, most=most).rounds(5000, 0)
    counts = np.bincount(rounds, minlength=most + 1)
    assert not counts[:least].any()
    assert stats.chisquare(counts[least:]).pvalue > 0.001


def test_draws_repeat_by_seed():
    """The same seed draws the same, another one something else; the caller's batch stays as it was."""
    before = X.clone()
    for term in (
        ingredients.Mixup(),
        ingredients.CutMix(chance=1.0),
        ingredients.AugMix(),
        ingredients.PixMix(PICTURES),
    ):
        first, again, other = (term.draw(X, Y, seed)[0].inputs for seed in (1, 1, 2))
        assert torch.equal(first, again)
        assert not torch.equal(first, other)
    assert torch.equal(X, before)


def one_operation(x: torch.Tensor, name: str, level: float) -> torch.Tensor:
    """One operation on all images, at a level in [0, 1] of its largest."""
    n = len(x)
    return operations.Drawn(np.zeros(n, dtype=int), np.full(n, level), np.ones(n), (name,)).apply(x)


def test_operations_by_hand():
    """Posterize, solarize, autocontrast, brightness and a translation by whole pixels on known values."""
    x = torch.tensor([0.0, 51.0, 102.0, 204.0]).reshape(1, 1, 2, 2) / 255.0
    apply = one_operation
    assert (apply(x, "posterize", 0.0) * 255).flatten().tolist() == pytest.approx([0, 48, 96, 192])
    assert (apply(x, "solarize", 0.25) * 255).flatten().tolist() == pytest.approx([0, 51, 102, 51])
    assert (apply(x, "autocontrast", 1.0) * 255).flatten().tolist() == pytest.approx([0, 63.75, 127.5, 255])
    assert (apply(x, "brightness", 0.5) * 255).flatten().tolist() == pytest.approx([0, 51, 102, 204])
    row = torch.arange(1.0, 7.0).reshape(1, 1, 1, 6) / 6.0
    moved = apply(row.expand(1, 1, 3, 6), "translate_x", 0.5)[0, 0, 1]  # trunc(.5 * 6 / 3) = 1 pixel
    assert (moved * 6).tolist() == pytest.approx([2, 3, 4, 5, 6, 0], abs=1e-5)


def test_operations_agree_with_pillow():
    """Equalize, autocontrast and rotation of random images, against the Python Imaging Library."""
    image = pytest.importorskip("PIL.Image")
    ops = pytest.importorskip("PIL.ImageOps")
    rng = np.random.default_rng(0)
    values = (rng.beta(2, 5, (16, 16, 3)) * 255).astype(np.uint8)
    x = torch.tensor(values).permute(2, 0, 1)[None] / 255.0
    picture = image.fromarray(values)
    for name, reference in (("equalize", ops.equalize(picture)), ("autocontrast", ops.autocontrast(picture))):
        ours = (one_operation(x, name, 1.0)[0].permute(1, 2, 0) * 255).numpy()
        assert np.abs(ours - np.asarray(reference)).max() <= 1.001
    turned = (one_operation(x, "rotate", 0.5)[0].permute(1, 2, 0) * 255).numpy()
    reference = np.asarray(picture.rotate(15, resample=image.Resampling.BILINEAR), dtype=float)
    assert np.abs(turned - reference)[3:-3, 3:-3].max() <= 1.5


def test_mixing_set_is_seeded_and_cached(tmp_path):
    """The same bytes from the same seed and from the file; fractals and leaves have structure."""
    first = ingredients.mixing_set(6, size=16, seed=4, cache=tmp_path)
    assert torch.equal(first, ingredients.mixing_set(6, size=16, seed=4))
    (file,) = tmp_path.iterdir()
    assert torch.equal(first, torch.from_numpy(np.load(file)))
    assert torch.equal(first, ingredients.mixing_set(6, size=16, seed=4, cache=tmp_path))
    assert not torch.equal(first, ingredients.mixing_set(6, size=16, seed=5))
    assert bool((first.float().std(dim=(1, 2, 3)) > 5).all())


def test_spectra_fall_like_those_of_pictures():
    """Power over frequency falls with slope -1 to -3 for leaves, near -2 for noise made so."""

    def slope(kind: str) -> float:
        x = ingredients.mixing_set(40, size=64, kind=kind, channels=1, seed=0)[:, 0].double().numpy()
        power = (np.abs(np.fft.fft2(x - x.mean(axis=(1, 2), keepdims=True))) ** 2).mean(axis=0)
        radius = np.hypot(*np.meshgrid(np.fft.fftfreq(64), np.fft.fftfreq(64)))
        keep = (radius > 0.03) & (radius < 0.4)
        return float(np.polyfit(np.log(radius[keep]), np.log(power[keep]), 1)[0])

    assert -3.0 < slope("leaves") < -1.0
    assert slope("noise") == pytest.approx(-2.0, abs=0.2)


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
    with pytest.raises(ValueError, match=message):
        make()
