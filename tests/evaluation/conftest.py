"""Settings of the tests of evaluations."""

from hypothesis import settings

settings.register_profile("evaluation", deadline=None)  # scikit-learn is slow to check arguments
settings.load_profile("evaluation")
