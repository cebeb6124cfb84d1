"""What a training draws and costs, by hand; the weights that are kept; ConfidNet's stages."""

import types
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lightning = pytest.importorskip("lightning.pytorch")

from abstain.nn import data, train
from abstain.nn.train import _stage as module
from abstain.study import read_study
from tests.refusal import refused

pytestmark = pytest.mark.filterwarnings("ignore")
QUIET = {"enable_progress_bar": False, "accelerator": "cpu"}


@pytest.mark.parametrize(
    ("name", "changes", "held"),
    [
        ("ce", ["extract.train=false"], 3), ("ce", ["average.kind=ema", "data.batch=1000"], 4),
        ("sure_plus", ["extract.odin=true", "extract.gram=true"], 5), ("mc_dropout", ["passes=3"], 3),
    ],
)  # fmt: skip
def test_a_plan_adds_up(name, changes, held, task, tiny):
    """Steps of whole batches; time of passes and of extraction, a third each; copies of the weights; bytes per row."""
    recipe = tiny(name, *changes)
    plan = train.plan(recipe, task)
    learner = train._run.learner_of(recipe, task, 0)
    numbers = sum(each.numel() for each in learner.parameters())
    batch = min(recipe.data.batch, 64)
    assert plan.parameters == numbers
    assert plan.steps == {"main": 3 * (64 // batch)}
    extract, classes, features = recipe.extract, 4, learner.network.n_features
    rows = sum(each.n for each in task.sets) + (64 if extract.train else 0)
    forwards = 1 + extract.passes + 3 * (extract.odin + extract.gram)
    passes = plan.steps["main"] * plan.passes["main"] + rows / batch * forwards / 3
    assert plan.seconds == pytest.approx(passes * plan.pass_seconds)
    assert plan.checkpoint_bytes == 4 * held * numbers
    each = 8 * (classes + 1) + 4 * features + 4 * extract.passes * classes
    assert plan.output_bytes == 4 * numbers + rows * each


def test_a_disk_must_hold_both(task, tiny, tmp_path, monkeypatch):
    """Checkpoints and outputs together, to the byte, on the nearest folder that is there."""
    plan = train.plan(tiny("ce"), task)
    need, asked = plan.checkpoint_bytes + plan.output_bytes, []
    for free in (need, need - 1):
        usage = lambda place, free=free: (asked.append(Path(place)), types.SimpleNamespace(free=free))[1]  # noqa: E731
        monkeypatch.setattr("shutil.disk_usage", usage)
        if free == need:
            plan.check_disk(tmp_path / "a" / "b")
        else:
            refused(OSError, "GB are free; free some space", lambda: plan.check_disk(tmp_path / "a" / "b"))
    assert asked == [tmp_path, tmp_path]


@pytest.mark.parametrize("changes", [[], ["crop=0"], ["flip=false"], ["crop=0", "flip=false"], ["cutout_chance=1.0"]])
def test_batches_are_cropped_flipped_and_cut(changes):
    """Image by image: padded by black, a window of it, mirrored by half; a grey square around any pixel, clipped."""
    settings = train.recipe("ce", ["crop=2", "cutout=4", *changes]).data
    pixels = torch.randint(256, (9, 3, 8, 6), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    found = module.augmented(pixels, settings, np.random.default_rng(1)).numpy()
    rng, x = np.random.default_rng(1), pixels.numpy() / 255.0
    if settings.crop or settings.flip:
        pad = settings.crop
        top, left = rng.integers(2 * pad + 1, size=9), rng.integers(2 * pad + 1, size=9)
        mirrored = rng.random(9) < 0.5 * settings.flip
        padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        x = np.stack([one[:, t : t + 8, s : s + 6] for one, t, s in zip(padded, top, left, strict=True)])
        x[mirrored] = x[mirrored][..., ::-1]
    row, column, cut = rng.integers(8, size=9), rng.integers(6, size=9), rng.random(9) < settings.cutout_chance
    grey = x.mean(axis=(0, 2, 3))
    for k in np.flatnonzero(cut):
        inside = (slice(max(row[k] - 2, 0), row[k] + 2), slice(max(column[k] - 2, 0), column[k] + 2))
        for channel in range(3):
            x[k, channel][inside] = grey[channel]
    np.testing.assert_allclose(found, x, atol=1e-6)


def test_an_epoch_has_its_order_and_processes_share_its_batches():
    """A permutation by seed, stage and epoch, in whole batches; every second row of each for one of two processes."""
    parts = [module.Order(23, 6, (4, 1), rank, 2) for rank in (0, 1)]
    for epoch in (0, 3):
        for part in parts:
            part.set_epoch(epoch)
        order = np.random.default_rng([4, 1, epoch]).permutation(23)
        batches = [list(part) for part in parts]
        assert len(parts[0]) == len(batches[0]) == 3
        for k in range(3):
            assert [batches[rank][k].tolist() for rank in (0, 1)] == [
                order[6 * k + rank : 6 * k + 6 : 2].tolist() for rank in (0, 1)
            ]
    refused(ValueError, "batch=6 cannot be shared by 4 processes", module.Order, 23, 6, (4, 1), 0, 4)


# ---------------------------------------------------------------------- images


@pytest.mark.parametrize(("wide", "high", "resize"), [(30, 20, 10), (20, 33, 11), (30, 20, 6), (8, 8, 12), (16, 9, 9)])
@pytest.mark.parametrize("channels", [1, 3])
def test_files_are_resized_and_cut_in_the_centre(tmp_path, wide, high, resize, channels):
    """The shorter side, to at least the size that is cut; an image of that size stays as it is."""
    image = pytest.importorskip("PIL.Image")
    values = np.random.default_rng(0).integers(0, 256, (high, wide, 3), dtype=np.uint8)
    image.fromarray(values).save(tmp_path / "a.png")
    picture = image.fromarray(values).convert("RGB" if channels == 3 else "L")
    if (wide, high) != (8, 8):
        w, h = (max(round(side * resize / min(wide, high)), 8) for side in (wide, high))
        left, top = (w - 8) // 2, (h - 8) // 2
        box = (left, top, left + 8, top + 8)
        picture = picture.resize((w, h), image.Resampling.BILINEAR).crop(box)
    expected = np.asarray(picture).reshape(8, 8, channels).transpose(2, 0, 1)
    found = data.Files([tmp_path / "a.png"], 8, resize, channels)[torch.tensor([0])]
    np.testing.assert_array_equal(found[0], expected)


@pytest.mark.parametrize("statistics", ["id", "own"])
def test_other_data_in_the_form_of_a_model(statistics):
    """Channels averaged, resized, and by their own statistics moved and scaled to those of the training images."""
    g = torch.Generator().manual_seed(0)
    like = data.Images(torch.randint(40, 200, (30, 3, 8, 6), dtype=torch.uint8, generator=g), torch.arange(30) % 2)
    other = data.Images(torch.randint(90, 120, (20, 1, 16, 10), dtype=torch.uint8, generator=g), torch.zeros(20).long())
    found = data.ood(other, like, statistics)
    x = other.pixels.float().expand(-1, 3, -1, -1)
    x = torch.nn.functional.interpolate(x, size=(8, 6), mode="bilinear", antialias=True).numpy()
    if statistics == "own":
        for k in range(3):
            goal = like.pixels[:, k].double().numpy()
            x[:, k] = (x[:, k] - x[:, k].mean()) / x[:, k].std(ddof=1) * goal.std(ddof=1) + goal.mean()
    np.testing.assert_array_equal(found.pixels, np.clip(np.round(x), 0, 255).astype(np.uint8))
    flat = data.ood(data.Images(torch.full((4, 3, 8, 6), 7, dtype=torch.uint8), torch.zeros(4).long()), like, "own")
    assert torch.equal(flat.pixels[0, :, 0, 0], like.pixels.float().mean(dim=(0, 2, 3)).round().byte())


def accuracy(folder, name):
    """Accuracy on the validation set, from the saved outputs."""
    return 1.0 - float(np.mean(read_study(folder).outputs(name, "seed0", "validation").error))


@pytest.mark.parametrize("changes", [[], ["main.average.kind=ema", "main.average.tau=0.9"]])
def test_the_best_epoch_is_the_best_of_trainings_of_each_length(changes, task, tiny, tmp_path):
    """At a constant rate, a training of k epochs is the beginning of a longer one; the first of equals is kept."""
    shared, found = [*changes, "main.rate=0.3", "main.schedule=constant"], {}
    for epochs in (1, 2, 3, 4):
        train.fit(tiny("ce", *shared, f"epochs={epochs}"), task, tmp_path / str(epochs), **QUIET)
        found[epochs] = accuracy(tmp_path / str(epochs), "ce")
    train.fit(tiny("ce", *shared, "epochs=4", "keep=best"), task, tmp_path / "best", **QUIET)
    best = min(found, key=lambda epochs: (-found[epochs], epochs))
    one, two = (
        torch.load(tmp_path / str(which) / "ce/seed0/weights.pt", weights_only=True) for which in (best, "best")
    )
    assert all(torch.equal(one[key], two[key]) for key in one)
    assert "most accurate on the validation set" in read_study(tmp_path / "best").runs[0].notes[-1]
    refused(ValueError, "does not change; keep last", train.recipe, "confidnet", ["stage.confidence.keep=best"])


def test_a_later_setting_leaves_finished_runs_finished(task, tiny, tmp_path):
    """A manifest without a setting of today counts as its default; with another value it is another training."""
    import json

    recipe, said = tiny("ce", "epochs=1"), []
    train.fit(recipe, task, tmp_path, **QUIET)
    manifest = tmp_path / "study.json"
    table = json.loads(manifest.read_text(encoding="utf-8"))
    assert table["runs"][0]["settings"]["stage"]["main"].pop("keep") == "last"
    manifest.write_text(json.dumps(table), encoding="utf-8")
    train.fit(recipe, task, tmp_path, say=said.append, **QUIET)
    assert said == ["ce/seed0: is finished already"]
    with pytest.raises(ValueError, match="other settings"):
        train.fit(tiny("ce", "epochs=1", "keep=best"), task, tmp_path, **QUIET)


@pytest.mark.parametrize("dropped", [True, False])
def test_dropout_of_the_frozen_network_while_the_branch_is_trained(dropped, task, tiny, tmp_path):
    """On in that stage where the recipe says so, as in FD-Shifts; never in the last stage; batch norm stands still."""
    change = [] if dropped else ["stage.confidence.body_dropout=false"]
    recipe = tiny("confidnet", "network.name=vgg13bn", "network.dropout=true", "copy.rate=0.01", "epochs=1", *change)
    assert {stage.clip for stage in recipe.stage.values()} == {1.0}
    seen = []

    class Look(lightning.Callback):
        def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
            parts = list(pl_module.learner.network.modules())
            kinds = (torch.nn.Dropout, torch.nn.BatchNorm2d)
            seen.append([{part.training for part in parts if isinstance(part, kind)} for kind in kinds])

    train.fit(recipe, task, tmp_path, callbacks=[Look()], **QUIET)
    stages = [seen[0], seen[len(seen) // 2], seen[-1]]
    assert stages == [[{True}, {True}], [{dropped}, {False}], [{False}, {False}]]
    kept = torch.load(tmp_path / "confidnet/seed0/weights.pt", weights_only=True)
    moved = [key for key in kept if key.startswith("body.") and not torch.equal(kept[key], kept[f"network.{key}"])]
    assert moved  # the copy has learnt; its statistics stay those of the network
    assert not any("running" in key for key in moved)
