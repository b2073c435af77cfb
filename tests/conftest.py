"""How Hypothesis makes its examples: the same ones in every run, so that a check means something.

`HYPOTHESIS_PROFILE=explore pytest` looks for new ones.
"""

import os

import pytest
from hypothesis import settings

# A busy machine is no failure of the code: no deadline.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture(scope="session")
def browser():
    """Start the browser for tests of pages; those that use it are skipped where there is none."""
    from .reporting.browser import start

    driver = start()
    yield driver
    driver.quit()
