"""Write one page per training recipe, made from the recipe itself."""

from __future__ import annotations

from pathlib import Path

from pages import before_reading, escaped, heading, list_table, write_all

from abstain.nn import train
from abstain.nn.train._recipes import _FOLDER, flat


def differences(name: str) -> list[tuple[str, str, str]]:
    """Return the settings that differ from plain cross-entropy: key, value, that of cross-entropy."""
    ours, plain = flat(train.recipe(name)), flat(train.recipe("ce"))
    words = ("name", "about", "source", "found")
    return [
        (f"``{key}``", f"``{value}``", f"``{plain[key]}``" if key in plain else "—")
        for key, value in ours.items()
        if key not in words and plain.get(key) != value
    ]


def facts(name: str) -> list[tuple[str, str]]:
    """Return what a reader wants to know first, as rows."""
    recipe = train.recipe(name)
    stages = [
        f"``{stage}``: {settings.epochs} epochs, {recipe.passes()[stage]:g} forward-backward passes per step"
        for stage, settings in recipe.stage.items()
    ]
    rows = [("Stages", "; ".join(stages)), ("Network", f"``{recipe.network.name}``, {recipe.network.head} head")]
    rows.append(("Source", escaped(recipe.source)))
    if recipe.grid:
        grid = [f"``{key}``: " + "; ".join(f"{data} {values}" for data, values in table.items())
                for key, table in recipe.grid.items()]  # fmt: skip
        rows.append(("Grid, chosen on the validation set", "; ".join(grid)))
    if recipe.found:
        rows.append(("Against cross-entropy", escaped(recipe.found)))
    return rows


def page(name: str) -> str:
    """Return the page of one recipe."""
    parts = [
        heading(name, "="),
        escaped(train.recipe(name).about) + ". :doc:`All recipes </nn/training>`.\n",
        list_table(None, facts(name), "24 76"),
        "Train it::\n",
        f"   abstain train {name} --data cifar100 -o study\n",
    ]
    text = (_FOLDER / f"{name}.toml").read_text(encoding="utf-8").rstrip()
    parts += [
        "Its file:\n",
        ".. code-block:: toml\n",
        "\n".join(f"   {line}".rstrip() for line in text.splitlines()),
        "",
    ]
    if rows := differences(name):
        parts += ["All in which it differs from ``ce``:\n", list_table(("Setting", name, "ce"), rows, "46 27 27")]
    return "\n".join(parts)


def generate(folder: Path) -> None:
    """Write all pages and their list into a folder."""
    pages = {f"{name}.rst": page(name) for name in train.names()}
    rows = [
        (f":doc:`{name} </nn/generated/{name}>`", " + ".join(f"{n:g}" for n in train.recipe(name).passes().values()),
         escaped(train.recipe(name).about))
        for name in train.names()
    ]  # fmt: skip
    listed = "\n".join(f"   {name}" for name in train.names())
    table = list_table(("Recipe", "Passes", "What it is"), rows, "22 12 66")
    pages["index.rst"] = "\n".join([heading("All recipes", "="), table, ".. toctree::\n   :hidden:\n", listed, ""])
    write_all(folder, pages)


setup = before_reading(nn=generate)
