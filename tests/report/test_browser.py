"""The report in a real browser: the script's numbers, the policy that it saves, keyboard, dark, print, accessibility.

Needs Chromium and Playwright; where either lacks all of this is skipped, and the last line of the run says so.
"""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import abstain
from tests.report import kinds

CHROMIUM = os.environ.get("ABSTAIN_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None or not os.environ.get("ABSTAIN_BROWSER"):
    WHY = "NOT TESTED IN A BROWSER: needs Chromium, and takes minutes: make test-browser"
    pytest.skip(WHY, allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api", reason="NOT TESTED IN A BROWSER: needs playwright")

OUTPUTS = abstain.datasets.load("llama3_70b_mmlu")
KINDS = (*kinds.KINDS, "study")


@pytest.fixture(scope="module")
def browser():
    """Return Chromium without a window."""
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Return a page of every kind."""
    folder = tmp_path_factory.mktemp("reports")
    for name, make in {**kinds.KINDS, "study": lambda: kinds.study(folder)}.items():
        result, source = make()
        result.report(folder / f"{name}.html", **source)
    return {name: folder / f"{name}.html" for name in KINDS}


@pytest.fixture
def opened(browser, reports):
    """Return how to open a page; whatever it says to the console or asks of the network fails the test."""
    contexts, said, asked = [], list[str](), list[str]()

    def open_(name, width=1000, **options):
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
def test_no_error_no_request(name, opened):
    """Every kind of page loads without a word on the console or a request, at three widths, and fits a phone."""
    for width in (375, 800, 1440):
        page = opened(name, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("h1").count() == 1
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", KINDS)
def test_the_first_screen_holds_the_decision(name, opened):
    """At 1440 x 900 headline, chart, numbers, slider, saving and caveats; on a phone the headline and the chart."""
    page = opened(name, 1440)
    parts = "h1, .status, .board svg[role=img], .numbers dd, .slide input, #s-save, .caveats li"
    seen = [each.bounding_box() for each in page.locator(f".lead :is({parts})").all() if each.is_visible()]
    assert len(seen) >= 2
    assert max(box["y"] + box["height"] for box in seen) <= 900
    drawn = ".lead .board svg[role=img]:visible"  # each chart is drawn for a screen and for a phone
    assert page.locator(drawn).count() <= 1
    if page.locator(drawn).count() == 0:
        return  # of a plan of equal probabilities there is nothing to draw
    page = opened(name, 375)
    chart = page.locator(drawn).first.bounding_box()
    assert page.locator("h1").bounding_box()["y"] < chart["y"]
    assert chart["y"] + chart["height"] <= 900


def stops(page):
    """Return the scores that the slider has."""
    return json.loads(page.text_content("#slider-data"))["scores"]


def place(one, k):
    """Return where a stop lies on the slider: its coverage."""
    return float(one["stops"][k][2] / one["total"])


def slide(page, one, k):
    """Move the slider to a stop, as the pointer does."""
    page.evaluate("(x) => { const r = document.getElementById('s-range'); r.value = String(x);"
                  " r.dispatchEvent(new Event('input')); }", place(one, k))  # fmt: skip


def in_per_cent(value):
    """Return a share as the page says it."""
    cents = 100.0 * value
    if 0.0 < cents < 0.995:
        return "< 0.01 %" if cents < 0.01 else f"{cents:.2g} %"
    return f"{cents:.0f} %" if cents in (0.0, 100.0) else f"{np.floor(10.0 * cents + 0.5) / 10.0:.1f} %"


def whole(count):
    """Return a count of cases as the page says it."""
    return "< 1" if 0.0 < count < 1.0 else f"{int(np.floor(count + 0.5)):,}"


def test_numbers_of_the_slider_are_those_of_python(opened):
    """At 200 thresholds: coverage, error rate, interval, errors and reviews per 1,000, cost, and the marked point."""
    page = opened("evaluate")
    page.locator("details.section:has(#controls) > summary").click()
    loss = OUTPUTS.loss_per_sample()
    left, right, start, end, low, high, bottom, top = range(8)
    axes = [float(each) for each in page.get_attribute("svg[data-axes]", "data-axes").split(",")]
    for which, name in enumerate(("msp", "max_logit")):
        page.select_option("#s-score", str(which))
        one, column = stops(page)[which], np.asarray((OUTPUTS.scores or {})[name])
        assert len(one["stops"]) >= 100
        for k in np.linspace(0, len(one["stops"]) - 1, 100).astype(int).tolist():
            slide(page, one, k)
            names = ("coverage", "risk", "errors", "reviews", "cost", "exact")
            seen = {key: " ".join((page.text_content(f"#o-{key}") or "").split()) for key in names}
            assert seen["exact"] == one["stops"][k][0]
            accepted = column >= float(seen["exact"])
            n, errors = int(accepted.sum()), int(loss[accepted].sum())
            risk, ends = errors / n, abstain.inference.clopper_pearson(errors, n)
            interval = " to ".join(map(in_per_cent, ends))
            assert seen["coverage"] == f"{in_per_cent(n / 6000)}{n:,} of 6,000 rows"
            assert seen["risk"] == f"{in_per_cent(risk)}{interval}"
            assert seen["errors"] == whole(1000.0 * errors / 6000)
            assert seen["reviews"] == whole(1000.0 * (6000 - n) / 6000)
            assert float(seen["cost"]) == pytest.approx(1000.0 * (10 * errors + 6000 - n) / 6000, rel=6e-5)
            x, y = (float(page.get_attribute(".here", each)) for each in ("cx", "cy"))
            across = (n / 6000 - axes[left]) / (axes[right] - axes[left])
            up = (min(risk, axes[high]) - axes[low]) / (axes[high] - axes[low])
            assert x == pytest.approx(axes[start] + across * (axes[end] - axes[start]), abs=0.06)
            assert y == pytest.approx(axes[bottom] + up * (axes[top] - axes[bottom]), abs=0.06)


@pytest.mark.parametrize("name", ["evaluate", "groups", "graded", "threshold"])
def test_the_page_without_a_script_shows_the_same_numbers(name, opened):
    """The numbers in the file are those that the script shows first; the chart is there, too."""
    numbers = "[...document.querySelectorAll('.numbers dd')].map((each) => each.textContent).filter((each) => each)"
    live, still = opened(name), opened(name, java_script_enabled=False)
    shown = [each.text_content() for each in still.locator(".numbers dd").all()]
    assert [each for each in shown if each] == [each for each in live.evaluate(numbers) if each][: len(shown) - 1]
    assert still.locator(".lead svg[role=img] .line").count() > 0
    assert not still.locator("#s-save").is_visible()


def test_a_saved_policy_loads_and_decides_alike(opened, tmp_path):
    """By eye nothing is certified, which it says; a certified point carries its guarantee; both decide as Python."""
    page = opened("evaluate")
    one = stops(page)[0]
    column = np.asarray((OUTPUTS.scores or {})["msp"])
    certified = min(map(int, one["certified"]))
    for k in [0, 37, 111, len(one["stops"]) - 1, certified]:
        slide(page, one, k)
        with page.expect_download() as waiting:
            page.click("#s-save")
        waiting.value.save_as(tmp_path / "policy.json")
        shown = page.text_content("#o-policy")
        assert shown.strip() == (tmp_path / "policy.json").read_text("utf-8").strip()  # the pane is what is saved
        policy = abstain.load_policy(tmp_path / "policy.json")
        threshold = float(page.text_content("#o-exact"))
        assert policy.thresholds == {"": threshold}
        assert np.array_equal(policy.accept(column), column >= threshold)
        status = page.inner_text("#o-guarantee").replace("\N{NO-BREAK SPACE}", " ")
        if k == certified:
            assert policy.guarantee["risk"] == 0.05
            assert status.startswith("Certified: error rate at most 5 %, with 95 % confidence")
        else:
            assert policy.guarantee is None
            assert policy.about["note"] == "chosen by eye, not certified"
            assert status.startswith("Chosen by eye, not certified.")
        saves = "limit 5 %" if k == certified else "not certified"
        assert page.inner_text("#s-save") == f"Save policy ({saves})"
        text = (tmp_path / "policy.json").read_text("utf-8")
        (tmp_path / "policy.json").write_text(text.replace('"n": 6000', '"n": 6001', 1))
        with pytest.raises(ValueError, match="was edited"):
            abstain.load_policy(tmp_path / "policy.json")


def test_dragging_snaps_to_certified_points(opened):
    """The pointer is attracted by a marked point from close by; the keyboard stops at every one."""
    page = opened("evaluate")
    one = stops(page)[0]
    certified = sorted(map(int, one["certified"]))
    assert len(certified) == 3
    page.dispatch_event("#s-range", "pointerdown")
    slide(page, one, certified[0] + 2)
    assert page.text_content("#o-exact") == one["stops"][certified[0]][0]
    page.dispatch_event("#s-range", "pointerup")
    slide(page, one, certified[0] + 2)
    assert page.text_content("#o-exact") == one["stops"][certified[0] + 2][0]


def test_the_keyboard_alone_is_enough(opened):
    """Tab reaches every control, arrows move the threshold by a stop, a certified point is chosen, costs are used."""
    page = opened("evaluate")
    one = stops(page)[0]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("details.section:has(#controls) > summary").focus()
    page.keyboard.press("Enter")
    page.evaluate("document.activeElement.blur()")
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    wanted = {"s-score", "s-range", "s-certified", "s-error", "s-review", "s-cheapest", "s-save", "SUMMARY"}
    assert wanted <= set(reached)
    page.focus("#s-range")
    for key, k in (("Home", 0), ("ArrowRight", 1), ("ArrowUp", 2), ("ArrowLeft", 1), ("End", len(one["stops"]) - 1)):
        page.keyboard.press(key)
        assert page.text_content("#o-exact") == one["stops"][k][0]
    assert "coverage" in page.get_attribute("#s-range", "aria-valuetext")
    certified = max(one["certified"], key=int)
    page.select_option("#s-certified", certified)
    assert page.text_content("#o-exact") == one["stops"][int(certified)][0]
    page.focus("#s-cheapest")
    page.keyboard.press("Enter")
    least = float(page.inner_text("#o-cost"))
    for k in range(0, len(one["stops"]), 25):
        slide(page, one, k)
        assert float(page.inner_text("#o-cost")) >= least * (1 - 1e-4)


def test_another_score_is_shown_in_the_accent_colour(opened):
    """The curve, the band and the points of the chosen score stand out; the others are grey or hidden."""
    page = opened("evaluate")
    page.locator("details.section:has(#controls) > summary").click()
    page.select_option("#s-score", "1")
    on = page.evaluate("[...document.querySelectorAll('.follows .on')].map((each) => each.dataset.score)")
    assert set(on) == {"max_logit"}
    assert page.inner_text("#o-threshold").startswith("max_logit ≥ ")


@pytest.mark.parametrize("name", KINDS)
def test_dark_and_print(name, opened):
    """Dark paper is dark and ink light; printed, nothing is left that only a screen can use, and all fits the page."""
    page = opened(name, color_scheme="dark")
    light = "(e) => getComputedStyle(document.body)[e].match(/\\d+/g).slice(0, 3).reduce((a, b) => +a + +b) / 3"
    assert page.evaluate(light, "backgroundColor") < 60
    assert page.evaluate(light, "color") > 180
    page = opened(name)
    page.emulate_media(media="print")
    assert page.evaluate(light, "backgroundColor") > 240
    controls = "document.querySelectorAll('button, input[type=range], select')"
    assert page.evaluate(f"() => [...{controls}].filter(e => e.offsetParent).length") == 0
    page.set_viewport_size({"width": 739, "height": 1000})  # a sheet of Letter
    over = "() => [...document.querySelectorAll('.numbers dd')].filter(e => e.scrollWidth > e.clientWidth).length"
    assert page.evaluate(over) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 739
    assert len(page.pdf(format="A4")) > 5000


@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_nothing(name, opened):
    """axe-core finds no violation, in light and dark, on a phone and a desk."""
    axe = pytest.importorskip("axe_core_python", reason="NOT TESTED FOR ACCESSIBILITY: needs axe-core-python")
    source = (Path(axe.__file__).parent / "axe.min.js").read_text("utf-8")
    for width, scheme in ((375, "light"), (1440, "dark")):
        page = opened(name, width, color_scheme=scheme, bypass_csp=True)
        page.evaluate(source)
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        found = page.evaluate("axe.run()")["violations"]
        shown = [(each["id"], each["nodes"][0]["html"][:120], len(each["nodes"])) for each in found]
        assert shown == [], json.dumps(shown, indent=1)
