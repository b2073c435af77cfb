from hypothesis import settings

# A busy machine is no failure of a law.
settings.register_profile("network", deadline=None)
settings.load_profile("network")
