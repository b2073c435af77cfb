"""A real browser for the tests: Debian's Chromium, driven by Selenium, without a network."""

import json
import os
import shutil
from functools import cache
from pathlib import Path

import pytest

AXE = Path(__file__).parents[2] / "build" / "axe" / "axe.min.js"
"""What checks accessibility; `scripts/browser.sh` fetches it."""

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
)


def why_not():
    """Return why no browser can be driven here, or None."""
    if not os.environ.get("PRIORY_BROWSER"):
        return "a browser is started by make test-browser"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed"
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"{program} is not installed: scripts/browser.sh"
    return None


needs_browser = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


@cache
def start():
    """Start the browser, once for all tests of a process."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def run(browser, script, *given):
    """Run JavaScript; what is given and what comes back are JSON."""
    text = browser.execute_script(
        f"const given = JSON.parse(arguments[0]); return JSON.stringify((() => {{{script}}})());",
        json.dumps(given, allow_nan=False),
    )
    return json.loads(text)


def resize(browser, width, dark):
    """Set the width of the page, and whether it is dark."""
    wishes = {"color-scheme": "dark" if dark else "light", "reduced-motion": "reduce"}
    features = [{"name": f"prefers-{name}", "value": wish} for name, wish in wishes.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )
