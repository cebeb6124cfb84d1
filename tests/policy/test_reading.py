"""How a policy's score is read: which column, which kind of inputs, and what is said where there is neither."""

import json

import numpy as np
import pytest

import abstain
from abstain.policy import Calibration, SecondScore, score_reading
from abstain.policy._contents import statement
from tests.policy.policies import signed
from tests.refusal import refused

FOUND = abstain.choose_threshold([0.0, 1.0, 0.0], [0.9, 0.5, 0.7], coverage=0.5)


def test_a_score_that_nothing_gives():
    """The message tells an unknown name from a known one whose inputs lack; parameters of a score do not matter."""
    outputs = abstain.read_outputs({"loss": [0.0, 1.0, 0.0], "confidence": [0.9, 0.5, 0.7]})
    for score, temperature, message in (
        ("confidense", None, "no score that is computed is called 'confidense'"),
        ("gen(gamma=0.5, top=10)", None, r"'gen\(gamma=0.5, top=10\)' is computed from logits or prob"),
        (None, 2.0, "'msp' is computed from logits or probabilities, which the file does not hold"),
        ("neg_entropy", 2.0, "'neg_entropy' is computed from logits or probabilities, which the file does not hold"),
    ):
        refused(ValueError, message, score_reading, outputs, score, temperature)


def test_labelled_rows_are_read_as_at_calibration_but_for_what_is_given():
    """One statement of what is right takes the place of another; other columns leave it as it was."""
    outputs = abstain.read_outputs({"wrong": [0, 1, 0], "entropy": [0.1, 0.6, 0.2]}, loss="wrong")
    policy = FOUND.policy(**score_reading(outputs).arguments())
    for given in ({}, {"labels": "y", "predictions": "said"}, {"labels": "y"}, {"groups": "g"}, {"correct": "right"}):
        kept = given if {"labels", "correct"} & set(given) else {"loss": "wrong", **given}
        assert policy.columns(**given) == {"uncertainty": "entropy", **kept}
    binary = FOUND.policy(score="msp", probabilities="p")
    for name, told in (("p", None), ("q", "q")):  # its own column needs not be named again
        assert binary.columns(positive_probability=name) == {"probabilities": ["p"], "positive_probability": told}


@pytest.mark.parametrize("name", ["score", "inputs", "temperature", "uncertainty", "threshold"])
def test_a_second_score_that_lacks_a_part_is_refused(name, tmp_path):
    """Also if whoever left it out wrote a digest that fits."""
    path, second = tmp_path / "policy.json", SecondScore("t", None, None, uncertainty=False, threshold=0.5)
    FOUND.policy(score="s", second=second).save(path)
    content = json.loads(path.read_text())
    assert abstain.load_policy(path).second == second
    del content["second"][name]
    path.write_text(json.dumps(signed(content)))
    refused(ValueError, r"second = .* is not valid; it needs score, inputs", abstain.load_policy, path)


def test_how_files_are_read_is_kept_or_refused():
    """An uncertainty is the column of the score, words are those of a finished one, all else are names of columns."""
    for reading, computed, message in (
        ({"uncertainty": "s"}, False, None), ({"confidence_levels": ["low", "high"]}, False, None),
        ({"clusters": "c", "labels": "y", "class_names": ["a", "b"]}, True, None),
        ({"uncertainty": "t"}, False, "must be the column of the score, 's'"),
        ({"uncertainty": "s"}, True, "must be the column of the score"),
        ({"confidence_levels": ["%"]}, True, "is for a finished score in words or per cent"),
        ({"confidence_levels": ["%"], "uncertainty": "s"}, False, "is for a finished score in words or per cent"),
        *[({"labels": each}, False, r"reading\['labels'\] = ") for each in ("", [], [""], ["y", 3], 3, None)],
        ({"confidence": "s"}, False, r"reading\['confidence'\] = 's' is not valid; give names of columns for labels"),
    ):  # fmt: skip
        options = {"score": "msp", "logits": ["s", "t"]} if computed else {"score": "s"}
        if message is None:
            assert FOUND.policy(**options, reading=reading).reading == reading
        else:
            refused(ValueError, message, FOUND.policy, **options, reading=reading)


TABLE = {
    "wrong": [0, 1, 0], "sure": [0.9, 0.5, 0.7], "doubt": [0.1, 0.6, 0.2], "a": [0.2, 0.1, 0.4], "b": [0.3, 0.2, 0.9],
    "z0": [2.0, 0.0, 1.0], "z1": [0.5, 1.5, 0.0], "p0": [0.7, 0.2, 0.9], "p1": [0.3, 0.8, 0.1], "y": [0, 1, 1],
    "unit": [1, 1, 2], "no": [False, False, True],
}  # fmt: skip
ASKED = [
    ({"loss": "wrong", "confidence": "sure"}, None, None, ("sure", None, None, {"loss": "wrong"})),
    ({"loss": "wrong", "uncertainty": "doubt"}, None, None,
     ("doubt", None, None, {"loss": "wrong", "uncertainty": "doubt"})),
    ({"loss": "wrong", "confidence": "sure", "scores": ["a", "b"]}, "b", None, ("b", None, None, {"loss": "wrong"})),
    ({"loss": "wrong", "uncertainty": "doubt", "scores": ["a"]}, "a", None, ("a", None, None, {"loss": "wrong"})),
    ({"labels": "y", "logits": ["z0", "z1"]}, "max_logit", 2.0,
     ("max_logit", {"logits": ["z0", "z1"]}, 2.0, {"labels": "y"})),
    ({"labels": "y", "probabilities": ["p0", "p1"]}, None, 2.0,
     ("msp", {"probabilities": ["p0", "p1"]}, 2.0, {"labels": "y"})),
    ({"labels": "y", "positive_probability": "p1"}, "msp", None,
     ("msp", {"probabilities": ["p1"]}, None, {"labels": "y"})),
    ({"labels": "y", "logits": ["z0", "z1"], "confidence": "sure"}, None, 1.5,
     ("msp", {"logits": ["z0", "z1"]}, 1.5, {"labels": "y"})),
    ({"loss": "wrong", "confidence": "sure", "clusters": "unit", "abstained": "no"}, None, None,
     ("sure", None, None, {"loss": "wrong", "clusters": "unit", "abstained": "no"})),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "score", "temperature", "wanted"), ASKED)
def test_new_files_hold_the_score_where_the_calibration_file_did(columns, score, temperature, wanted):
    """The column of a score that is named, else the confidence; with a temperature, or without one, the classes."""
    how = score_reading(abstain.read_outputs(TABLE, **columns), score, temperature)
    assert (how.score, how.inputs, how.temperature, how.reading) == wanted
    classes = None if wanted[1] is None else ["0", "1"]
    assert how.classes == classes
    found = FOUND.policy(**how.arguments())
    assert (found.score, found.inputs, found.temperature, found.classes) == (*wanted[:3], classes)


def test_outputs_that_no_file_gave_are_taken_to_be_written_by_us():
    """Columns are then called as ``write_outputs`` calls them."""
    outputs = abstain.Outputs(loss=[0.0, 1.0], confidence=[0.9, 0.5], scores={"s": [0.1, 0.2]})
    assert (score_reading(outputs).score, score_reading(outputs, "s").score) == ("confidence", "score_s")


def test_a_policy_is_checked_for_what_it_was_made_for(tmp_path):
    """Its model, classes and columns in their order, the group's column, and the temperature, 1 where none was."""
    names = ["no", "yes", "perhaps"]
    about = {"class_names": names, "model": "net 7", "author": "A. B.", "note": "spring"}
    computed = FOUND.policy(score="msp", logits=["z0", "z1", "z2"], temperature=2.0, **about)
    computed.save(tmp_path / "p.json")
    loaded = abstain.load_policy(tmp_path / "p.json", model="net 7", class_names=names, temperature=2.0)
    assert (loaded, loaded.about["author"], len(loaded.about["created"])) == (computed, "A. B.", 10)
    grouped = abstain.choose_threshold([0.0, 1.0, 0.0, 0.0], [0.9, 0.5, 0.7, 0.6], coverage=0.5, groups=list("aabb"))
    policy = grouped.policy(score="s", group="site")
    listed = grouped.policy(score="msp", logits="p", group="site")
    for asked, given, message in (
        (computed, {"columns": ["z0", "z1", "z2"]}, None), (policy, {"columns": ["site", "s", "x"]}, None),
        (policy, {"temperature": 1.0}, None), (listed, {"columns": ["x", "p", "site"]}, None),
        (computed, {"model": "net 8"}, "was made for the model 'net 7', not 'net 8'"),
        (computed, {"class_names": names[::-1]}, "knows other order"),
        (computed, {"class_names": names[:2]}, "knows other classes"),
        (computed, {"temperature": 1.0}, "divides logits by 2, not 1"),
        (policy, {"model": "net 7"}, "does not say its model"), (policy, {"columns": ["s"]}, "needs the column 'site'"),
        (policy, {"columns": ["site"]}, "needs the column 's'"), (policy, {"temperature": 2.0}, "logits by 1, not 2"),
        (policy, {"class_names": ["a"]}, "does not know its classes"),
        *[(computed, {"columns": each}, "from z0, z1, z2, in this order") for each in (["z0", "z2", "z1"], ["z0"])],
    ):  # fmt: skip
        if message is None:
            assert asked.check(**given) is asked
        else:
            refused(ValueError, message, asked.check, **given)


def test_a_guarantee_names_what_was_drawn_and_what_it_is_about():
    """Rows or clusters, all of them or a group, a weight's population, or the rows that the model itself answers."""
    most = "clusters, none of which can have more than 5 rows"
    single = "an accepted row of a new cluster, each cluster that has one counting once,"
    for known, options, drawn, what in (
        ({}, {}, "rows", "what is accepted"),
        ({}, {"group": True}, "rows", "what is accepted in a group"),
        ({"weighted": True}, {}, "rows", "what is accepted in the weighted population"),
        ({"answered": True}, {}, "rows", "what is accepted, of the rows that the model itself answers,"),
        ({"n_clusters": 3}, {}, "clusters", single),
        ({"n_clusters": 3, "max_cluster": 5}, {}, most, "what is accepted"),
    ):
        said = f"over the draw of the calibration {drawn}, the mean loss of {what} is at most 0.1"
        assert statement(0.1, 0.05, Calibration(9, **known), **options) == f"with probability at least 0.95 {said}"


def test_of_logits_and_probabilities_those_that_were_named_are_inputs():
    """Logits where both were, or neither."""
    gaps, z, p = np.array([1.5, -1.5, 1.0]), ["logit_0", "logit_1"], ["prob_0", "prob_1"]
    shares = 1.0 / (1.0 + np.exp(-gaps))
    table = {"y": [0, 1, 1], "logit_0": gaps, "logit_1": np.zeros(3), "prob_0": shares, "prob_1": 1.0 - shares}
    both = {"logits": z, "probabilities": p}
    for named, inputs in (({}, z), ({"probabilities": p}, p), ({"logits": z}, z), (both, z)):
        how = score_reading(abstain.read_outputs(table, labels="y", **named))
        assert list(how.inputs.values()) == [inputs]
