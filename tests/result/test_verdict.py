"""The verdict: status, levels and caveats on populations where they must, and must not, be given."""

import string

import numpy as np
import pytest

import abstain
from abstain._result import CAVEATS, Better, Caveat, Severity, Status, Verdict, lines_of, percent, readable


def rows(n=2000, seed=0):
    """Return 0/1 losses and a score that ranks them."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    return (rng.random(n) > 0.7 + 0.3 * score).astype(float), score


def kinds(verdict):
    """Return the kinds of the caveats of a verdict."""
    return [each.kind for each in verdict.caveats]


def caveat(verdict, kind):
    """Return the one caveat of a kind."""
    (found,) = [each for each in verdict.caveats if each.kind == kind]
    return found


# ---------------------------------------------------------------------- the table and the record


def test_caveats_are_few_and_ordered_by_severity():
    """At most thirty kinds, the most severe first, each with named fields in a sentence that ends."""
    assert len(CAVEATS) <= 30
    assert [each.severity for each in CAVEATS.values()] == sorted(each.severity for each in CAVEATS.values())
    for each in CAVEATS.values():
        fields = [name for text in each[1:] for _, name, _, _ in string.Formatter().parse(text) if name is not None]
        assert all(name.isidentifier() for name in fields)
        assert each.sentence.endswith((".", "}"))


def test_a_verdict_orders_its_caveats_and_says_none_twice():
    """Whatever order they came in; a grave one turns a yes into a yes with care."""
    small = Caveat.of("small_sample", what="3 errors in 400 rows")
    missing = Caveat.of("groups_missing", how="see groups=")
    above = Caveat.of("group_above", column="site", names=["far"], limit=0.05, groups=["far"])
    found = Verdict(Status.CERTIFIED, coverage=0.5, limit=0.05, caveats=(small, missing, small))
    assert (found.sign, len(found.caveats)) == ("yes", 2)
    grave = found.but(above)
    assert (grave.sign, grave.caveats[0].kind) == ("care", "group_above")
    assert grave.but(instead=["group_above"]) == found
    assert Severity.VOID < Severity.GRAVE < Severity.LIMIT


def test_names_and_numbers_of_a_sentence():
    """Nothing hidden comes from a file; shares have three digits, thresholds are not rounded to what they are not."""
    said = Caveat.of("groups_unread", names=["\x1b[31mred\n"], how="--groups x").text
    said += Better("\x1b[31mred", "b", "AUGRC", 0.1, 0.2).sentence
    assert not {"\x1b", "\n"} & set(said)
    assert (percent(0.5113), percent(0.01), percent(1.0)) == ("51.1 %", "1 %", "100 %")
    assert [readable(each) for each in (0.9999999, 0.25, 1.0, np.inf)] == ["0.9999999", "0.25", "1", "infinity"]
    for value in (0.9999989867, 0.9598749999, 0.99999999999999, -3.7654329, 12.3456789, 0.1 + 0.2, -1e-9):
        assert value - 0.01 * abs(1.0 - value) <= float(readable(value)) <= value
    assert readable(0.1234567, below=0.123456) == "0.1234567"  # at the next lower score more rows would be accepted


def test_lines_keep_to_the_width_and_say_what_they_leave_out():
    """At most three caveats, the others are counted; a per cent sign and a p-value are never torn off."""
    outputs = abstain.datasets.load("llama3_70b_mmlu")
    verdict = abstain.evaluate(outputs, ["msp", "max_logit"]).verdict
    doubts = [Caveat.of("doubtful_reading", doubt=f"column {k} may be of another file") for k in range(4)]
    verdict = verdict.but(*doubts)
    lines = lines_of(verdict, 80)
    assert all(len(line) <= 80 for line in lines)
    assert sum(line.startswith("! ") for line in lines) == 3
    assert lines[-1] == f"{len(verdict.caveats) - 3} more with --verbose"
    assert not any(line.endswith((" p", " p <", " p =")) or line.lstrip().startswith("%") for line in lines)
    every = lines_of(verdict, 80, len(verdict.caveats))
    assert sum(line.startswith("! ") for line in every) == len(verdict.caveats)
    assert lines_of(verdict, 80, words=str.upper)[0] == lines[0].upper()


# ---------------------------------------------------------------------- evaluations


def test_a_useless_ranking_is_no_use():
    """Of an evaluation that certifies 20 % for all, and of a certificate that does not pass; no plan helps."""
    rng = np.random.default_rng(5)
    loss, score = (rng.random(3000) < 0.14).astype(float), rng.random(3000)
    for result in (
        abstain.evaluate(loss=loss, confidence=score),
        abstain.choose_threshold(loss, score, risk=0.05, delta=0.05),
        abstain.choose_threshold(loss, np.zeros(3000), risk=0.05, delta=0.05),
    ):
        assert (result.verdict.status, result.verdict.sign) == (Status.NO_USE, "no")
        assert not any(each.values.get("needed") for each in result.verdict.caveats)
        assert "does not help" in lines_of(result.verdict)[0]
    assert result.ranking == (0.5, 0.5, 0.5)  # of equal scores
    # Answering everything satisfies the limit as well: the threshold is certified, and may only lose answers.
    found = abstain.choose_threshold(loss, score, risk=0.16, delta=0.05)
    said = caveat(found.verdict, "chance").values
    assert found.verdict.status is Status.CERTIFIED
    assert (said["value"], said["low"], said["high"]) == found.ranking


def test_too_few_rows_certify_nothing():
    """Each limit of an evaluation shares one error probability; one limit chosen in advance may still pass."""
    loss, score = np.repeat([1.0, 0.0], [20, 24]), np.arange(44.0)  # enough for 20 % alone
    few = abstain.evaluate(loss=loss, confidence=score).verdict
    assert (few.status, few.levels, few.missed) == (Status.NOT_CERTIFIED, (), (0.01, 0.02, 0.05, 0.1, 0.2))
    assert caveat(few, "small_sample").values == {"what": "20 errors in 44 rows"}
    assert abstain.choose_threshold(loss, score, risk=0.2, delta=0.05).verdict.status is Status.CERTIFIED


def test_odd_scores_have_a_caveat_each():
    """A code for missing scores, fractions and per cent in one column; clean columns have none."""
    loss, score = rows(1000)

    def of(score):
        return abstain.evaluate(loss=loss, confidence=score).verdict

    clean = kinds(of(score))
    assert not {"sentinel", "mixed_units", "copied_rows", "chance", "rows_left_out", "files_left_out"} & set(clean)
    for code in (-999.0, -1.0):
        found = caveat(of(np.where(np.arange(1000) % 50 == 0, code, score)), "sentinel")
        assert found.values == {"score": "confidence", "count": 20, "code": code}
    assert "mixed_units" in kinds(of(np.where(np.arange(1000) % 2, score, 100.0 * score)))


def _missing_scores():
    loss, score = rows(1000)
    return abstain.evaluate(loss=loss, confidence=np.where(np.arange(1000) < 7, np.nan, score), nan_policy="reject")


def _abstaining_model():
    verdicts = np.resize(["right", "right", "wrong", "right", "abstained"], 1000)
    return abstain.evaluate(abstain.read_outputs({"correct": verdicts, "confidence": rows(1000)[1]}))


def _rejected_group():
    rng = np.random.default_rng(0)
    score, site = rng.random(4000), np.repeat(["a", "b"], 2000)
    bad = rng.random(4000) < np.where(site == "a", 0.02, 0.5)
    policy = abstain.choose_threshold(bad, score, risk=0.1, delta=0.05, groups=site).policy(score="s", group="site")
    return abstain.monitor(policy, rng.random(100) < 0.02, rng.random(100), groups=np.repeat(["a", "b"], 50))


def _unreadable_file():
    return abstain.study.StudyResults((), (abstain.study.Failure("ce/seed0/test", "is truncated"),))


@pytest.mark.parametrize(
    ("made", "values"),
    [
        (_missing_scores, ("have no confidence and are rejected", 7, 1000)),
        (_abstaining_model, ("are abstentions of the model itself; all else is about its answers", 200, 1000)),
        (_rejected_group, ("are of groups without a threshold (b): all referred for review", 50, 100)),
        (_unreadable_file, (1,)),
    ],
)
def test_what_is_left_out_has_a_caveat(made, values):
    """With the numbers of its sentence."""
    found = caveat(made().verdict, "files_left_out" if len(values) == 1 else "rows_left_out")
    assert set(found.values.values()) == set(values)


def test_copies_of_all_that_is_known_void_certificates():
    """Every row twice, numbered anew, by whatever score; a copy that differs in one label is none."""
    loss, score = np.tile(rows(500), 2)
    both, ids = {"a": score, "b": -np.log(2.0 - score)}, np.arange(1000)
    for names in (["a"], ["b"], ["a", "b"]):
        evaluation = abstain.evaluate(abstain.Outputs(loss=loss, scores=both, ids=ids), names, "augrc")
        assert [evaluation.judged.levels(name) for name in names] == [()] * len(names)
        assert (evaluation.verdict.status, evaluation.verdict.levels) == (Status.MEASURED, ())
        assert "500 of 1000 rows are exact copies" in caveat(evaluation.verdict, "copied_rows").text
        assert "exact copies" in caveat(evaluation.verdict, "uncertified").text
    apart = abstain.Outputs(loss=loss, scores=both, labels=ids % 10 + 10 * (ids >= 500))
    assert abstain.evaluate(apart, ["a"], "augrc").judged.levels("a")


def test_dependent_and_graded_rows_are_measured_only():
    """No certificate where rows belong together, count by weights, have graded losses, or no interval was asked for."""
    loss, score = rows(400)
    weight = np.linspace(1.0, 2.0, 400)
    for size, options, extra in (
        (1.0, {}, {"clusters": np.arange(400) // 4}),
        (1.0, {}, {"sample_weight": weight}),
        (1.0, {"level": 0}, {}),
        (0.5, {}, {}),
    ):
        verdict = abstain.evaluate(abstain.Outputs(loss=size * loss, confidence=score, **extra), **options).verdict
        assert (verdict.status, verdict.levels, verdict.confidence) == (Status.MEASURED, (), None)
        assert ("no intervals were asked for (level 0)" in caveat(verdict, "uncertified").text) == bool(options)
        assert verdict.graded == ("mean loss" in verdict.headline) == (size < 1.0)
    for size, is_graded in [(1.0, False), (1.5, True)]:
        assert abstain.choose_threshold(size + 0.0 * loss, score, coverage=0.5).verdict.graded is is_graded
