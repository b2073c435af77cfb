"""The report in a real browser: it computes, nothing in it executes, and everyone can use it."""

import json
import re
from functools import cache

import numpy as np
import pytest

from priory import NaiveBayes, TextNB
from priory.examples import play_tennis
from priory.reporting import report

from ..export.test_export_json import columns_of
from .browser import AXE, needs_browser, resize, run

pytestmark = needs_browser

HOSTILE = [
    "</script><script>window.hurt=1</script>",
    "<img src=x onerror=window.hurt=1>",
    "\"'><svg onload=window.hurt=1>",
    "javascript:window.hurt=1",
    "\u202etxt.exe\u2066",
    "{{constructor.constructor('window.hurt=1')()}}",
    "__proto__",
    "]]><!--",
]


@pytest.fixture
def show(browser, tmp_path):
    """Return a function that opens a report, at a width, in light or dark."""

    def open_(found, width=1300, dark=False):
        path = tmp_path / "report.html"
        found.save(path)
        resize(browser, width, dark)
        browser.get_log("browser")
        browser.get(path.as_uri())
        return browser

    return open_


def mixed(n=400, tuned=True):
    X, y = columns_of(n=n)
    return (NaiveBayes() if tuned else NaiveBayes.textbook()).fit(X, y), X, y


def wide(n=400):
    """Make two classes, a label with many values, and dates."""
    rng = np.random.default_rng(5)
    y = rng.choice(["no", "yes"], n)
    X = {
        "street": rng.choice([f"street {i}" for i in range(90)], n).astype(object),
        "day": np.datetime64("2024-01-01") + rng.integers(0, 300, n) * (1 + (y == "yes")),
        "size": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(y == "yes", 1, n)),
        "fits": rng.random(n) < 0.4,
    }
    return NaiveBayes().fit(X, y), X, y


def texts(n=300):
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(300)])
    y = rng.integers(0, 2, n)
    found = [" ".join(rng.choice(words[k * 60 : k * 60 + 200], 20)) for k in y]
    return TextNB().fit(found, np.array(["ham", "spam"])[y]), found, np.array(["ham", "spam"])[y]


def cached(make):
    """Make a model and its report once for all tests."""
    found = cache(make)
    return cache(lambda: (*found(), report(*found())))


MAKERS = {
    "mixed": cached(mixed),
    "plain": cached(lambda: mixed(tuned=False)),
    "wide": cached(wide),
    "texts": cached(texts),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_page_computes_what_python_does(show, make):
    model, X, y, found = make()
    page = show(found)
    assert page.execute_script("return document.documentElement.dataset.ready") == "true"
    assert not [line for line in page.get_log("browser") if line["level"] == "SEVERE"]
    raw = {"text": X} if isinstance(X, list) else X
    frame = model.classifier_.frame(raw)
    schema = model.statistics_.schema
    blocks = {name: b.name for b in schema if b.pairing is None for name in b.columns}
    rows = [
        [None if (v := frame[blocks[name]].value(i)) is None else v for name in schema.columns]
        for i in range(len(y))
    ]
    script = """
        const page = JSON.parse(document.getElementById("priory-data").textContent);
        const model = priory.prepare(page.model);
        return given[0].map((row) => priory.posterior(model, row));
    """
    np.testing.assert_allclose(run(page, script, rows), model.predict_proba(X), rtol=0, atol=1e-12)


def shown_answer(page):
    """Read the probability of each class from the page."""
    pairs = run(
        page,
        """return [...document.querySelectorAll("#priory-classes li")].map((item) =>
           [".name", ".number"].map((part) => item.querySelector(part).textContent));""",
    )
    return {name: float(text.replace("\u00a0%", "")) / 100 for name, text in pairs}


def test_controls_set_the_row(show):
    X, y = play_tennis()
    model = NaiveBayes.textbook(smoothing=0.5).fit(X, y)
    page = show(report(model, X, y))
    day = {"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}
    for name, value in day.items():
        page.execute_script(
            """const [name, value] = arguments;
            const label = [...document.querySelectorAll(".column label")]
                .find((one) => one.textContent === name);
            const control = document.getElementById(label.htmlFor);
            const option = [...control.options].find((one) => one.textContent === value);
            control.value = option.value;
            control.dispatchEvent(new Event("input", {bubbles: true}));""",
            name,
            value,
        )
    expected = dict(zip(["No", "Yes"], model.predict_proba([day])[0], strict=True))
    assert shown_answer(page) == pytest.approx(expected, abs=0.0006)
    page.find_element("css selector", "button[data-row=empty]").click()
    assert shown_answer(page) == pytest.approx({"No": 5 / 14, "Yes": 9 / 14}, abs=0.0006)


def test_sliders_and_boxes_agree(show):
    page = show(MAKERS["wide"]()[-1])
    found = run(
        page,
        """const column = [...document.querySelectorAll(".column")]
            .find((one) => one.querySelector("label").textContent === "size");
        const slider = column.querySelector(".slider"), box = column.querySelector("[type=number]");
        slider.value = 3;
        slider.dispatchEvent(new Event("input"));
        const moved = box.value;
        box.value = "1.25";
        box.dispatchEvent(new Event("input"));
        const typed = slider.value;
        column.querySelector(".clear").click();
        return [moved, typed, box.value, slider.getAttribute("aria-valuetext")];""",
    )
    assert float(found[0]) == pytest.approx(3, abs=0.1)
    assert float(found[1]) == pytest.approx(1.25, abs=0.1)
    assert found[2:] == ["", "missing"]


def test_a_text_is_split_and_its_words_are_shown(show):
    model, _, _, found = MAKERS["texts"]()
    page = show(found)
    text = "word3 word3 word250 nothing <b>"
    page.find_element("css selector", "textarea").send_keys(text)
    expected = dict(zip(["ham", "spam"], model.predict_proba([text])[0], strict=True))
    assert shown_answer(page) == pytest.approx(expected, abs=0.0006)
    words = page.find_elements("css selector", ".words li")
    assert {word.text.split()[0] for word in words} == {"word3", "word250"}


def test_hostile_names_labels_and_texts_do_nothing(show):
    rng = np.random.default_rng(0)
    n = 200
    y = rng.choice(HOSTILE[:3], n)
    X = {name: rng.choice(HOSTILE, n).astype(object) for name in HOSTILE}
    X["<b>number</b>"] = rng.normal(y == HOSTILE[0])
    X["text"] = [" ".join(rng.choice(HOSTILE, 8)) for _ in range(n)]
    model = NaiveBayes(text=["text"]).fit(X, y)
    found = model.report(X, y, rows=[0, 1], title=HOSTILE[0])
    page = show(found)
    assert page.execute_script("return document.documentElement.dataset.ready") == "true"
    for button in page.find_elements("css selector", "button[data-row]"):
        button.click()
    page.find_element("css selector", "textarea").send_keys(HOSTILE[1])
    assert page.execute_script("return window.hurt") is None
    assert page.execute_script("return ({}).polluted") is None
    inside = "return document.querySelectorAll('main img, main script, main iframe').length"
    assert page.execute_script(inside) == 0
    links = "return [...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))"
    assert all(re.fullmatch(r"#\w+", link) for link in page.execute_script(links))
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", found.html)
    assert not [line for line in page.get_log("browser") if line["level"] == "SEVERE"]


def test_a_script_that_got_in_would_not_run(show):
    X, y = play_tennis()
    found = report(NaiveBayes().fit(X, y), X, y)
    evil = "<img src=x onerror='window.hurt=1'><script>window.hurt=1</script>"
    broken = type(found)(found.html.replace("<footer>", f"<footer>{evil}"))
    page = show(broken)
    assert page.execute_script("return window.hurt") is None
    assert page.execute_script("return document.documentElement.dataset.ready") == "true"


def test_nothing_is_fetched(show):
    page = show(MAKERS["wide"]()[-1])
    page.get_log("performance")
    page.refresh()
    page.find_element("css selector", "button[data-row=typical]").click()
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    urls = [
        e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
    ]
    assert {url.partition(":")[0] for url in urls} <= {"file", "data"}
    assert len([url for url in urls if url.startswith("file:")]) == 1


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here: scripts/browser.sh")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1300])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_it_is_accessible(show, make, width, dark):
    *_, found = make()
    page = show(found, width, dark)
    page.execute_script("for (const d of document.querySelectorAll('details')) d.open = true;")
    # The policy of the page lets no other script in; the driver is above it.
    page.execute_script(AXE.read_text("utf-8"))
    found = page.execute_async_script(
        "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then("
        "({violations}) => done(JSON.stringify(violations.map(({id, nodes}) =>"
        " [id, nodes.slice(0, 3).map(({html, failureSummary}) => html + failureSummary)]))));"
    )
    assert json.loads(found) == []


@pytest.mark.parametrize("width", [400, 1300])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_nothing_is_wider_than_the_screen(show, make, width):
    *_, found = make()
    page = show(found, width)
    page.execute_script("for (const d of document.querySelectorAll('details')) d.open = true;")
    wide = run(
        page,
        """const most = document.documentElement.clientWidth;
        return [...document.querySelectorAll("body *")]
            .filter((one) => !one.closest(".scroll, svg"))
            .filter((one) => one.getBoundingClientRect().right > most + 1)
            .map((one) => one.outerHTML.slice(0, 90));""",
    )
    assert wide == []
    assert page.execute_script("return document.documentElement.scrollWidth") <= width


def test_every_control_is_reached_by_the_keyboard(show):
    page = show(MAKERS["wide"]()[-1])
    every = "[...document.querySelectorAll('select, input, textarea, button, a, summary')]"
    wanted, reached = page.execute_script(f"return {every}.length"), set()
    for _ in range(2 * wanted + 40):
        page.switch_to.active_element.send_keys("\ue004")  # the tabulator
        reached.add(page.execute_script(f"return {every}.indexOf(document.activeElement)"))
    assert len(reached - {-1}) == wanted
