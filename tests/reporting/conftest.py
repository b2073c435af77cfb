import pytest

from .browser import start


@pytest.fixture(scope="session")
def browser():
    driver = start()
    yield driver
    driver.quit()
