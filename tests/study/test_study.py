"""Studies: the manifest goes round, is refused where it cannot be read, and several processes may add to it."""

from dataclasses import replace

import numpy as np
import pytest

import abstain
from abstain.study import Run, SavedSet, add_run, init_study, join_new_class, read_study
from tests.processes import beside
from tests.refusal import refused

RUN = Run(
    "ce", "seed0", "toy", 0,
    (SavedSet("test", "test", 4), SavedSet("far", "ood", 3, {"kind": "new-class", "semantic": False})),
    "ce", {"epochs": 3}, {"odin": {"judged_on": "logits"}}, {"validation": "10 of 50"}, {"abstain": "0"}, ("a note",),
)  # fmt: skip


def saved(folder, run=RUN):
    """Write the outputs of a run."""
    rng = np.random.default_rng(0)
    (folder / run.folder).mkdir(parents=True, exist_ok=True)
    test = abstain.Outputs(labels=[0, 1, 1, 0], logits=rng.normal(size=(4, 2)), scores={"odin": rng.normal(size=4)})
    far = abstain.Outputs(logits=rng.normal(size=(3, 2)), scores={"odin": rng.normal(size=3)}, unlabelled=True)
    abstain.write_outputs(test, folder / run.folder / "test.npz")
    abstain.write_outputs(far, folder / run.folder / "far.npz")
    return test, far


def test_round_trip(tmp_path):
    """What was entered is read; outputs too, OOD ones without labels; a run takes the place of its elder."""
    refused(FileNotFoundError, r"test.npz: is not there; write the outputs before", add_run, tmp_path, RUN)
    assert not (tmp_path / "study.json").exists()
    test, _ = saved(tmp_path)
    add_run(tmp_path, RUN)
    study = read_study(tmp_path / "study.json")
    assert study.runs == (RUN,)
    assert study.outputs("ce", "seed0", "test").fingerprint == test.fingerprint
    assert study.outputs("ce", "seed0", "far").labels is None
    add_run(tmp_path, replace(RUN, notes=("newer",)))
    assert [run.notes for run in read_study(tmp_path).runs] == [("newer",)]
    other = replace(RUN, model="sure")
    saved(tmp_path, other)
    add_run(tmp_path, other)
    assert read_study(tmp_path).models() == ["ce", "sure"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON"),
        ('{"schema": "abstain.study/9", "runs": []}', "schema 'abstain.study/9' is not 'abstain.study/1'"),
        ("[]", "schema 'list' is not"),
        ('{"schema": "abstain.study/1", "runs": [{"model": "a"}]}', "a run cannot be read"),
        ('{"schema": "abstain.study/1", "runs": 3}', "a run cannot be read"),
    ],
)
def test_manifests_that_cannot_be_read(text, message, tmp_path):
    (tmp_path / "study.json").write_text(text, encoding="utf-8")
    refused(ValueError, message, read_study, tmp_path)


def test_names_and_rows_are_checked(tmp_path):
    """No path in a name, no set twice, no unknown role; rows as declared."""
    for make, message in (
        (lambda: SavedSet("../x", "test", 1), "set '../x' is no file name"),
        (lambda: SavedSet("x", "tset", 1), "role='tset' is not known; did you mean 'test'"),
        (lambda: replace(RUN, sets=(RUN.sets[0], RUN.sets[0])), "two sets named 'test'"),
    ):
        refused(ValueError, message, make)
    saved(tmp_path)
    add_run(tmp_path, replace(RUN, sets=(SavedSet("test", "test", 5),)))
    for run, name, message in (
        ("seed0", "test", r"has 4 rows, but study.json says 5"),
        ("seed1", "test", "run='ce/seed1' is not known; did you mean 'ce/seed0'"),
        ("seed0", "text", "set='text' is not known; did you mean 'test'"),
    ):
        refused(ValueError, message, read_study(tmp_path).outputs, "ce", run, name)


def enter(send, folder, model):
    """Enter five runs of a model."""
    for number in range(5):
        add_run(folder, Run(f"model{model}", f"seed{number}", "toy", number, ()))
    send(model)


def test_processes_that_add_at_the_same_time(tmp_path):
    """Four processes enter five runs each: none is lost."""
    started = [beside(enter, tmp_path, each) for each in range(4)]
    assert [ended() for ended in started] == [0, 1, 2, 3]
    assert len(read_study(tmp_path).runs) == 20
    assert not (tmp_path / ".study.lock").exists()


def test_the_former_role_of_ood_sets_is_read_and_warned_of(tmp_path):
    """Version 0.2.0 called it foreign: in manifests silently, as an argument with a warning."""
    outputs = abstain.Outputs(logits=[[1.0, 0.0]], unlabelled=True)
    with pytest.warns(FutureWarning, match="the role 'foreign' is now 'ood'"):
        made = abstain.study.add_outputs(tmp_path, outputs, model="m", set="far", role="foreign")
    assert made.role == "ood"
    file = tmp_path / "study.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"role": "ood"', '"role": "foreign"'), encoding="utf-8")
    assert [each.role for run in read_study(tmp_path).runs for each in run.sets] == ["ood"]


def test_new_classes_in_both_modes(tmp_path):
    """Kept: all rows, wrong and foreign lose. Dropped, as published: right rows and OOD ones."""
    test, far = saved(tmp_path)
    kept, dropped = join_new_class(test, far), join_new_class(test, far, "drop")
    assert kept.loss.tolist() == [*test.error.tolist(), 1.0, 1.0, 1.0]
    assert dropped.n == int((test.error == 0).sum()) + 3
    assert dropped.loss.tolist() == [0.0] * (dropped.n - 3) + [1.0] * 3
    assert kept.scores["odin"].tolist() == [*test.scores["odin"], *far.scores["odin"]]
    assert kept.groups["origin"].tolist() == ["test"] * 4 + ["ood"] * 3
    assert join_new_class(replace(test, passes=np.full((2, 4, 2), 0.5)), far).passes is None  # of one set alone
    refused(ValueError, "id_failures='lose' is not known", join_new_class, test, far, "lose")
    wrong = abstain.Outputs(labels=[0], logits=[[0.0, 1.0]])
    refused(ValueError, "all test samples are failures", join_new_class, wrong, far, "drop")
    refused(abstain.UnmetNeed, "have no features", lambda: join_new_class(replace(test, features=np.ones((4, 2))), far))


def test_few_labels_need_a_plan(tmp_path, do):
    """A pool of which some rows are labelled is refused with the remedy, and a plan alone too; nothing is written."""
    score = np.random.default_rng(0).random(300).round(4)
    plan = abstain.plan_labels(score, n=60, seed=0)
    source, target = tmp_path / "outputs", tmp_path / "study"
    source.mkdir()
    rows = [f"{'' if stage == 0 else 1},0,{sure}" for stage, sure in zip(plan.stage, score, strict=True)]
    (source / "test.csv").write_text("\n".join(["label,prediction,confidence", *rows]) + "\n")
    words = "has a label in 60 of 300 rows, and only a plan says how these were chosen"
    refused(ValueError, words, init_study, target, source)
    assert words in do("study add study outputs/test.csv --model ce --set test", 2).said
    (source / "test.csv").unlink()
    plan.save(source / "plan.parquet")
    refused(ValueError, "is a plan of labels, not outputs", init_study, target, source)
    do("study add study outputs/plan.parquet --model ce --set test --unlabelled", 2)
    assert not target.exists()
