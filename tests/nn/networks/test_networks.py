"""Networks: published sizes, dropout where FD-Shifts has it, and modules of others."""

import pytest
import torch

from abstain.nn import networks
from tests.processes import beside
from tests.refusal import refused


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("resnet18", 11_220_132), ("resnet34", 21_328_292), ("resnet50", 23_705_252), ("vgg11bn", 9_274_532),
        ("vgg16bn", 14_770_212), ("vgg19bn", 20_081_188), ("wideresnet28x10", 36_536_884),
    ],
)  # fmt: skip
def test_published_sizes(name, parameters):
    """Parameters for CIFAR-100 as published; logits and features of the right shape."""
    with torch.device("meta"):
        network = networks.build(name, (3, 32, 32), 100)
        assert network(torch.zeros(2, 3, 32, 32)).shape == (2, 100)
    assert networks.parameters(network) == parameters


@pytest.mark.parametrize("depth", [20, 56, 110, 164])
def test_depth_of_residual_networks_for_small_images(depth):
    """As many convolutions and linear layers as the name says, without short cuts; the last stage has 64 channels."""
    with torch.device("meta"):
        network = networks.build(f"resnet{depth}", (3, 32, 32), 10)
    counted = [name for name, part in network.named_modules() if isinstance(part, (torch.nn.Conv2d, torch.nn.Linear))]
    assert len([name for name in counted if ".short." not in name]) == depth
    assert network.n_features == 64 * (1 if depth == 20 else 4)


def test_networks_of_the_cwsa_paper():
    """Parameters of the authors' modules, written down layer by layer."""
    for name, shape, sizes in (
        ("cwsa_mnist", (1, 28, 28), [16 * 9 + 16, 16 * 13 * 13 * 64 + 64, 64 * 10 + 10]),
        ("cwsa_cifar10", (3, 32, 32), [32 * 27 + 32, 64 * 32 * 9 + 64, 64 * 8 * 8 * 256 + 256, 256 * 10 + 10]),
    ):
        assert networks.parameters(networks.build(name, shape, 10)) == sum(sizes)


def test_rates_and_places_of_dropout():
    """As FD-Shifts has them, counted; ResNet-50 for large images has the large stem."""

    def rates(name, size=32):
        with torch.device("meta"):
            network = networks.build(name, (3, size, size), 10, dropout=True)
        return [module.p for module in network.modules() if isinstance(module, torch.nn.Dropout)]

    assert rates("svhn_net") == [0.3] * 4
    assert rates("vgg13bn") == [0.3, 0.4, 0.4, 0.4, 0.4, 0.5, 0.5]
    assert rates("resnet50") == [0.1] * (1 + 2 * (4 + 6 + 3) + 1)
    with torch.device("meta"):
        large = networks.build("resnet50", (3, 224, 224), 10)
        assert large.body(torch.zeros(1, 3, 224, 224)).shape == (1, 2048)
    assert large.body[0].kernel_size == (7, 7)


def test_a_nested_last_layer_is_found():
    inner = torch.nn.Sequential(torch.nn.Linear(12, 6), torch.nn.ReLU(), torch.nn.Linear(6, 4))
    model, x = torch.nn.Sequential(torch.nn.Flatten(), inner), torch.rand(5, 3, 2, 2)
    before, network = model(x), networks.adapt(model, x)
    assert torch.equal(network(x), before)
    assert network.features(x).shape == (5, network.n_features) == (5, 6)


def test_errors():
    """Unknown, too small, not square, constant channel, missing library."""
    for arguments, message in (
        (("resnet19", (3, 32, 32), 10), "network='resnet19' is not known; did you mean 'resnet18'"),
        (("small", (3, 6, 6), 10), "images of 6 pixels are too small for small; it needs 7"),
        (("resnet18", (3, 32, 30), 10), "32 x 30, but resnet18 wants square ones"),
    ):
        refused(ValueError, message, networks.build, *arguments)
    refused(ValueError, "std must be positive", networks.Normalise, [0.5], [0.0])
    soft = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(dim=1))
    refused(ValueError, "does not end in a linear layer", networks.adapt, soft, torch.rand(2, 3))
    for library in ("timm", "torchvision"):
        try:
            __import__(library)
        except ImportError:
            with pytest.raises(ModuleNotFoundError, match=f"{library}:resnet18 needs {library}; pip install {library}"):
                networks.build(f"{library}:resnet18", (3, 32, 32), 10)


@pytest.mark.parametrize("name", ["timm:deit_tiny_patch16_224", "torchvision:resnet18"])
def test_models_of_other_libraries(name):
    """With random weights, where the library is installed: features, head, logits."""
    pytest.importorskip(name.split(":")[0])
    network = networks.build(name, (3, 224, 224), 10, mean=[0.5] * 3, std=[0.2] * 3).eval()
    x = torch.rand(1, 3, 224, 224)
    assert torch.allclose(network.head(network.features(x)), network(x))
    assert network(x).shape == (1, 10)


def gradients_of_narrow_shortcuts(send, layout):
    """Compare values and gradients of a convolution with 4 channels and stride 2 with those in double precision."""
    torch.set_num_threads(2)
    torch.manual_seed(0)
    network, held = networks.build("resnet20", (3, 32, 32), 10, width=4).to(memory_format=layout), []
    layer = next(
        each
        for each in network.modules()
        if getattr(each, "in_channels", 0) == 4 and each.stride == (2, 2) and each.kernel_size == (1, 1)
    )
    plain = torch.nn.Conv2d(4, 8, 1, 2, bias=False).double()
    plain.weight.data = layer.weight.data.double()
    for _ in range(15):
        x = torch.rand(7, 4, 32, 32).contiguous(memory_format=layout)
        layer.weight.grad = plain.weight.grad = None
        out, expected = layer(x), plain(x.double())
        out.square().sum().backward()
        expected.square().sum().backward()
        assert torch.allclose(out.double(), expected, rtol=1e-5, atol=1e-5)
        assert torch.allclose(layer.weight.grad.double(), plain.weight.grad, rtol=1e-4, atol=1e-3)
        held.append(torch.rand(int(torch.randint(1, 300, (1,)))))
    send("all are equal")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_narrow_shortcuts_keep_memory_and_values(layout):
    """Two threads, an odd batch: oneDNN writes past its memory here, which shows as an abort or as wrong values."""
    assert beside(gradients_of_narrow_shortcuts, layout)() == "all are equal"
