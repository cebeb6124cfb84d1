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
    text = Caveat.of("groups_unread", names=["\x1b[31mred\n"], how="--groups x").text
    assert "\x1b" not in text
    assert "\n" not in text
    assert "\x1b" not in Better("\x1b[31mred", "b", "AUGRC", 0.1, 0.2).sentence
    assert (percent(0.5113), percent(0.01), percent(1.0)) == ("51.1 %", "1 %", "100 %")
    assert [readable(each) for each in (0.9999999, 0.25, 1.0, np.inf)] == ["0.9999999", "0.25", "1", "infinity"]
    for value in (0.9999989867, 0.9598749999, 0.99999999999999, -3.7654329, 12.3456789, 0.1 + 0.2, -1e-9):
        assert value - 0.01 * abs(1.0 - value) <= float(readable(value)) <= value


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


def test_a_group_above_the_limit_takes_the_certificate_to_the_mix():
    """A group is wrong half the time: the pooled limit holds, and that group is named with its risk."""
    rng = np.random.default_rng(4)
    score, far = rng.random(6000), rng.random(6000) < 0.06
    loss = (rng.random(6000) < np.where(far, 0.4, 0.25 * (1.0 - score))).astype(float)
    site = np.where(far, "far", np.where(rng.random(6000) < 0.5, "east", "west"))
    outputs = abstain.Outputs(loss=loss, confidence=score, groups={"site": site})
    verdict = abstain.evaluate(outputs, groups="site").verdict
    assert verdict.status in (Status.MIX, Status.NOT_CERTIFIED)
    assert verdict.sign == "care"
    there = far & (score >= verdict.threshold)
    above = caveat(verdict, "group_above")
    assert above.values["groups"] == ["far"]
    assert f"site far ({percent(float(loss[there].mean()))} of {int(there.sum())})" in above.text
    assert "no longer holds" in above.remedy
    assert "Do not go live at " in verdict.headline
    assert "yet, because of far. Over all cases: at most " in verdict.headline
    even = rng.choice(["a", "b"], 6000)
    calm = abstain.evaluate(abstain.Outputs(loss=loss, confidence=score, groups={"site": even}), groups="site").verdict
    assert not {"group_above", "stands_out", "groups_missing"} & set(kinds(calm))


def test_a_small_group_leaves_open_whether_the_limit_holds():
    """Measured above the limit, and perhaps by chance: a caveat, and the certificate remains."""
    rng = np.random.default_rng(0)
    score = rng.random(6000)
    loss = (rng.random(6000) < 0.06 * (1.0 - score)).astype(float)
    site = np.where(np.arange(6000) < 30, "small", "large")
    loss[:30] = np.arange(30) < 3
    outputs = abstain.Outputs(loss=loss, confidence=score, groups={"site": site})
    verdict = abstain.evaluate(outputs, groups="site").verdict
    assert verdict.status is Status.CERTIFIED
    assert "group_above" not in kinds(verdict)
    assert "small" in caveat(verdict, "group_unclear").text


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


def test_a_reversed_ranking_is_doubtful():
    """The negative of a good score is worse than chance; a good one is neither."""
    loss, score = rows()
    with pytest.warns(UserWarning, match="higher where"):
        turned = abstain.evaluate(loss=loss, confidence=1.0 - score).verdict
    assert {"reversed", "doubtful_reading"} <= set(kinds(turned))
    straight = abstain.evaluate(loss=loss, confidence=score).verdict
    assert not {"reversed", "doubtful_reading", "chance"} & set(kinds(straight))


def test_too_few_rows_certify_nothing():
    """Each limit of an evaluation shares one error probability; one limit chosen in advance may still pass."""
    few = abstain.evaluate(loss=[0, 1] * 10, confidence=np.arange(20.0)).verdict
    missed = (Status.NOT_CERTIFIED, (), (0.01, 0.02, 0.05, 0.1, 0.2), "no")
    assert (few.status, few.levels, few.missed, few.sign) == missed or few.status is Status.NO_USE
    assert caveat(few, "small_sample").values == {"what": "10 errors in 20 rows"}
    of_44 = np.repeat([1.0, 0.0], [20, 24])  # enough for 20 % alone, not for one of five at once
    assert abstain.evaluate(loss=of_44, confidence=np.arange(44.0)).verdict.status is Status.NOT_CERTIFIED
    assert abstain.choose_threshold(of_44, np.arange(44.0), risk=0.2, delta=0.05).verdict.status is Status.CERTIFIED


def test_odd_scores_have_a_caveat_each():
    """A code for missing scores, fractions and per cent in one column, every row twice; clean columns have none."""
    loss, score = rows(1000)
    clean = kinds(abstain.evaluate(loss=loss, confidence=score).verdict)
    assert not {"sentinel", "mixed_units", "copied_rows"} & set(clean)
    for code in (-999.0, -1.0):
        with_code = np.where(np.arange(1000) % 50 == 0, code, score)
        found = caveat(abstain.evaluate(loss=loss, confidence=with_code).verdict, "sentinel")
        assert found.values == {"score": "confidence", "count": 20, "code": code}
    mixed = abstain.evaluate(loss=loss, confidence=np.where(np.arange(1000) % 2, score, 100.0 * score)).verdict
    assert "mixed_units" in kinds(mixed)
    twice = abstain.evaluate(loss=np.tile(loss, 2), confidence=np.tile(score, 2)).verdict
    assert "copied_rows" in kinds(twice)
    assert (twice.status, twice.levels) == (Status.MEASURED, ())


def _missing_scores():
    loss, score = rows(1000)
    return abstain.evaluate(loss=loss, confidence=np.where(np.arange(1000) < 7, np.nan, score), nan_policy="reject")


def _answering_all_is_good_enough():
    rng = np.random.default_rng(0)  # a ranking without use, of rows that keep the limit already
    return abstain.choose_threshold(rng.random(3000) < 0.085, rng.random(3000), risk=0.1, delta=0.05)


def _abstaining_model():
    verdicts = np.resize(["right", "right", "wrong", "right", "abstained"], 1000)
    score = np.random.default_rng(0).random(1000)
    return abstain.evaluate(abstain.read_outputs({"correct": verdicts, "confidence": score}))


def _rejected_group():
    rng = np.random.default_rng(0)
    score, site = rng.random(4000), np.repeat(["a", "b"], 2000)
    bad = rng.random(4000) < np.where(site == "a", 0.02, 0.5)
    policy = abstain.choose_threshold(bad, score, risk=0.1, delta=0.05, groups=site).policy(score="s", group="site")
    return abstain.monitor(policy, rng.random(100) < 0.02, rng.random(100), groups=np.repeat(["a", "b"], 50))


def _unreadable_file():
    return abstain.study.StudyResults((), (abstain.study.Failure("ce/seed0/test", "is truncated"),))


@pytest.mark.parametrize(
    ("made", "kind", "values"),
    [
        (_missing_scores, "rows_left_out", {"what": "have no confidence and are rejected", "count": 7, "n": 1000}),
        (
            _abstaining_model,
            "rows_left_out",
            {"what": "are abstentions of the model itself; all else is about its answers", "count": 200, "n": 1000},
        ),
        (
            _rejected_group,
            "rows_left_out",
            {"what": "are of groups without a threshold (b): all referred for review", "count": 50, "n": 100},
        ),
        (_unreadable_file, "files_left_out", {"count": 1}),
    ],
)
def test_what_is_left_out_has_a_caveat(made, kind, values):
    """With the numbers of its sentence; the same data without it have none."""
    assert caveat(made().verdict, kind).values == values
    assert kind not in kinds(abstain.evaluate(loss=rows()[0], confidence=rows()[1]).verdict)


def test_a_certified_threshold_of_a_ranking_like_chance_is_named():
    """Answering everything satisfies the limit as well: the threshold may only lose answers."""
    found = _answering_all_is_good_enough()
    said = caveat(found.verdict, "chance").values
    assert found.verdict.status is Status.CERTIFIED
    assert (said["value"], said["low"], said["high"]) == found.ranking
    assert "chance" not in kinds(abstain.choose_threshold(*rows(4000), risk=0.1, delta=0.05).verdict)


def test_copies_of_all_that_is_known_void_certificates():
    """Every row twice, numbered anew, by whatever score; a copy that differs in one label is none."""
    loss, score = rows(500)
    both = {"a": np.tile(score, 2), "b": np.tile(-np.log(2.0 - score), 2)}
    ids = np.arange(1000)
    for names in (["a"], ["b"], ["a", "b"]):
        evaluation = abstain.evaluate(abstain.Outputs(loss=np.tile(loss, 2), scores=both, ids=ids), names, "augrc")
        assert [evaluation.judged.levels(name) for name in names] == [()] * len(names)
        assert "500 of 1000 rows are exact copies" in caveat(evaluation.verdict, "copied_rows").text
        assert "exact copies" in caveat(evaluation.verdict, "uncertified").text
    apart = np.arange(1000) % 10 + 10 * (ids >= 500)
    evaluation = abstain.evaluate(abstain.Outputs(loss=np.tile(loss, 2), scores=both, labels=apart), ["a"], "augrc")
    assert evaluation.judged.levels("a")


def test_dependent_and_graded_rows_are_measured_only():
    """No certificate where rows belong together, count by weights, have graded losses, or no interval was asked for."""
    loss, score = rows(400)
    for extra in ({"clusters": np.arange(400) // 4}, {"sample_weight": np.linspace(1.0, 2.0, 400)}):
        verdict = abstain.evaluate(abstain.Outputs(loss=loss, confidence=score, **extra)).verdict
        assert (verdict.status, verdict.levels, verdict.confidence) == (Status.MEASURED, (), None)
        assert "uncertified" in kinds(verdict)
    graded = abstain.evaluate(loss=loss + 0.5, confidence=score).verdict
    assert (graded.status, graded.graded) == (Status.MEASURED, True)
    assert "mean loss" in graded.headline
    for size, is_graded in [(1.0, False), (1.5, True)]:
        chosen = abstain.choose_threshold(np.full(loss.size, size), score, coverage=0.5).verdict
        assert chosen.graded is is_graded
    plain = abstain.evaluate(abstain.datasets.load("digits_logreg"), level=0).verdict
    assert "no intervals were asked for (level 0)" in caveat(plain, "uncertified").text


def test_levels_are_those_of_choose_threshold():
    """Limits that are certified on one table: threshold, coverage and plan of each on its own."""
    for loss, score in (rows(3000), (rows(3000)[0], np.round(rows(3000)[1], 2))):
        guarantees = abstain.evaluate(loss=loss, confidence=score, metrics="augrc").judged.levels("confidence")
        for each in guarantees:
            alone = abstain.choose_threshold(loss, score, risk=each.risk, delta=each.delta)
            assert (each.threshold, each.coverage) == (alone.threshold, alone.coverage)
            assert each.found.to_dict() == alone.to_dict()
            assert each.attained or each.needed() == (None if alone.rows_needed is None else alone.rows_needed[0])


# ---------------------------------------------------------------------- forms
