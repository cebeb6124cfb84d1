"""Implementations with a known fault get the right sentence, the right status and the right exit code."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import abstain
from abstain.conformance import check, vectors


def running_mean(confidence, loss):
    """Mean of the running risk, tied rows in the order of the file."""
    running = np.cumsum(loss[np.argsort(-confidence, kind="stable")])
    return float(np.mean(running / np.arange(1, len(loss) + 1)))


def rescaled(confidence, loss):
    """AUGRC times n/(n - 1), as if its coverage began at 1/n."""
    return float(abstain.augrc(loss, confidence)) * len(loss) / (len(loss) - 1)


def crashes(confidence, loss):
    """Fail on every tie."""
    if len(set(confidence.tolist())) < len(confidence):
        raise IndexError("ties are hard")
    return float(abstain.aurc(loss, confidence))


class Updated:
    """A metric in the style of torchmetrics."""

    def update(self, confidence, loss):
        self.value = np.asarray(abstain.augrc(loss, confidence))

    def compute(self):
        return self.value


TURNED = "it reads the confidence the wrong way round: turned, it agrees with "
NONE = "it agrees with no definition of the vectors"
FAULTS = {
    "row order": (running_mean, "aurc", None, "plugin = harmonic, row order",
                  "it depends on the order of tied rows: tied_pair 0.25, tied_pair_reordered 0.75"),
    "factor": (rescaled, "augrc", None, "trapezoid × n/(n - 1)", "its values are those of trapezoid times n/(n - 1)"),
    "per cent": (abstain.aurc, "aurc", "100 * f(loss, confidence)", "plugin × 100",
                 "its values are those of plugin times 100"),
    "wrong side": (abstain.aurc, "aurc", "loss, uncertainty", "no definition", TURNED + "plugin"),
    "wrong loss": (abstain.auroc_f, "auroc_f", "correct, confidence", "no definition", TURNED + "mid_rank"),
    "crash": (crashes, "aurc", None, "plugin = harmonic, 7 cases differ",
              "tied_pair: fails, IndexError: ties are hard"),
    "single precision": (lambda s, y: abstain.auroc_f(y, s.astype(np.float32)), "auroc_f", "confidence, loss",
                         "mid_rank, 1 case differs",
                         "close: differs, 0.75, expected 0.5; scores that single precision cannot distinguish"),
    "nonsense": (lambda s, y: float(s.sum()), "aurc", "confidence, loss", "no definition", NONE),
    "no number": (lambda s, y: (1.0, 2.0), "aurc", "confidence, loss", "no definition", NONE),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(fault):
    """The short form and the first finding say which."""
    function, metric, call, short, finding = FAULTS[fault]
    found = check(function, metric, call=call)
    assert not found.passed
    assert found.short == short
    assert found.findings[0] == finding


def test_a_right_implementation_passes_by_the_names_of_its_parameters():
    """A class with update and compute, whose call is stated."""
    found = check(Updated, "augrc")
    assert found.passed
    assert found.call == "f(confidence=confidence, loss=loss)"
    assert "agrees with trapezoid" in found.headline()
    assert "Updated was called as f(confidence=confidence, loss=loss)" in found.notes()[-1]
    assert check("abstain:aurc", "aurc").passed


def test_what_may_be_refused_is_no_fault():
    """A missing score, a single row, losses between 0 and 1; but not a tie; columns that it changes stay."""

    def picky(confidence, loss):
        if len(loss) < 2 or not np.isfinite(confidence).all() or set(loss) - {0.0, 1.0}:
            raise ValueError("not these rows")
        value = float(abstain.aurc(loss, confidence))
        confidence.sort()
        loss[:] = 0.0
        return value

    found = check(picky, "aurc")
    assert found.passed
    refused = {each.case for each in found.outcomes if each.status == "refuses"}
    assert refused == {"one_right", "one_wrong", "graded", "infinite", "missing"}


def test_an_undefined_value_may_be_nan_or_an_error_but_no_number():
    """AUROC of failures where every row is right."""

    def half(confidence, loss):
        return abstain.auroc_f(loss, confidence) if 0 < loss.sum() < len(loss) else 0.5

    found = check(half, "auroc_f")
    differ = {each.case for each in found.outcomes if each.status == "differs"}
    assert differ == {"one_right", "one_wrong", "all_right", "all_wrong"}
    assert found.findings[3:] == ("1 more case differs or fails",)
    three = check(lambda s, y: half(s, y) if y.sum() < 2 else abstain.auroc_f(y, s), "auroc_f", call="confidence, loss")
    assert (three.short, len(three.findings)) == ("mid_rank, 3 cases differ", 3)


def test_a_certificate_that_counts_inside_a_tie_is_violated():
    """It tests the first rows of a tie and accepts all of it: the probability is exact."""

    def hasty(confidence, loss):
        order = np.argsort(-confidence, kind="stable")
        return float(confidence[order][0]) if loss[order][:2].sum() == 0 else np.inf

    found = check(hasty, "certificate", call="confidence, loss")
    right, (first, second, *_) = 3 / 8, found.outcomes
    assert (first.case, found.passed) == ("one_score, right first", False)
    assert first.value == pytest.approx(1 - (1 - right) ** 8 - 8 * right * (1 - right) ** 7, abs=1e-15)
    assert second.value == pytest.approx(right**8)  # wrong rows first: 8 right rows, or one wrong is seen


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (None, "the parameters (a, b) do not say which columns they are"),
        ("confidence, los", "'los' is no column here; there are loss, correct"),
        ("confidence,, loss", "is not Python"),
    ],
)
def test_a_call_is_never_guessed(call, message):
    """What is not said is asked for."""
    with pytest.raises(ValueError, match="call") as error:
        check(lambda a, b: 0.0, "aurc", call=call)
    assert message in str(error.value)


# ---------------------------------------------------------------------- the command

PROGRAM = """
import json, sys
data = json.load(sys.stdin)
if None in data["confidence"]:
    sys.exit("a missing score")
rows = list(zip(data["loss"], map(float, data["confidence"]), data["sample_weight"]))
pairs = [a * v * w * ((g > h) + (g == h) / 2) for a, g, v in rows for _, h, w in rows]
print({factor} * sum(pairs) / sum(w for _, _, w in rows) ** 2)
"""


def test_the_command_says_what_a_function_computes(do):
    """Text of 80 columns, Markdown and JSON; status 0 and 1."""
    printed = do("conformance abstain:aurc --metric aurc --json found.json --table found.md").out
    assert printed.startswith("aurc: agrees with plugin in 21 cases")
    assert max(map(len, printed.splitlines())) <= 80
    assert json.loads(Path("found.json").read_text())["passed"] is True
    assert "| ties " in Path("found.md").read_text()
    order = "    order = (-s).argsort(kind='stable')\n"
    mean = "    return (y[order].cumsum() / range(1, len(y) + 1)).mean()\n"
    Path("mine.py").write_text(f"def area(s, y):\n{order}{mean}")
    said = do("conformance mine.py:area --metric aurc --call 'confidence, loss'", 1).out
    assert "it depends on the order of tied rows" in said
    assert "risk_at_coverage" in do("conformance").out  # without a metric all are listed
    do("conformance --vectors vectors.json")
    assert json.loads(Path("vectors.json").read_text()) == vectors()


@pytest.mark.parametrize(("factor", "code"), [("1", 0), ("2", 1)])
def test_a_program_reads_json(do, factor, code):
    """A process for each case; an exit code other than 0 is a refusal."""
    Path("program.py").write_text(PROGRAM.replace("{factor}", factor))
    shown = do(f"conformance --command '{sys.executable} -IS program.py' --metric augrc --json found.json", code).out
    notes = {each["note"] for each in json.loads(Path("found.json").read_text())["outcomes"]}
    assert "exit code 1: a missing score" in notes
    assert ("agrees with trapezoid" if code == 0 else "trapezoid × 2") in shown


WRONG = ["abstain:aurc", "abstain:aurc --metric auc", "--metric aurc", "--command true --call loss --metric aurc"]
NO_FUNCTIONS = ("abstain", "abstain:no_such_name", "no_such_module:f", "no_such_file.py:f", "math:pi", "math:hypot")


@pytest.mark.parametrize("options", [*WRONG, *(f"{each} --metric aurc" for each in NO_FUNCTIONS)])
def test_bad_input_has_status_2(do, options):
    """With one sentence."""
    assert do(f"conformance {options}", 2).err.startswith("abstain: ")
