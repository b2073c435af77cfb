import pytest

from priory import Settings, train

from .servers import ROOT


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """Train once: days by the textbook, votes tuned with its sample, messages of text."""
    folder = tmp_path_factory.mktemp("models")
    days = train(ROOT / "examples" / "play_tennis.csv", "play", settings=Settings.textbook())
    days.save(folder / "days.priory")
    votes = train(ROOT / "src" / "priory" / "examples" / "house_votes.csv", "party")
    votes.save(folder / "votes.priory", keep_sample=True)
    train(ROOT / "examples" / "messages.csv", "kind").save(folder / "messages.priory")
    return folder


@pytest.fixture
def models(trained, tmp_path):
    """Copy the model files, so that a test may change them."""
    for path in trained.glob("*.priory"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path
