"""What a server counts of its own work, as Prometheus reads it; no value of any row is in it."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import defaultdict

__all__ = ["Metrics"]

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0)


class Metrics:
    """Counts of requests, rows and seconds, by route and by model, of one worker.

    >>> metrics = Metrics()
    >>> metrics.answered("/v1/predict", 200, 0.002)
    >>> metrics.rows("days", "predict", 3)
    >>> 'priory_rows_total{model="days",verb="predict"' in metrics.text({})
    True
    """

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], int] = defaultdict(int)
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)
        self._rows: dict[tuple[str, str], int] = defaultdict(int)

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests[route, status] += 1
        self._buckets[route][bisect_left(BUCKETS, seconds)] += 1
        self._seconds[route] += seconds

    def rows(self, model: str, verb: str, n: int) -> None:
        """Count rows that were predicted, explained, learned or forgotten."""
        self._rows[model, verb] += n

    def text(self, gauges: dict[str, dict[str, float]]) -> str:
        """Write everything in the text format of Prometheus; `gauges` are by name and model."""
        worker = f'worker="{os.getpid()}"'
        lines = [
            "# HELP priory_requests_total Requests answered.",
            "# TYPE priory_requests_total counter",
        ]
        lines += [
            f'priory_requests_total{{route="{_quoted(route)}",status="{status}",{worker}}} {n}'
            for (route, status), n in sorted(self._requests.items())
        ]
        lines += [
            "# HELP priory_request_seconds Time from the request to the answer.",
            "# TYPE priory_request_seconds histogram",
        ]
        for route, counts in sorted(self._buckets.items()):
            total, label = 0, f'route="{_quoted(route)}",{worker}'
            for end, n in zip((*BUCKETS, "+Inf"), counts, strict=True):
                total += n
                lines.append(f'priory_request_seconds_bucket{{{label},le="{end}"}} {total}')
            lines.append(f"priory_request_seconds_sum{{{label}}} {self._seconds[route]:.6f}")
            lines.append(f"priory_request_seconds_count{{{label}}} {total}")
        lines += ["# HELP priory_rows_total Rows worked on.", "# TYPE priory_rows_total counter"]
        lines += [
            f'priory_rows_total{{model="{_quoted(model)}",verb="{verb}",{worker}}} {n}'
            for (model, verb), n in sorted(self._rows.items())
        ]
        for name, by_model in gauges.items():
            lines.append(f"# TYPE priory_{name} gauge")
            lines += [
                f'priory_{name}{{model="{_quoted(model)}",{worker}}} {value:g}'
                for model, value in sorted(by_model.items())
            ]
        return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
