"""The version of priory, where every module may see it."""

__all__ = ["__version__"]

__version__ = "0.1.0"
