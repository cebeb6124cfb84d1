"""A small training for every test of the loop."""

import pytest

from abstain.nn import data, train


@pytest.fixture(scope="session")
def task():
    """Synthetic images."""
    return data.task("synthetic:n=64,size=12")


@pytest.fixture(scope="session")
def tiny():
    """A recipe by name on a network that trains in a moment, three epochs per stage."""

    def make(name, *changes):
        base = ["network.name=small", "network.width=4", "data.batch=16", "epochs=3"]
        recipe = train.recipe(name)
        if "pixmix" in recipe.stage["main"].terms:
            base.append("pixmix.pictures=8")
        if recipe.stage["main"].average.kind == "swa":
            base.append("average.start=1")
        return train.recipe(name, [*base, *changes])

    return make
