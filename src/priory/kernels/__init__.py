"""Loops over arrays, compiled: no validation, no strings, no classes; a negative code means missing."""
