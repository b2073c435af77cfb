from . import fuzz


def test_a_few_random_strings_with_every_option():
    done, _ = fuzz.run(300, seed=1)
    assert len(done) == len(fuzz.KINDS)
