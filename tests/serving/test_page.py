"""The served page in a real browser: every view, small and large, light and dark, by keyboard."""

import json
import time

import pytest

from priory import Classifier

from ..reporting.browser import AXE, needs_browser
from ..reporting.test_page import HOSTILE
from .servers import Server

pytestmark = needs_browser

VIEWS = ("overview", "ask", "quality")


@pytest.fixture(scope="module")
def server(trained):
    n = len(HOSTILE)
    table = {"x": HOSTILE * 8, HOSTILE[0]: [float(i % n) for i in range(8 * n)]}
    hostile = Classifier().update(table, [HOSTILE[i % 2] for i in range(8 * n)])
    hostile.save(trained / "hostile.priory", keep_sample=True)
    names = ("votes", "messages", "days", "hostile")
    with Server(*(trained / f"{name}.priory" for name in names), "--log", "none") as found:
        yield found


@pytest.fixture
def show(browser, server):
    """Return a function that opens a view of a model, at a width, in light or dark."""

    def open_(view, model="votes", width=1300, dark=False):
        wishes = {"color-scheme": "dark" if dark else "light", "reduced-motion": "reduce"}
        features = [{"name": f"prefers-{name}", "value": wish} for name, wish in wishes.items()]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        browser.get("about:blank")
        browser.get_log("browser"), browser.get_log("performance")
        browser.get(f"http://127.0.0.1:{server.port}/#{view}")
        until(browser, f"document.documentElement.dataset.view === {view!r}")
        if model != "votes":
            choose(browser, "model", model)
            until(browser, f"document.getElementById('about').textContent.startsWith('{model}:')")
            until(browser, "document.getElementById('view').ariaBusy === 'false'")
        if view == "ask":
            until(browser, "document.getElementById('explained').dataset.answered")
        return browser

    return open_


def until(browser, condition):
    for _ in range(400):
        if browser.execute_script(f"return Boolean({condition})"):
            return
        time.sleep(0.05)
    raise AssertionError(f"never: {condition}")


def choose(browser, name, value, event="change"):
    script = "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
    script += f"e.dispatchEvent(new Event('{event}', {{bubbles: true}}));"
    browser.execute_script(script, name, value)


def text_of(browser, name):
    return browser.execute_script(f"return document.getElementById('{name}').innerText")


@pytest.mark.parametrize("model", ["votes", "messages", "hostile"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_fits_and_can_be_used_by_everyone(show, view, model):
    for width, dark in ((380, True), (1600, False)):
        browser = show(view, model, width, dark)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert text_of(browser, "notice") == ""
        assert browser.execute_script("return window.hurt") is None
        assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []
        if AXE.exists():
            browser.execute_script(AXE.read_text("utf-8"))
            found = browser.execute_async_script(
                "axe.run().then(({violations}) => arguments[0](violations.map("
                "({id, nodes}) => [id, nodes[0].html])))"
            )
            assert found == []


def test_nothing_is_fetched_from_elsewhere_and_it_appears_soon(show, server):
    browser = show("overview")
    asked = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    assert asked and all(
        url.startswith((f"http://127.0.0.1:{server.port}/", "data:")) for url in asked
    )
    paint = browser.execute_script(
        "return performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    assert paint < 3_000  # a second, where nothing else runs


def test_the_form_computes_what_the_api_answers(show, server):
    browser = show("ask")
    place = browser.execute_script(
        "return document.querySelector('.column[data-column] select').id"
    )
    for choice in ("0", "1", "other", ""):
        browser.execute_script("delete document.getElementById('explained').dataset.answered")
        choose(browser, place, choice, "input")
        until(browser, "document.getElementById('explained').dataset.answered")
        computed, answered = browser.execute_script(
            "const d = document.getElementById('explained').dataset;"
            "return [JSON.parse(d.computed), JSON.parse(d.answered)]"
        )
        assert computed == pytest.approx(answered, abs=1e-12)
    told = text_of(browser, "explained")
    assert all(part in told for part in ("90 % interval", "Why", "What would flip it", "P(class)"))


def test_a_text_is_shaded_as_it_is_typed(show):
    browser = show("ask", "messages")
    choose(browser, "column-0", "claim your free prize", "input")
    until(browser, "document.querySelectorAll('#explained mark').length >= 3")
    marked = browser.execute_script(
        "return [...document.querySelectorAll('#explained mark')].map((m) => m.textContent)"
    )
    assert "free" in marked


def test_a_threshold_follows_what_errors_cost(show):
    browser = show("quality")
    missed = []
    for cost in ("-50", "0", "50"):
        choose(browser, "cost", cost, "input")
        told = browser.execute_script(
            "return document.querySelector('.threshold [role=status]').innerText"
        )
        missed.append(int(told.split(" missed")[0].split()[-1]))
    assert missed[0] >= missed[1] >= missed[2] and missed[0] > missed[2]
    choose(browser, "threshold", "0", "input")
    told = browser.execute_script(
        "return document.querySelector('.threshold [role=status]').innerText"
    )
    assert "100.0\xa0% of 168 are found" in told


def test_views_are_reached_by_keyboard(show):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser = show("overview")
    browser.find_element(By.CSS_SELECTOR, 'nav a[href="#quality"]').send_keys(Keys.ENTER)
    until(browser, "document.documentElement.dataset.view === 'quality'")
    until(browser, "document.activeElement.id === 'main'")
    current = browser.find_elements(By.CSS_SELECTOR, "nav a[aria-current]")
    assert [link.text for link in current] == ["Quality"]
    first = browser.find_element(By.CSS_SELECTOR, "body > a.skip")
    assert first.get_attribute("href").endswith("#main")
