"""Tables in the layouts of the papers: from printed numbers, from outputs, and level by level."""

import itertools
import json
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

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
    made = study.rank_changes(heads[:3], {"a": [1, 0, 2]}, {"a": [1, 3, 1]}, ("AURC", "AUGRC"))
    assert made.rows == [("a", "1", "—", "2 → 1")]
    assert "; 1 of 2 differ" in made.notes[0]
    refused(ValueError, "row='MRS' is not known; did you mean 'MSR'", augrc_grid().only, ["MRS"])


def test_headings_name_the_group_where_there_are_several():
    """Also of ranks; grids of other rows, or of other columns, have no changes of ranks."""
    whole = augrc_grid()
    two = study.Grid(whole.heads[:4], {name: row[:4] for name, row in whole.values.items()})
    one = two.only(group="BREEDS")
    assert one.heads == two.heads[2:]
    for grid_, named in ((two, ["iWildCam iid", "iWildCam sub", "BREEDS iid", "BREEDS sub"]), (one, ["iid", "sub"])):
        assert [each.removesuffix(" ↓") for each in grid_.table().headings()[1:]] == named
        assert grid_.changes(grid_).headings()[1:] == named
    for other in (one, two.only(["MSR"])):
        refused(ValueError, "the grids have other rows or columns", two.changes, other)


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


def test_sweep_in_the_layout_of_the_cwsa_paper(do):
    """The heading names the denominator, and dividing by all rows multiplies CWSA by the coverage; also by command."""
    made = abstain.datasets.synthetic("calibrated", 1000, 0)
    given = made.loss_per_sample(), made.confidence, [float(tau) for tau in printed("cwsa")["table1"]["rows"]]
    one, two = (
        study.sweep(abstain.cwsa_sweep(*given, denominator=name), denominator=name) for name in ("accepted", "all")
    )
    assert [each.heads[1].title for each in (one, two)] == ["CWSA (by accepted)", "CWSA (by all)"]
    for name, row in one.values.items():
        assert two.values[name][1] == pytest.approx(row[1] * row[3])
    abstain.write_outputs(made, "made.npz")
    said = do("evaluate made.npz --metrics augrc --level 0 --sweep paper --denominator all").out
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


def test_tables_by_command(folder, do):
    """Heat and ranks from stored units, joint layouts with the FPR that was asked for."""
    tables = f"study tables {folder} --models ce_a,mc_a"
    assert "\\cellcolor[HTML]" in do(f"{tables} --layout heat --scores one,two --form latex").out
    assert "rank by aurc → rank by augrc" in do(f"{tables} --layout ranks --scores one,two").text
    options = "--layout reliability --scores msp --form markdown"
    found = study.protocol(folder, ["msp"], models=["ce_a"])
    for fpr in ("id", "ood"):
        assert "ECE" in do(f"{tables} {options} --fpr {fpr}").out
        values = [cell.value for cell in found.table("reliability", fpr=fpr).rows[0][1:]]
        assert found.mean(f"fpr_at_{fpr}_recall95", group="near")[0] in values
    refused(ValueError, "pass_msp is judged on the predictions of the passes", study.protocol, folder, ["pass_msp"])


def test_mean_of_the_metric_at_each_level(tmp_path):
    """Levels in order of their number, runs averaged first; the mean is of the levels, if none is missing."""

    def add(level, model, run):
        rng = np.random.default_rng([run, level])
        logits = rng.normal(size=(120, 3))
        labels = np.where(rng.random(120) < 0.1 * level, rng.integers(3, size=120), logits.argmax(axis=1))
        about = {"role": "shift", "shift": {"kind": "corruption", "level": level}} if level else {}
        made = abstain.Outputs(labels=labels, logits=logits)
        study.add_outputs(
            tmp_path, made, model=model, run=f"seed{run}", set=f"fog-{level}" if level else "test", **about
        )
        return abstain.augrc(made.error, abstain.scores.compute("msp", made))

    add(0, "ce", 0)
    with pytest.raises(ValueError, match="abstain train --corruptions all"):
        study.levels(study.evaluate(tmp_path, ["msp"], ["augrc"]))
    by_hand = [np.mean([add(level, "ce", run) for run in (0, 1)]) for level in (0, 1, 2, 10)]
    for level in (0, 1):
        add(level, "other", 0)
    results = study.evaluate(tmp_path, ["msp"], ["augrc", "accuracy"])
    found = study.levels(results, "augrc")
    assert [head.title for head in found.heads] == ["iid", "level 1", "level 2", "level 10", "mean"]
    assert found.values["ce msp"] == pytest.approx([*by_hand, np.mean(by_hand[1:])])
    assert math.isnan(found.values["other msp"][-1])
    assert results.only(model="other", set="test").grid("augrc").title == "AUGRC ↓"  # one number alone
    cor = results.only(model="ce").grid("augrc")
    assert cor.values["msp"][[head.title for head in cor.heads].index("cor")] == pytest.approx(np.mean(by_hand[1:]))
    assert study.levels(results, "accuracy").heads[0].direction == "higher"
