"""Shared by every package: errors, types, labels, threads, formatting, lazy imports."""

from __future__ import annotations
