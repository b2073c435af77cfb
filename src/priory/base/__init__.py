"""What every package may use: errors, types, labels, threads, formatting, lazy imports."""

from __future__ import annotations
