"""The served page in a real browser: every view, small and large, light and dark, by keyboard."""

import json
import time

import pytest

from priory import Classifier, load
from priory.serving.tokens import new_token

from ..reporting.browser import AXE, needs_browser, resize
from ..reporting.test_page import HOSTILE
from .servers import ROOT, Server

pytestmark = needs_browser

VIEWS = ("overview", "ask", "quality", "try", "drift")
SIZES = [(width, dark) for width in (380, 1600) for dark in (False, True)]
ASKED = {"crime": "y", "physician-fee-freeze": "y", "mx-missile": "perhaps"}


@pytest.fixture(scope="module")
def server(trained):
    n = len(HOSTILE)
    table = {"x": HOSTILE * 8, HOSTILE[0]: [float(i % n) for i in range(8 * n)]}
    hostile = Classifier().update(table, [HOSTILE[i % 2] for i in range(8 * n)])
    hostile.save(trained / "hostile.priory", keep_sample=True)
    names = ("votes", "messages", "days", "hostile")
    paths = [trained / f"{name}.priory" for name in names]
    with Server(*paths, "--drift", "--log", "none") as found:
        found.ask("POST", "/v1/predict", {"rows": [ASKED] * 30 + [{}] * 10})
        rows = [{HOSTILE[0]: 1.0, "x": value} for value in HOSTILE]
        found.ask("POST", "/v1/models/hostile/predict", {"rows": rows * 5})
        yield found


@pytest.fixture
def show(browser, server):
    """Return a function that opens a view of a model, at a width, in light or dark."""

    def open_(view, model="votes", width=1300, dark=False):
        resize(browser, width, dark)
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


def assert_fits(browser, width):
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def entries(browser, kind):
    """List what the browser itself has noted of a kind, since the page began to load."""
    return browser.execute_async_script(
        """
        const [kind, done] = arguments, found = [];
        new PerformanceObserver((list) => found.push(...list.getEntries())).observe(
          { type: kind, buffered: true });
        setTimeout(() => done(found.map(({ name, startTime, value, sources }) => (
          { name, startTime, value, moved: (sources ?? []).map(({ node }) => node?.nodeName) }
        ))), 100);
        """,
        kind,
    )


def assert_accessible(browser):
    if AXE.exists():
        browser.execute_script(AXE.read_text("utf-8"))
        found = browser.execute_async_script(
            "axe.run().then(({violations}) => arguments[0](violations.map("
            "({id, nodes}) => [id, nodes[0].html])))"
        )
        assert found == []


@pytest.mark.parametrize("model", ["votes", "messages", "hostile"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_fits_and_can_be_used_by_everyone(show, view, model):
    for width, dark in SIZES:
        browser = show(view, model, width, dark)
        assert_fits(browser, width)
        assert text_of(browser, "notice") == ""
        assert browser.execute_script("return window.hurt") is None
        assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []
        assert_accessible(browser)


def test_a_model_is_asked_by_its_own_form_alone(show, server):
    browser = show("ask")
    columns = {
        name: {c["name"] for c in server.ask("GET", f"/v1/models/{name}/schema")[1]["columns"]}
        for name in ("votes", "days", "messages")
    }
    script = """
    const real = window.fetch, wait = (ms) => new Promise((done) => setTimeout(done, ms));
    window.asked = [];
    window.fetch = async (path, given) => {
      window.asked.push([path, given.body ?? null]);
      await wait(path.endsWith("/explain") ? 500 : 300);
      return real(path, given);
    };
    """
    browser.execute_script(script)
    change = "document.querySelector('#priory-form [data-row=empty]').click();"
    for name, pause in (("days", 0.1), ("messages", 0.4), ("votes", 0.0), ("days", 1.2)):
        browser.execute_script(change)
        time.sleep(pause)  # the answer is not asked for yet, or is on its way
        choose(browser, "model", name)
        browser.execute_script(f"{change} window.dispatchEvent(new Event('resize'))")
    until(browser, "document.getElementById('about').textContent.startsWith('days:')")
    until(browser, "document.getElementById('explained')?.dataset.answered")
    asked = browser.execute_script("return window.asked")
    rows = [(path.split("/")[2], json.loads(body)["row"]) for path, body in asked if body]
    assert rows and all(set(row) <= columns[name] for name, row in rows)
    assert text_of(browser, "notice") == "" and rows[-1][0] == "days"
    shown = browser.execute_script("return [...document.querySelectorAll('.column label')].length")
    assert shown == 4
    assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []


def test_a_changed_file_and_a_model_that_is_gone_are_told(browser, trained, tmp_path):
    path = tmp_path / "days.priory"
    path.write_bytes((trained / "days.priory").read_bytes())
    with Server(path, "--log", "none") as server:
        browser.get("about:blank")
        browser.get(f"http://127.0.0.1:{server.port}/#ask")
        until(browser, "document.getElementById('explained')?.dataset.answered")
        changed = load(path)
        day = {"outlook": ["Hail"], "temperature": ["Cool"], "humidity": ["High"], "wind": ["Weak"]}
        changed.update(day, ["No"]).save(path)
        while server.ask("GET", "/v1/schema")[1]["rows"] != 15:
            time.sleep(0.05)
        browser.find_element("css selector", "#priory-form [data-row=empty]").click()
        until(browser, "document.getElementById('notice').innerText.includes('choose Ask again')")
        browser.find_element("css selector", "nav a[href='#ask']").click()
        until(browser, "document.getElementById('about').textContent.includes('15 rows')")
        until(browser, "document.getElementById('explained')?.dataset.answered")
        assert text_of(browser, "notice") == ""
        assert "Hail" in text_of(browser, "view")
        assert browser.execute_script("return document.getElementById('column-0').value") == ""
        server.kill()
        browser.find_element("css selector", "nav a[href='#quality']").click()
        until(browser, "document.getElementById('notice').classList.contains('wrong')")
        assert text_of(browser, "title") == "Quality" and text_of(browser, "view") == ""
        assert "does not answer" in text_of(browser, "notice")


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
    for time_ in ("at first", "again"):
        times = {one["name"]: one["startTime"] for one in entries(browser, "paint")}
        largest = entries(browser, "largest-contentful-paint")[-1]["startTime"]
        first = times["first-contentful-paint"]
        print(f"{time_}: first paint after {first:.0f} ms, the whole view after {largest:.0f} ms")
        assert first < 1_000
        browser = show("overview")
    assert largest < 3_000  # what the server has worked out once


def test_the_view_that_was_opened_last_stays(show):
    browser = show("ask")
    script = """
    const real = window.fetch, wait = (ms) => new Promise((done) => setTimeout(done, ms));
    window.fetch = async (path, ...more) => {
      if (path.endsWith("/overview")) await wait(700);
      return real(path, ...more);
    };
    location.hash = "#overview";
    """
    browser.execute_script(script)
    until(browser, "document.getElementById('notice').innerText.includes('works it out')")
    browser.execute_script("location.hash = '#try'")
    until(browser, "document.documentElement.dataset.view === 'try'")
    time.sleep(1)
    assert text_of(browser, "title") == "Try a file" and text_of(browser, "notice") == ""
    assert browser.execute_script("return document.getElementById('file') !== null")


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_moves_while_a_view_loads(show, view):
    """Count every layout shift, also those that a browser would forgive after some input."""
    for width in (380, 1600):
        browser = show(view, width=width)
        assert entries(browser, "layout-shift") == []
        for other in VIEWS:  # and from each view to another
            browser.execute_script(f"location.hash = '#{other}'")
            until(browser, f"document.documentElement.dataset.view === {other!r}")
            if other == "ask":
                until(browser, "document.getElementById('explained')?.dataset.answered")
        assert entries(browser, "layout-shift") == []


def test_drift_on_the_page_is_that_of_the_api(show, server):
    from selenium.webdriver.common.by import By

    browser = show("drift")
    shown = "document.getElementById('drifted').dataset.answered"
    told = json.loads(browser.execute_script(f"return {shown}"))
    found = server.ask("GET", "/v1/drift")[1]
    assert {**told, "model": "votes"} == found and found["rows"] >= 40
    lines = browser.find_elements(By.CSS_SELECTOR, "#columns tbody tr")
    for line, column in zip(lines, found["columns"], strict=True):
        name, is_drifted, distance = line.text.split()[:3]
        assert (name, float(distance)) == (column["column"], round(column["distance"], 3))
        assert is_drifted == ("drifted" if column["p_corrected"] <= 0.05 else "–")
    (share,) = [one["unseen"] for one in found["columns"] if one["column"] == "mx-missile"]
    assert share == 1.0 and "perhaps" not in browser.page_source
    server.ask("POST", "/v1/predict", {"rows": [{}] * 20})
    browser.find_element(By.ID, "again").click()
    until(browser, f"JSON.parse({shown}).rows === {found['rows'] + 20}")
    nothing = show("drift", "days")
    assert "From 20 rows on" in text_of(nothing, "drifted")


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


def test_a_file_is_read_trained_on_and_predicted(show, tmp_path):
    from selenium.webdriver.common.by import By

    browser = show("try")
    browser.execute_cdp_cmd(
        "Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    path = ROOT / "src" / "priory" / "examples" / "house_votes.csv"
    browser.find_element(By.ID, "file").send_keys(str(path))
    until(browser, "document.getElementById('target').value === 'party'")
    browser.find_element(By.ID, "train").click()
    until(browser, "document.getElementById('predict-new')")
    told = text_of(browser, "tried")
    assert "What was read" in told and "Trained, and compared" in told and "accuracy" in told
    assert_accessible(browser)
    browser.find_element(By.ID, "predict-new").click()
    browser.find_element(By.ID, "save").click()
    wanted = [tmp_path / "predictions.csv", tmp_path / "model.priory"]
    for _ in range(200):
        if all(path.exists() for path in wanted):
            break
        time.sleep(0.05)
    assert len(wanted[0].read_text().splitlines()) == 436
    assert load(wanted[1]).statistics.n_rows == 435


def test_an_answer_is_corrected_and_that_undone(browser, trained, tmp_path):
    from selenium.webdriver.common.by import By

    path = tmp_path / "days.priory"
    path.write_bytes((trained / "days.priory").read_bytes())
    token = new_token(tmp_path / "tokens.json", ["predict", "learn"])
    before = load(path).statistics
    more = ("--learn", "--token-file", tmp_path / "tokens.json", "--log", "none")
    with Server(path, *more) as server:
        browser.get("about:blank")
        browser.get(f"http://127.0.0.1:{server.port}/#ask")
        until(browser, "!document.getElementById('key').hidden")
        until(browser, "document.getElementById('notice').innerText.includes('token is needed')")
        browser.find_element(By.ID, "token").send_keys(token + "\n")
        until(browser, "document.getElementById('explained')?.dataset.answered")
        browser.find_element(By.CSS_SELECTOR, 'nav a[href="#learn"]').click()
        until(browser, "document.documentElement.dataset.view === 'learn'")
        browser.find_element(By.ID, "learn").click()
        until(browser, "document.querySelectorAll('.history li').length === 1")
        assert "outlook = " in browser.find_element(By.CSS_SELECTOR, ".history li").text
        for width, dark in SIZES:
            resize(browser, width, dark)
            assert_fits(browser, width)
            assert_accessible(browser)
        assert load(path).statistics.n_rows == 15
        assert "15 rows" in text_of(browser, "about")
        browser.find_element(By.CSS_SELECTOR, ".history button").click()
        until(browser, "document.querySelectorAll('.history li').length === 0")
        assert load(path).statistics == before


def test_a_row_and_its_undo_stay_with_their_model(browser, trained, tmp_path):
    from selenium.webdriver.common.by import By

    paths = [tmp_path / f"{name}.priory" for name in ("days", "votes")]
    for path in paths:
        path.write_bytes((trained / path.name).read_bytes())
    before = [load(path).statistics for path in paths]
    token = new_token(tmp_path / "tokens.json", ["predict", "learn"])
    more = ("--learn", "--token-file", tmp_path / "tokens.json", "--log", "none")
    with Server(*paths, *more) as server:
        browser.get("about:blank")
        browser.get(f"http://127.0.0.1:{server.port}/#ask")
        until(browser, "!document.getElementById('key').hidden")
        browser.find_element(By.ID, "token").send_keys(f"{token}x\n")
        until(browser, "document.getElementById('notice').innerText.includes('is not known')")
        browser.find_element(By.ID, "token").send_keys(f"{token}\n")
        until(browser, "document.getElementById('explained')?.dataset.answered")
        choose(browser, "column-1", "other", "input")
        browser.find_element(By.CSS_SELECTOR, 'nav a[href="#learn"]').click()
        until(browser, "document.documentElement.dataset.view === 'learn'")
        browser.find_element(By.ID, "learn").click()
        until(browser, "document.getElementById('notice').innerText.includes('does not name')")
        browser.find_element(By.CSS_SELECTOR, 'nav a[href="#ask"]').click()
        until(browser, "document.getElementById('explained')?.dataset.answered")
        assert browser.execute_script("return document.getElementById('column-1').value") == "other"
        choose(browser, "column-1", "0", "input")
        browser.find_element(By.CSS_SELECTOR, 'nav a[href="#learn"]').click()
        until(browser, "document.documentElement.dataset.view === 'learn'")
        twice = "const b = document.getElementById('learn'); b.click(); b.click();"
        browser.execute_script(twice)
        until(browser, "document.querySelectorAll('.history li').length === 1")
        assert load(paths[0]).statistics.n_rows == 15
        choose(browser, "model", "votes")
        until(browser, "document.getElementById('about').textContent.startsWith('votes:')")
        until(browser, "document.getElementById('view').innerText.includes('No row is set')")
        assert browser.find_elements(By.CSS_SELECTOR, ".history li") == []
        choose(browser, "model", "days")
        until(browser, "document.querySelectorAll('.history li').length === 1")
        browser.find_element(By.CSS_SELECTOR, ".history button").click()
        until(browser, "document.querySelectorAll('.history li').length === 0")
        assert [load(path).statistics for path in paths] == before
        assert browser.execute_script("return document.activeElement.id") == "learn"
