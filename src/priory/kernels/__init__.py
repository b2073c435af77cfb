"""Loops over arrays, compiled: no validation, no strings; a negative code means missing."""
