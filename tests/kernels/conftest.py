from hypothesis import settings

# A busy machine is no failure of a kernel.
settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")
