"""Scores that need the model, against slow references; the extractor, interrupted and resumed."""

import numpy as np
import pytest
import torch
from torch import nn as tnn

import abstain
from abstain import nn
from tests.nn import references
from tests.refusal import refused


def network(dropout=0.0):
    torch.manual_seed(0)
    return tnn.Sequential(
        tnn.Conv2d(2, 5, 3), tnn.BatchNorm2d(5), tnn.ReLU(), tnn.Dropout(dropout), tnn.Flatten(), tnn.Linear(180, 7),
        tnn.ReLU(), tnn.Linear(7, 4),
    )  # fmt: skip


def pictures(n=23, seed=1):
    return torch.randn(n, 2, 8, 8, generator=torch.Generator().manual_seed(seed))


# ---------------------------------------------------------------------- several passes


def test_only_dropout_trains_and_modes_come_back():
    """Batch norm keeps its statistics during the passes; every module gets its own mode back, also after an error."""
    model = network(0.5).train()
    model[1].eval()
    before = [module.training for module in model.modules()]
    statistics = model[1].running_mean.clone()
    with nn.dropout_active(model):
        assert [module.training for module in model] == [isinstance(module, tnn.Dropout) for module in model]
        model(pictures())
    assert [module.training for module in model.modules()] == before
    assert torch.equal(model[1].running_mean, statistics)
    with pytest.raises(RuntimeError), nn.dropout_active(model):
        raise RuntimeError
    assert [module.training for module in model.modules()] == before


def test_passes_by_seed_and_members_leave_everything_as_it_was():
    """A seed repeats the passes, the global generator and the modes stay; members are read in evaluation mode."""
    model, x = network(0.5).train(), pictures()
    state = torch.get_rng_state()
    first, again, other = (nn.mc_dropout(model, x, 3, seed=seed) for seed in (5, 5, 6))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert not torch.equal(first[0], first[1])
    logits = nn.ensemble_logits([model, model], x)
    assert all(module.training for module in model.modules())
    torch.testing.assert_close(logits[1], model.eval()(x))


@pytest.mark.parametrize("kind", ["msp", "neg_entropy", "neg_expected_entropy", "neg_mutual_information"])
def test_confidence_of_passes(kind):
    """The four formulas in NumPy; a float16 file is good enough a source."""
    logits = 3.0 * np.random.default_rng(0).normal(size=(6, 9, 4))
    p = np.exp(references.log_softmax(logits))
    mean = p.mean(axis=0)
    entropy, expected = -(mean * np.log(mean)).sum(-1), -(p * np.log(p)).sum(-1).mean(0)
    values = {"msp": mean.max(-1), "neg_entropy": -entropy, "neg_expected_entropy": -expected}
    values |= {"neg_mutual_information": expected - entropy}
    np.testing.assert_allclose(nn.passes_confidence(torch.tensor(logits), kind), values[kind], rtol=1e-10)
    np.testing.assert_allclose(nn.passes_confidence(torch.tensor(logits).half(), kind), values[kind], atol=5e-3)


# ---------------------------------------------------------------------- gradients


def test_odin():
    """Step against the sign of a numerical gradient, per-channel std, then the largest log-probability at T."""
    model, x = network().double().eval(), pictures(4).double()
    std = torch.tensor([0.5, 2.0], dtype=torch.float64).reshape(2, 1, 1)
    score = nn.odin(model, x, temperature=10.0, epsilon=0.01, std=std)

    def objective(z):
        with torch.no_grad():
            log_p = references.log_softmax(model(torch.tensor(z)).numpy() / 10.0)
        return -log_p.max(axis=1).sum()

    moved = x - 0.01 * torch.tensor(references.numerical_gradient(objective, x.numpy(), step=1e-5)).sign() / std
    with torch.no_grad():
        expected = references.log_softmax(model(moved).numpy() / 10.0).max(axis=1)
    np.testing.assert_allclose(score, expected, rtol=1e-9)
    assert all(parameter.grad is None for parameter in model.parameters())


@pytest.mark.parametrize("chunk_size", [None, 4])
def test_gradnorm_equals_one_backward_per_sample(chunk_size):
    """The vectorised gradients equal those of a loop over samples and parameters."""
    model, x = network(0.3), pictures(7)
    score = nn.gradnorm(model, x, chunk_size=chunk_size)
    assert model.training
    model.eval()
    for value, sample in zip(score, x, strict=True):
        loss = -model(sample[None]).log_softmax(1).sum()
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        assert value.item() == pytest.approx(sum(each.abs().sum().item() for each in gradients), rel=1e-4)


# ---------------------------------------------------------------------- Gram matrices


def gram_reference(activation, order):
    """Row sums of the Gram matrix, formed in full."""
    powers = activation.reshape(activation.shape[0], -1) ** order
    rows = (powers @ powers.T).sum(axis=1)
    return np.sign(rows) * np.abs(rows) ** (1.0 / order)


def test_gram_equals_loops_over_samples():
    """Ranges, scales and scores from full Gram matrices, one sample, layer and order at a time."""
    model, orders = network().double().eval(), (1, 2, 3)
    train, held, test = (pictures(n, seed).double() for n, seed in [(60, 1), (20, 2), (15, 3)])
    labels = torch.arange(60) % 4
    statistics = nn.fit_gram(model, [(train[:25], labels[:25]), (train[25:], labels[25:])], [(held, None)], n_classes=4,
                             orders=orders)  # fmt: skip
    assert statistics.layers == ("0", "2", "6")

    def values(x):
        with torch.no_grad():
            return [[gram_reference(model[: stop + 1](x[None])[0].numpy(), p) for p in orders] for stop in (0, 2, 6)]

    known = [values(x) for x in train]

    def deviations(x):
        with torch.no_grad():
            predicted = int(model(x[None]).argmax())
        found, own = [], values(x)
        for layer in range(3):
            total = 0.0
            for order in range(3):
                same = [each[layer][order] for each, label in zip(known, labels, strict=True) if label == predicted]
                low, high, g = np.min(same, axis=0), np.max(same, axis=0), own[layer][order]
                total += np.sum(np.maximum(low - g, 0) / np.abs(low + 1e-6))
                total += np.sum(np.maximum(g - high, 0) / np.abs(high + 1e-6))
            found.append(total)
        return np.array(found)

    scale = np.mean([deviations(x) for x in held], axis=0)
    with torch.no_grad():
        top = model(test).softmax(1).amax(1).numpy()
    expected = -np.array([(deviations(x) / scale).sum() for x in test]) / top
    np.testing.assert_allclose(nn.gram_score(model, test, statistics), expected, rtol=1e-9)


# ---------------------------------------------------------------------- the extractor


def test_a_relu_that_serves_twice_is_watched_twice():
    """Residual blocks use one ReLU module for several activations."""
    relu, x = tnn.ReLU(), torch.randn(30, 3, generator=torch.Generator().manual_seed(0))
    model = tnn.Sequential(tnn.Linear(3, 6), relu, tnn.Linear(6, 2), relu, tnn.Softplus())
    data = [(x, torch.arange(30) % 2)]
    assert [each.shape[-1] for each in nn.fit_gram(model, data, data, n_classes=2).low] == [6, 2]


class Interrupted(Exception):
    pass


def loader(n=23, stop=None, batch_size=2):
    x, labels = pictures(n), torch.arange(n) % 4

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return n

        def __getitem__(self, index):
            if stop is not None and index >= stop:
                raise Interrupted
            return x[index], labels[index]

    return torch.utils.data.DataLoader(Data(), batch_size=batch_size), x, labels


def drawn_at_random():
    return torch.utils.data.DataLoader(pictures(), sampler=torch.utils.data.WeightedRandomSampler([1.0] * 23, 23))


def test_extract_keeps_logits_features_and_head():
    """Features times head are the logits; labels and modes are as before."""
    model = network(0.5).train()
    data, x, labels = loader()
    outputs = nn.extract(model, data)
    assert all(module.training for module in model.modules())
    with torch.no_grad():
        torch.testing.assert_close(torch.tensor(outputs.logits).float(), model.eval()(x))
    weight, bias = outputs.head
    np.testing.assert_allclose(outputs.features @ weight.T + bias, outputs.logits, atol=1e-5)
    assert outputs.labels.tolist() == labels.tolist()


def test_a_relu_that_works_in_place_hides_nothing():
    """It overwrites the output of the convolution before it, whose statistics stay those of the output."""
    data = [(pictures(60), torch.arange(60) % 4)]
    plain, in_place = network(), network()
    in_place[1], plain[1], in_place[2] = tnn.Identity(), tnn.Identity(), tnn.ReLU(inplace=True)
    expected, found = (nn.fit_gram(model, data, data, n_classes=4) for model in (plain, in_place))
    torch.testing.assert_close(found.low, expected.low)


@pytest.mark.parametrize("form", ["inputs", "one-tuples", "read"])
def test_extract_keeps_unlabelled_data(form):
    x = pictures(24)
    make = {"inputs": lambda part: part, "one-tuples": lambda part: (part,), "read": lambda part: {"x": part}}[form]
    read = {"read": lambda batch: (batch["x"], None)} if form == "read" else {}
    outputs = nn.extract(network(), [make(part) for part in x.split(6)], **read)
    assert (outputs.labels, outputs.n) == (None, 24)


def test_extract_mixes_neither_models_nor_data_sets(tmp_path, monkeypatch):
    """Other parts are refused, or thrown away on request; finished files and folders of others are left alone."""
    monkeypatch.setattr("abstain.nn._extract._BATCHES_PER_PART", 3)
    model, other, file = network(), network(), tmp_path / "a.npz"
    with torch.no_grad():
        other[7].bias.add_(1.0)
    moved = torch.utils.data.TensorDataset(pictures() + 1.0, torch.arange(23) % 4)
    with pytest.raises(Interrupted):
        nn.extract(model, loader(stop=15)[0], file)
    for one, data in ((other, loader()[0]), (model, torch.utils.data.DataLoader(moved, batch_size=2))):
        refused(ValueError, "parts of another model, data set", nn.extract, one, data, file)
    outputs = nn.extract(other, loader()[0], file, resume=False)
    assert outputs.fingerprint == nn.extract(other, loader()[0]).fingerprint
    refused(FileExistsError, "overwrite=True", nn.extract, other, loader()[0], file)
    (tmp_path / "b.npz.parts").mkdir()
    (tmp_path / "b.npz.parts" / "thesis.txt").write_text("precious")
    for resume in (True, False):
        refused(FileExistsError, "in the way", nn.extract, model, loader()[0], tmp_path / "b.npz", resume=resume)


def test_extract_resumes(tmp_path, monkeypatch):
    """An interrupted run leaves whole parts; the next run goes on and writes what one run would have written."""
    monkeypatch.setattr("abstain.nn._extract._BATCHES_PER_PART", 3)
    model = network(0.5)
    nn.extract(model, loader()[0], tmp_path / "whole.npz", passes=4)
    with pytest.raises(Interrupted):
        nn.extract(model, loader(stop=15)[0], tmp_path / "cut.npz", passes=4)
    assert not (tmp_path / "cut.npz").exists()
    assert len(list((tmp_path / "cut.npz.parts").glob("*.npz"))) == 2
    called = []
    model[7].register_forward_hook(lambda *_: called.append(1))
    outputs = nn.extract(model, loader()[0], tmp_path / "cut.npz", passes=4)
    assert len(called) == 6 * (1 + 4) + 1  # 12 batches less 6 that were done, and one to find the head
    assert not (tmp_path / "cut.npz.parts").exists()
    whole = abstain.read_outputs(tmp_path / "whole.npz")
    assert outputs.fingerprint == whole.fingerprint == abstain.read_outputs(tmp_path / "cut.npz").fingerprint
    passes = np.load(tmp_path / "cut.npz.passes.npy")
    assert passes.shape == (4, 23, 4)
    assert passes.dtype == np.float32
    np.testing.assert_array_equal(passes, np.load(tmp_path / "whole.npz.passes.npy"))


class Wrapped(tnn.Sequential):
    def forward(self, x):
        return {"logits": super().forward(x)}


def test_a_model_that_does_not_end_in_a_linear_layer():
    """Logits and labels only."""
    for last in (tnn.Softplus(), tnn.ReLU(inplace=True)):
        outputs = nn.extract(tnn.Sequential(tnn.Flatten(), tnn.Linear(128, 4), last), loader()[0])
        assert outputs.features is None
        assert outputs.head is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.mc_dropout(network(), pictures()), "no dropout layer"),
        (lambda: nn.mc_dropout(network(0.5), pictures(), 0), "passes must be at least 1"),
        (lambda: nn.ensemble_logits([], pictures()), "at least one member"),
        (lambda: nn.passes_confidence(torch.zeros(3, 2)), "n_passes, n_samples, n_classes"),
        (lambda: nn.odin(network(), pictures(), temperature=0), "temperature must be a finite number > 0"),
        (lambda: nn.gradnorm(network(), pictures(), parameters=lambda name: False), "needs one at least"),
        (lambda: nn.fit_gram(network(), [], [], n_classes=4, layers=["x"]), r"layers \['x'\] are not modules"),
        (lambda: nn.fit_gram(network(), [(pictures(), torch.arange(23) % 3)], [], n_classes=4), r"classes \[3\]"),
        (lambda: nn.fit_gram(network(), [(pictures(), torch.arange(23) % 4)], [], n_classes=4), "held_out holds no"),
        (lambda: nn.extract(network(), torch.utils.data.DataLoader(pictures(), shuffle=True)), "shuffle=False"),
        (lambda: nn.extract(network(), drawn_at_random()), "shuffle=False"),
        (lambda: nn.extract(network(), loader()[0], passes=2), "give path="),
        (lambda: nn.extract(network(), [(pictures(4), torch.tensor([0, 1, -1, -1]))]), "labels are -1 in 2 of 4 rows"),
        (lambda: nn.extract(network(), [(pictures(4), torch.arange(4)), pictures(4)]), "batch 1 has no labels, unlike"),
        (lambda: nn.extract(Wrapped(tnn.Linear(3, 2)), [torch.zeros(4, 3)]), "returned dict; wrap it in a module"),
    ],
)
def test_errors(call, message):
    """Wrong arguments are named with the remedy."""
    refused((ValueError, TypeError), message, call)
