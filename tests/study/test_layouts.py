"""Tables in the layouts of the papers: from printed numbers, from outputs, and level by level."""

import itertools
import json
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from pylatexenc.latexwalker import LatexWalker

import abstain
from abstain import study
from tests.imports import ROOT
from tests.refusal import refused
from tests.study.test_evaluate import outputs

PRINTED = ROOT / "experiments" / "claims" / "printed"


def printed(name):
    """Return a file of printed numbers."""
    return json.loads((PRINTED / f"{name}.json").read_text(encoding="utf-8"))


def grid(table, places=None):
    """Return a printed table as a grid."""
    heads = [
        study.Head(" ".join(str(c[k]) for k in ("metric", "objective", "ood_score", "group") if c.get(k)),
                   c.get("better", ""), c.get("data", ""), places)
        for c in table["columns"]
    ]  # fmt: skip
    spreads = table.get("standard_deviation") or {}
    known = {name: [np.nan if each is None else each for each in row] for name, row in spreads.items()}
    return study.Grid(heads, table["rows"], known)


def augrc_grid():
    """Return Table 3 of the AUGRC paper."""
    table = printed("augrc")
    heads = [
        study.Head(" ".join(filter(None, (c["shift"], c["new_class_set"]))), "lower", c["train"])
        for c in table["columns"]
    ]
    return study.Grid(heads, table["table3_augrc_x1000"])


def test_ranks_of_the_augrc_paper():
    """Of the printed Table 3: those of Table 4 in 252 of 252 cells for the twelve scores that both tables have."""
    table = printed("augrc")
    upper = table["table4_upper_hparams_tuned_per_metric"]
    shared = [name for name in table["table3_augrc_x1000"] if name in upper]
    ranks = augrc_grid().only(shared).ranks()
    others = [name for name in upper if name not in shared]
    assert len(shared) == 12
    for j in range(21):  # ranks among twelve: the thirteenth of Table 4 is another score and has to leave its list
        left = [upper[name]["augrc_rank"][j] for name in shared]
        among = [1 + sum(other < own for other in left) for own in left]
        assert [ranks[name][j] for name in shared] == among
    assert others == ["MCD-EE"]


def test_rank_changes_of_the_augrc_paper():
    """Table 4 with both rankings in one cell: 128 of 273 differ, 103 with equal tuning, as counted in the ledger."""
    table = printed("augrc")
    heads = augrc_grid().heads
    for half, n in (("table4_upper_hparams_tuned_per_metric", 128), ("table4_lower_hparams_tuned_on_augrc", 103)):
        rows = table[half]
        one, two = ({name: row[key] for name, row in rows.items()} for key in ("aurc_rank", "augrc_rank"))
        made = study.rank_changes(heads, one, two, ("AURC", "AUGRC"))
        assert f"{n} of 273 differ" in made.notes[0]
        assert sum("→" in cell for row in made.rows for cell in row[1:]) == n


@pytest.mark.parametrize("number", range(1, 6))
def test_tables_of_the_joint_paper(number):
    """The best five of each printed column are marked, by the column's own direction, ties alike."""
    table = printed("joint")[f"table{number}"]
    found = grid(table, 2)
    shown = found.table(ranks=5).shown()
    ranks = found.ranks()
    for (i, name), (j, column) in product(enumerate(table["rows"]), enumerate(table["columns"])):
        order = sorted((row[j] for row in table["rows"].values()), reverse=column["better"] == "higher")
        rank = 1 + order.index(table["rows"][name][j])
        assert ranks[name][j] == rank
        assert shown[i][j + 1].rank == (rank if rank <= 5 else 0)


def test_table_of_the_estimators_paper():
    """The best objective of each network and data set is marked, across the row: SELE on 4 of 6 for CIFAR-10."""
    table = printed("estimators")["table1"]
    found = grid(table, 3)
    shown = found.table(across=True).shown()
    best = [[j for j in range(8) if row[j + 1].rank == 1] for row in shown]
    objectives = [[table["columns"][j]["objective"] for j in row if j < 4] for row in best]
    assert sum(names == ["SELE"] for names in objectives) == 4
    assert "best of its row" in str(found.table(across=True))


@pytest.fixture
def tuned(tmp_path):
    """Return a study as ``abstain train`` leaves it: networks that were fine-tuned, and what they began with."""

    def settings(network, stages):
        return {"network": {"name": network, "width": 0, "head": "linear"},
                "stage": {name: {"objective": objective, "crl": objective.get("crl", 0.0)}
                          for name, objective in stages.items()}}  # fmt: skip

    made = {"before": {}, "own": {"name": "sele", "unit_mean": True}, "raw": {"name": "sele", "unit_mean": False},
            "ce": {"name": "ce"}, "log": {"name": "aurc", "estimator": "log"},
            "harmonic": {"name": "aurc", "estimator": "harmonic"}, "crl": {"name": "ce", "crl": 1.0}}  # fmt: skip
    for number, (data, network, name, seed) in enumerate(itertools.product("ab", ("small", "large"), made, (0, 1))):
        stages = {"main": {"name": "ce"}} | ({"tune": made[name]} if made[name] else {})
        study.add_outputs(tmp_path, outputs(number, 150), model=f"{data}-{network}-{name}", run=f"seed{seed}",
                          set="test", data=data, settings=settings(network, stages))  # fmt: skip
    return tmp_path


def test_table_of_the_estimators_paper_from_a_study(tuned, do):
    """Networks by data and objective from manifest and results alone: means and deviations of the runs."""
    results = study.evaluate(tuned, ["one"], ["aurc"], level=None)
    found = study.by_objective(results)
    order = ["cross-entropy", "SELE", "harmonic", "log", "SELE (raw)", "cross-entropy + CRL"]
    assert [(head.group, head.title) for head in found.heads] == [(data, name) for data in "ab" for name in order]
    assert list(found.values) == ["small", "large"]
    values = {(row["model"], row["run"]): row["value"] for row in results.numbers}
    for j, (data, name) in enumerate(itertools.product("ab", ("ce", "own", "harmonic", "log", "raw", "crl"))):
        for network in ("small", "large"):
            pair = [values[f"{data}-{network}-{name}", f"seed{seed}"] for seed in (0, 1)]
            assert found.values[network][j] == pytest.approx(np.mean(pair))
            assert found.spreads[network][j] == pytest.approx(np.std(pair, ddof=1))
    assert "left out: a-small-before, a-large-before" in found.said[2]
    printed = do(f"study tables {tuned} --layout estimators --scores one --form latex").out
    LatexWalker(printed).get_latex_nodes()
    assert printed.count("\\textbf") == 4  # the best of two networks on two data sets


def test_objectives_that_cannot_be_told(tuned, folder):
    """Two models in one cell, and runs that say nothing of their training."""
    study.add_outputs(tuned, outputs(9, 150), model="again", set="test", data="a",
                      settings={"network": "small", "stage": {"tune": {"objective": "sele"}}})  # fmt: skip
    with pytest.raises(ValueError, match=r"'a-small-own' and 'again' are both small on SELE.*choose one by models="):
        study.by_objective(study.evaluate(tuned, ["one"], ["aurc"], level=None))
    with pytest.raises(ValueError, match="no run of one has the settings network and objective"):
        study.by_objective(study.evaluate(folder, ["one"], ["aurc"], level=None))


def test_sweep_in_the_layout_of_the_cwsa_paper(do):
    """The heading names the denominator, and dividing by all rows multiplies CWSA by the coverage; also by command."""
    made = abstain.datasets.synthetic("calibrated", 1000, 0)
    loss, confidence = made.loss_per_sample(), np.asarray(made.confidence)
    taus = [float(tau) for tau in printed("cwsa")["table1"]["rows"]]
    one, two = (
        study.sweep(abstain.cwsa_sweep(loss, confidence, taus, denominator=name), denominator=name)
        for name in ("accepted", "all")
    )
    assert one.heads[1].title == "CWSA (by accepted)"
    assert two.heads[1].title == "CWSA (by all)"
    for name, row in one.values.items():
        assert two.values[name][1] == pytest.approx(row[1] * row[3])
    abstain.write_outputs(made, "made.npz")
    said = do("evaluate made.npz --metrics augrc --level 0 --sweep paper --denominator all").out
    assert "accepted" in said
    assert f"{two.values['0.9000'][1]:.4f}" in said
    do("evaluate made.npz --metrics augrc --level 0 --sweep high", 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a study of two models on two data sets with corruptions and new classes."""
    path = tmp_path_factory.mktemp("study")
    for data, model, seed in itertools.product(("a", "b"), ("ce", "mc"), (0, 1)):
        start = 10 * (model == "mc") + 5 * (data == "b") + seed
        for k, name in enumerate(("validation", "test", "corruption-1", "corruption-2")):
            study.add_outputs(path, outputs(start + 100 * k, 150), model=f"{model}_{data}", run=f"seed{seed}", set=name,
                              data=data)  # fmt: skip
        for name, semantic in (("near-ood", True), ("far-ood", False)):
            ood = replace(outputs(start, 100), labels=None, unlabelled=True)
            study.add_outputs(path, ood, model=f"{model}_{data}", run=f"seed{seed}", set=name, data=data,
                              shift={"kind": "new-class", "semantic": semantic})  # fmt: skip
    return path


def test_columns_of_a_study(folder):
    """Data sets x shifts; 'cor' is the mean over levels of the means over runs; validation is no column."""
    results = study.evaluate(folder, ["one"], ["augrc", "aurc"], level=None)
    found = results.grid("augrc")
    titles = ["iid", "cor", "s-ncs near-ood", "ns-ncs far-ood"]
    assert [(head.group, head.title) for head in found.heads] == [(data, name) for data in "ab" for name in titles]
    levels = [results.means("augrc")[k].value for k in range(len(results.means("augrc")))]
    names = [(each.model, each.set) for each in results.means("augrc")]
    expected = np.mean([levels[names.index(("ce_a", f"corruption-{k}"))] for k in (1, 2)])
    assert found.values["ce_a"][1] == pytest.approx(expected)
    changes = results.grid("aurc").changes(found)
    LatexWalker(changes.to_latex()).get_latex_nodes()
    assert changes.to_markdown().count("\n") >= 6


def test_tables_by_command(folder, do):
    """Heat and ranks from stored units, joint layouts with the FPR that was asked for in the heading."""
    tables = f"study tables {folder} --models ce_a,mc_a"
    assert "\\cellcolor[HTML]" in do(f"{tables} --layout heat --scores one,two --form latex").out
    assert "rank by aurc → rank by augrc" in do(f"{tables} --layout ranks --scores one,two").text
    options = "--layout reliability --scores msp --form markdown"
    printed = {fpr: do(f"{tables} {options} --fpr {fpr}").out for fpr in ("id", "ood")}
    heads = {
        fpr: next(line for line in text.splitlines() if line.startswith("| Model")) for fpr, text in printed.items()
    }
    assert "ECE" in heads["id"]
    assert heads["id"] != heads["ood"]
    found = study.protocol(folder, ["msp"], models=["ce_a"])
    for fpr, metric in (("id", "fpr_at_id_recall95"), ("ood", "fpr_at_ood_recall95")):
        row = found.table("reliability", fpr=fpr).rows[0]
        values = [cell.value for cell in row[1:]]
        assert found.mean(metric, group="near")[0] in values
    refused(ValueError, "pass_msp is judged on the predictions of the passes", study.protocol, folder, ["pass_msp"])


def filled(folder, levels, model="ce", runs=(0,)):
    """A study with a test set and corrupted sets, each with losses of its own."""
    for run, (name, level) in product(runs, (("test", None), *((f"fog-{level}", level) for level in levels))):
        rng = np.random.default_rng([run, level or 0])
        logits = rng.normal(size=(120, 3))
        labels = np.where(rng.random(120) < 0.1 * (level or 0), rng.integers(3, size=120), logits.argmax(axis=1))
        more = {} if level is None else {"role": "shift", "shift": {"kind": "corruption", "level": level}}
        study.add_outputs(folder, abstain.Outputs(labels=labels, logits=logits), model=model, run=f"seed{run}",
                          set=name, **more)  # fmt: skip


def test_mean_of_the_metric_at_each_level(tmp_path):
    """Levels in order of their number, runs averaged first; the mean is of the levels, and is the column 'cor'."""
    filled(tmp_path, (10, 2, 1), runs=(0, 1))
    results = study.evaluate(tmp_path, ["msp"], ["augrc", "accuracy"])
    grid = study.levels(results, "augrc")
    assert [head.title for head in grid.heads] == ["iid", "level 1", "level 2", "level 10", "mean"]
    row = grid.values["ce msp"]
    assert row[-1] == pytest.approx(np.mean(row[1:4]))
    cor = results.grid("augrc")
    assert row[-1] == pytest.approx(cor.values["msp"][[head.title for head in cor.heads].index("cor")])
    by_hand = [
        abstain.augrc(outputs.error, abstain.scores.compute("msp", outputs))
        for outputs in (study.read_study(tmp_path).outputs("ce", f"seed{run}", "fog-2") for run in (0, 1))
    ]
    assert row[2] == pytest.approx(np.mean(by_hand))
    assert study.levels(results, "accuracy").heads[0].direction == "higher"


def test_a_missing_level_leaves_no_mean(tmp_path):
    """One model lacks a level: its mean is not that of the others."""
    filled(tmp_path, (1, 2))
    filled(tmp_path, (1,), model="other")
    grid = study.levels(study.evaluate(tmp_path, ["msp"], ["augrc"]))
    assert math.isnan(grid.values["other msp"][-1])
    assert not math.isnan(grid.values["ce msp"][-1])


def test_without_corruption_the_remedy_is_named(tmp_path):
    """A study of a test set only."""
    filled(tmp_path, ())
    with pytest.raises(ValueError, match="abstain train --corruptions all"):
        study.levels(study.evaluate(tmp_path, ["msp"], ["augrc"]))
