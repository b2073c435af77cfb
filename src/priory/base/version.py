"""The version of priory, importable by every module."""

__all__ = ["__version__"]

__version__ = "0.1.0"
