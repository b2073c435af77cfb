"""The page on Spark says what is so: its blocks run on the cluster, in their order."""

import os

import pytest
from tests.test_docs import ROOT, run_page

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::priory.base.errors.StaleTuningWarning"),
]


@pytest.mark.skipif(os.environ.get("PRIORY_SPARK") == "connect", reason="the page is on classic")
def test_the_page_prints_what_it_says(session, monkeypatch):
    monkeypatch.chdir(ROOT)
    run_page(ROOT / "docs" / "spark.md")  # getOrCreate gives the session that is there
