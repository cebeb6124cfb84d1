"""The vectors: made again byte for byte, by code that shares nothing with the package, and what they can tell apart."""

import json
import re
import runpy
import sys
from fractions import Fraction
from itertools import combinations

import pytest
from jsonschema import Draft202012Validator

from abstain.conformance import check, vectors
from tests.conformance.own import OWN
from tests.imports import ROOT

MAKER = ROOT / "conformance/make_vectors.py"
FOLDER = ROOT / "src/abstain/conformance"


def test_the_file_is_what_the_generator_writes():
    """Byte for byte, by the standard library alone: neither NumPy nor abstain."""
    made = str(runpy.run_path(str(MAKER))["text"]())
    assert (FOLDER / "vectors.json").read_bytes() == made.encode()
    names = re.findall(r"^(?:import|from) (\w+)", MAKER.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(names) <= sys.stdlib_module_names


def test_the_file_has_the_form_of_the_schema():
    """And the schema refuses an answer that is a float."""
    schema = json.loads((FOLDER / "vectors.schema.json").read_text("utf-8"))
    validator = Draft202012Validator(schema)
    data = json.loads((FOLDER / "vectors.json").read_text("utf-8"))
    assert list(validator.iter_errors(data)) == []
    data["metrics"]["aurc"]["cases"][0]["values"]["plugin"] = 0.25
    assert len(list(validator.iter_errors(data))) == 1


def test_definitions_differ():
    """Any two definitions of a metric differ in a case, and by far more than the tolerance where they differ."""
    for name, metric in vectors()["metrics"].items():
        for one, other in combinations(metric["definitions"], 2):
            pairs = [(case["values"][one], case["values"][other]) for case in metric["cases"]]
            gaps = {abs(Fraction(a) - Fraction(b)) for a, b in pairs if None not in (a, b)} - {0}
            assert gaps or any((a is None) != (b is None) for a, b in pairs), (name, one, other)
            assert min(gaps, default=Fraction(1)) > Fraction(1, 100_000), (name, one, other)


def test_an_answer_by_hand():
    """AURC of a right and a wrong row of one score, and of ten rows with two scores."""
    cases = {case["problem"]: case["values"] for case in vectors()["metrics"]["aurc"]["cases"]}
    assert cases["tied_pair"]["plugin"] == "1/2"
    assert cases["ties"]["plugin"] == "3/10"  # half of the rows at risk 1/5, the other half at 2/5
    assert cases["ties"]["trapezoid"] == "1/4"  # 1/2 * 1/5 + 1/2 * (1/5 + 2/5) / 2


@pytest.mark.parametrize(("metric", "definition"), [(m, d) for m, every in OWN.items() for d in every])
def test_abstain_conforms(metric, definition):
    """Every metric agrees with its definition in every case."""
    name, call = OWN[metric][definition]
    found = check(f"abstain:{name or metric}", metric, call=call, tolerance=1e-12)
    assert found.passed, str(found)
    assert found.definitions == (definition,)


def test_every_metric_is_compared():
    """All metrics of the vectors but the certificate are in the table of the test above."""
    assert set(OWN) | {"certificate"} == set(vectors()["metrics"])


@pytest.mark.slow
def test_certificates_of_abstain_hold():
    """Over all samples of the populations, in both orders."""
    call = "f(loss, confidence, risk=risk, delta=delta).threshold"
    found = check("abstain:choose_threshold", "certificate", call=call)
    assert found.passed, str(found)
    shares = {each.case: each.value for each in found.outcomes}
    for name in ("one_score", "two_scores", "lower_too_risky", "useful"):
        assert shares[f"{name}, right first"] == shares[f"{name}, wrong first"]


def test_samples_of_populations_have_every_column():
    """Correctness and uncertainty are the loss and the confidence the other way round."""
    call = "f(loss, correct, confidence, uncertainty)"
    found = check("tests.conformance.own:consistent", "certificate", call=call)
    assert all(each.note.endswith("a threshold in 100.0% of the samples") for each in found.outcomes)
