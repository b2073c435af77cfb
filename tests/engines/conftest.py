"""Tests on real engines, which `make test-engines` starts; `make test` skips them with the reason.

Each engine has a module of its own with its fixtures, and every one runs the cases of `cases.py`.
"""

import os

import pytest
from tests.engines.spark_cluster import cluster, session

__all__ = ["cluster", "session"]


def pytest_collection_modifyitems(items):
    if os.environ.get("PRIORY_ENGINES"):
        return
    here = os.path.dirname(__file__)
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.skip("make test-engines runs the tests on real engines"))
