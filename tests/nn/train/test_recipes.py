"""Every recipe trains at smoke size and writes a study; settings are read, changed and explained."""

import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("lightning.pytorch")

import abstain
from abstain.nn import data, train
from abstain.nn.train import _recipes as recipes
from abstain.study import read_study
from tests.refusal import refused

pytestmark = pytest.mark.filterwarnings("ignore")

#: What makes a recipe small; each holds where the recipe has the setting.
SMALL = {
    "network.width": 4, "data.batch": 32, "epochs": 2, "pictures": 8, "warm_up": 1, "average.start": 1,
    "extract.passes": 3,
}  # fmt: skip
QUIET = {"enable_progress_bar": False, "accelerator": "cpu"}
TASK = data.task("synthetic:n=64,size=16")


def small(name):
    """A recipe at smoke size."""
    recipe = train.recipe(name)
    keys = recipes.flat(recipe)
    for key, value in SMALL.items():
        for full in [each for each in keys if each == key or each.endswith(f".{key}")]:
            if full.endswith("warm_up") and "objective" not in full:
                continue  # that of EMA is yes or no
            if full == "extract.passes" and not recipe.extract.passes:
                continue
            recipe = recipes.change(recipe, full, value)
    return recipe


#: Recipes of our own networks; the others need another library.
OWN = [name for name in train.names() if ":" not in train.recipe(name).network.name]


#: Those that share no term, step or stage; all train where slow tests run.
FEW = {"ce", "confidnet", "deep_gamblers", "devries", "finetune_aurc", "sure_plus"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in FEW else pytest.mark.slow) for name in OWN])
def test_every_recipe_trains(name, tmp_path):
    """Two epochs per stage on synthetic images: finite outputs of all sets, columns and head as declared."""
    run = train.fit(small(name), TASK, tmp_path, seed=1, **QUIET)
    study = read_study(tmp_path)
    assert [each.name for each in run.sets] == ["validation", "test", "train"]
    outputs = study.outputs(name, "seed1", "test")
    assert outputs.n == 58
    assert np.isfinite(outputs.logits).all()
    weights, bias = outputs.head
    assert outputs.features @ weights.T + bias == pytest.approx(outputs.logits, abs=1e-4)
    expected = {
        "deep_gamblers": {"reservation"},
        "confidnet": {"learned_confidence"},
        "devries": {"learned_confidence"},
    }
    assert set(outputs.scores) == expected.get(name, set())
    assert (outputs.passes is not None) == (name == "mc_dropout")
    assert 0.0 <= abstain.evaluate(outputs, ["msp"], ["augrc"]).measurements[0].value <= 0.5
    assert not (tmp_path / name / "seed1" / "checkpoints").exists()
    assert (tmp_path / name / "seed1" / "weights.pt").exists()


def test_every_recipe_has_a_source():
    assert all(each.about and each.source for each in map(train.recipe, train.names()))


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("sureplus", [], "recipe 'sureplus' is not known; did you mean 'sure_plus'"),
        ("ce", ["epoch=3"], "recipe 'ce' has no setting 'epoch'; did you mean .*'epochs'"),
        ("ce", ["epochs"], "setting 'epochs' cannot be read; write key=value"),
        ("ce", ["epochs=many"], "stage.main.epochs must be a whole number, got 'many'"),
        ("ce", ["kind=sam"], "setting 'kind' could be .*sharpness.kind or .*average.kind"),
        ("ce", ["sharpness.kind=sma"], "sharpness.kind='sma' is not known; did you mean 'sam'"),
        ("mixup", ["alpha=-1"], "alpha must be a finite number > 0, got -1.0"),
        ("mixup", ["crl=1.0"], "need the clean batch as a pass of its own; add terms.clean"),
        ("regmixup", ["crl=1.0"], "need the clean batch as a pass of its own; add terms.clean"),
        ("nowhere.toml", [], "nowhere.toml: no such file"),
        ('base = "ce"\n[stage.main]\nepocs = 3\n', [], "stage.main: setting 'epocs' is not known; did you mean 'epo"),
        ("[stage.main.terms.mixups]\n", [], "term 'mixups' is not known; did you mean 'mixup'"),
        ("epochs = = 3\n", [], "is no TOML"),
        ("sure", ["epochs=5"], r"average.start=120 lies beyond its 5 epochs.*set start=3"),
    ],
)
def test_errors_of_settings(name, changes, message, tmp_path):
    """Each names the place, the key, the value and what is known."""
    if "\n" in name:
        (tmp_path / "bad.toml").write_text(name)
        name = str(tmp_path / "bad.toml")
    bad = (ValueError, FileNotFoundError)
    refused(bad, message, lambda: train.fit(train.recipe(name, changes), TASK, tmp_path, **QUIET))


def test_recipes_of_ones_own(tmp_path):
    """A file that is based on a recipe lists what differs; false takes a term away."""
    file = tmp_path / "mine.toml"
    file.write_text('base = "sure_plus"\nabout = "mine"\n[stage.main]\nepochs = 7\n[stage.main.terms]\nmixup = false\n')
    recipe = train.recipe(str(file), ["network.width=16", "stage.main.sharpness.kind=sam"])
    assert (recipe.name, recipe.stage["main"].epochs, recipe.network.width) == ("mine", 7, 16)
    assert list(recipe.stage["main"].terms) == ["clean", "pixmix"]
    assert recipe.passes() == {"main": 4.0}


def test_a_plan_without_lightning_says_what_to_install(monkeypatch):
    """Before anything of a training is read: PyTorch alone is not enough."""
    monkeypatch.setattr("abstain._extras.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'training needs lightning: pip install ".*\[train\]"'):
        train.plan(train.recipe("ce", ["network.name=small", "epochs=1"]), TASK)
