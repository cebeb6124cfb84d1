"""The report in a real browser: the script's numbers, the policy that it saves, keyboard, dark, print, accessibility.

Needs Chromium and Playwright; where either lacks all of this is skipped, and the last line of the run says so.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abstain
from tests.report import hostile

CHROMIUM = os.environ.get("ABSTAIN_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None or not os.environ.get("ABSTAIN_BROWSER"):
    pytest.skip(
        "NOT TESTED IN A BROWSER: needs Chromium, and takes minutes: make test-browser", allow_module_level=True
    )
playwright = pytest.importorskip("playwright.sync_api", reason="NOT TESTED IN A BROWSER: needs playwright")

OUTPUTS = abstain.datasets.load("llama3_70b_mmlu")
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return Chromium without a window."""
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a page of every kind."""
    folder, rng = tmp_path_factory.mktemp("reports"), np.random.default_rng(0)
    score = rng.random(3000)
    wrong = (rng.random(3000) > 0.7 + 0.3 * score).astype(float)
    site = rng.choice(["north", "south", "west"], 3000)
    outputs = abstain.Outputs(loss=wrong, confidence=score, groups={"site": site})
    found = abstain.choose_threshold(wrong, score, risk=0.1, delta=0.05)
    watch = abstain.monitoring.Monitor(found.policy(score="s"))  # type: ignore[union-attr]
    for part in range(3):
        later = rng.random(1000)
        seen = watch.update((rng.random(1000) > (0.7 if part < 2 else 0.3) + 0.3 * later).astype(float), later)
    run = abstain.joint.ScoredRun(
        wrong, {"s": score, "d": rng.random(3000)}, {"far": {"s": rng.random(500), "d": rng.random(500)}}
    )
    study = folder / "study"
    for model in ("a", "b"):
        made = abstain.datasets.synthetic("calibrated", 300, len(model))
        abstain.study.add_outputs(study, made, model=model, run="seed0", set="test")
    results: dict[str, Any] = {
        "evaluate": (abstain.evaluate(OUTPUTS, ["msp", "max_logit"]), {"outputs": OUTPUTS, "cost": (10, 1)}),
        "groups": (abstain.evaluate(outputs, groups="site"), {"outputs": outputs}),
        "hostile": (hostile.evaluation(*list(hostile.NAMES.values())[:20]), {"title": hostile.NAMES["script"]}),
        "compare": (abstain.compare(wrong, {"good": score, "noise": rng.random(3000)}), {}),
        "threshold": (found, {"loss": wrong, "confidence": score}),
        "monitor": (seen, {}),
        "joint": (abstain.joint.protocol(run, {"far": ["far"]}, confidence="s"), {}),
        "study": (abstain.study.evaluate(study, workers=1), {}),
    }
    for name, (result, source) in results.items():
        result.report(folder / f"{name}.html", **source)
    return {name: folder / f"{name}.html" for name in results}


KINDS = ("evaluate", "groups", "hostile", "compare", "threshold", "monitor", "joint", "study")


@pytest.fixture
def opened(browser: Any, reports: dict[str, Path]) -> Iterator[Open]:
    """Return how to open a page; whatever it says to the console or asks of the network fails the test."""
    contexts, said, asked = [], list[str](), list[str]()

    def open_(name: str, width: int = 1000, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(reports[name].as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert len([url for url in asked if url.startswith("file:")]) == len(contexts)


@pytest.mark.parametrize("name", KINDS)
def test_no_error_no_request(name: str, opened: Open) -> None:
    """Every kind of page loads without a word on the console or a request, at three widths, and fits a phone."""
    for width in (375, 800, 1440):
        page = opened(name, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("h1").count() == 1
        assert page.locator("#verdict dd, #verdict p").count() > 0


def slide(page: Any, k: int) -> None:
    """Move the slider to a stop, as the keyboard does."""
    page.evaluate("(k) => { const r = document.getElementById('s-range'); r.value = String(k);"
                  " r.dispatchEvent(new Event('input')); }", k)  # fmt: skip


def number(text: str) -> float:
    """Return the first number of a text."""
    return float(text.replace("≥", "").split()[0])


def whole(count: float) -> str:
    """Return a count of cases as the page says it."""
    return "fewer than 1" if 0.0 < count < 1.0 else str(int(np.floor(count + 0.5)))


def test_numbers_of_the_slider_are_those_of_python(opened: Open) -> None:
    """At 200 thresholds: coverage, risk, interval, errors and reviews per 1,000, cost."""
    page = opened("evaluate")
    loss = OUTPUTS.loss_per_sample()
    checked = 0
    for which, name in enumerate(("msp", "max_logit")):
        page.select_option("#s-score", str(which))
        column = np.asarray((OUTPUTS.scores or {})[name])
        last = int(page.get_attribute("#s-range", "max"))
        for k in np.unique(np.linspace(0, last, 100).astype(int)).tolist():
            slide(page, k)
            seen = {
                key: page.inner_text(f"#o-{key}") for key in ("coverage", "risk", "errors", "people", "cost", "exact")
            }
            seen["exact"] = page.text_content("#o-exact")
            accepted = column >= float(seen["exact"])
            n, errors = int(accepted.sum()), int(loss[accepted].sum())
            assert f"{n} of 6000 rows" in seen["coverage"]
            assert number(seen["coverage"]) == pytest.approx(100.0 * n / 6000, rel=6e-3)
            assert number(seen["risk"]) == pytest.approx(100.0 * errors / n, rel=6e-3)
            ends = [100.0 * end for end in abstain.inference.clopper_pearson(errors, n)]
            shown = seen["risk"].partition("[")[2].partition("]")[0].replace("%", "").split(",")
            assert [float(each) for each in shown] == pytest.approx(ends, rel=6e-3, abs=1e-9)
            assert seen["errors"] == whole(1000.0 * errors / 6000)
            assert seen["people"] == whole(1000.0 * (6000 - n) / 6000)
            assert number(seen["cost"]) == pytest.approx(1000.0 * (10 * errors + 6000 - n) / 6000, rel=6e-5)
            checked += 1
    assert checked >= 200


def test_a_saved_policy_loads_and_decides_alike(opened: Open, tmp_path: Path) -> None:
    """By eye it promises nothing and says so; a promised point carries its guarantee; both decide as Python does."""
    page = opened("evaluate")
    column = np.asarray((OUTPUTS.scores or {})["msp"])
    promised = page.locator("#s-promised option").nth(1).get_attribute("value")
    for k in [0, 37, 211, int(page.get_attribute("#s-range", "max")), int(promised)]:
        slide(page, k)
        with page.expect_download() as waiting:
            page.click("#s-save")
        waiting.value.save_as(tmp_path / "policy.json")
        shown = page.text_content("#o-policy")
        assert shown is not None
        assert shown.strip() == (tmp_path / "policy.json").read_text("utf-8").strip()  # the pane is what is saved
        policy = abstain.load_policy(tmp_path / "policy.json")
        threshold = float(page.text_content("#o-exact"))
        assert policy.thresholds == {"": threshold}
        assert np.array_equal(policy.accept(column), column >= threshold)
        if k == int(promised):
            assert policy.guarantee is not None
            assert policy.guarantee["risk"] == 0.05
            assert "Promised: a risk of at most 5 %" in page.inner_text("#o-promise").replace("\N{NO-BREAK SPACE}", " ")
        else:
            assert policy.guarantee is None
            assert policy.about["note"] == "chosen by eye, no promise"
            assert "no promise" in page.inner_text("#o-promise").replace("\N{NO-BREAK SPACE}", " ")
        text = (tmp_path / "policy.json").read_text("utf-8")
        (tmp_path / "policy.json").write_text(text.replace('"n": 6000', '"n": 6001', 1))
        with pytest.raises(ValueError, match="was edited"):
            abstain.load_policy(tmp_path / "policy.json")


def test_dragging_snaps_to_promised_points(opened: Open) -> None:
    """The mouse is drawn to a marked point from close by; the keyboard stops at every one."""
    page = opened("evaluate")
    promised = [int(each.get_attribute("value")) for each in page.locator("#s-promised option").all()[1:]]
    assert len(promised) == 3
    page.dispatch_event("#s-range", "pointerdown")
    slide(page, promised[0] + 2)
    assert page.input_value("#s-range") == str(promised[0])
    page.dispatch_event("#s-range", "pointerup")
    slide(page, promised[0] + 2)
    assert page.input_value("#s-range") == str(promised[0] + 2)


def test_the_keyboard_alone_is_enough(opened: Open) -> None:
    """Tab reaches every control, arrows move the threshold by a stop, a promise is chosen and costs are used."""
    page = opened("evaluate")
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    for control in ("s-score", "s-range", "s-promised", "s-error", "s-review", "s-cheapest", "s-save", "SUMMARY"):
        assert control in reached
    page.focus("#s-range")
    before = int(page.input_value("#s-range"))
    page.keyboard.press("ArrowRight")
    assert int(page.input_value("#s-range")) == before + 1
    assert "coverage" in page.get_attribute("#s-range", "aria-valuetext")
    page.focus("#s-cheapest")
    page.keyboard.press("Enter")
    least = number(page.inner_text("#o-cost"))
    for k in range(0, int(page.get_attribute("#s-range", "max")), 25):
        slide(page, k)
        assert number(page.inner_text("#o-cost")) >= least * (1 - 1e-4)


@pytest.mark.parametrize("name", KINDS)
def test_dark_and_print(name: str, opened: Open) -> None:
    """Dark paper is dark and ink light; printed, nothing is left that only a screen can use, and all fits the page."""
    page = opened(name, color_scheme="dark")
    light = (
        "(e) => getComputedStyle(document.body)[e].match(/\\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3"
    )
    assert page.evaluate(light, "backgroundColor") < 60
    assert page.evaluate(light, "color") > 180
    page = opened(name)
    page.emulate_media(media="print")
    assert page.evaluate(light, "backgroundColor") > 240
    hidden = "() => [...document.querySelectorAll('nav, button, input[type=range]')].filter(e => e.offsetParent).length"
    assert page.evaluate(hidden) == 0
    assert len(page.pdf(format="A4")) > 5000


@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_nothing(name: str, opened: Open) -> None:
    """axe-core finds no violation, in light and dark, on a phone and a desk."""
    axe = pytest.importorskip("axe_core_python", reason="NOT TESTED FOR ACCESSIBILITY: needs axe-core-python")
    source = (Path(axe.__file__).parent / "axe.min.js").read_text("utf-8")
    for width, scheme in ((375, "light"), (1440, "dark")):
        page = opened(name, width, color_scheme=scheme, bypass_csp=True)
        page.evaluate(source)
        found = page.evaluate("axe.run()")["violations"]
        shown = [(each["id"], each["nodes"][0]["html"][:120], len(each["nodes"])) for each in found]
        assert shown == [], json.dumps(shown, indent=1)
