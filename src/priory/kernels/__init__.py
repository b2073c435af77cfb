"""Loops over arrays, compiled: shapes are checked, values are not; a negative code is missing."""
