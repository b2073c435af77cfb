"""Try a file: read it, train on it, compare with the model that is served; nothing is kept."""

from __future__ import annotations

import csv
import io
import secrets
import tempfile
import threading
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Any

from priory.base.errors import PrioryError
from priory.classifier.classifier import Classifier
from priory.reporting.figures import FIGURES
from priory.reporting.markup import Html, h, joined
from priory.reporting.reports import learned_figures
from priory.reporting.tables import table
from priory.serving.models import Loaded
from priory.serving.refusals import Refusal, refusal_of

__all__ = ["Trial", "Trials", "predicted_file"]

KEPT = 4
"""So many trials are kept in memory: the last."""

COMPARED = ("accuracy", "balanced_accuracy", "auc", "log_loss", "brier", "calibration_error")


class Trial:
    """A file that is being tried: at first read, then trained on, then compared."""

    def __init__(self, content: bytes, target: str, current: Loaded) -> None:
        self.stage, self.error = "reading", ""
        self.parts: list[Html] = []
        self.columns: list[str] = []
        self.classifier: Classifier | None = None
        self._content, self._target, self._current = content, target, current
        self._opened: Any = None
        threading.Thread(target=self._run, name="priory-trial", daemon=True).start()

    def told(self) -> dict[str, Any]:
        """Say how far it is, and what is known so far."""
        share, opened = None, self._opened
        if opened is not None and self.stage == "training":
            with suppress(Exception):  # another thread may close it just now
                share = opened.fraction_done()
        return {
            "stage": self.stage,
            "progress": share,
            "html": str(joined(*self.parts)),
            "columns": self.columns,
            "error": self.error,
        }

    def _run(self) -> None:
        from priory import sources

        try:
            with tempfile.TemporaryDirectory(prefix="priory-try-") as folder:
                path = Path(folder) / "file.csv"
                path.write_bytes(self._content)
                found = sources.inspect(path, self._target or None)
                self.columns = [column.column for column in found.columns]
                self.parts.append(_reading(found))
                if self._target:
                    self.stage = "training"
                    self._opened = sources.open_source(path)
                    self.classifier = sources.train(self._opened, self._target, progress=False)
                    self.stage = "comparing"
                    self.parts.append(self._compared(path))
            self.stage = "done"
        except PrioryError as error:
            self.stage, self.error = "failed", str(error).replace(str(path), "the file")
        except Exception as error:
            self.stage, self.error = "failed", refusal_of(error).message
        finally:
            self._content, self._opened = b"", None

    def _compared(self, path: Path) -> Html:
        """Put the figures of the new model beside those of the served one on the same rows."""
        from priory.sources.judging import judge

        assert self.classifier is not None
        new, current, told = learned_figures(self.classifier), None, ""
        served = self._current.classifier
        try:
            if {str(k) for k in served.classes} & {str(k) for k in self.classifier.classes}:
                current, _ = judge(served, path, self._target)
            else:
                told = "The served model is of other classes, so there is nothing to compare with."
        except PrioryError as error:
            told = f"The served model cannot be judged on this file: {error}"
            told = told.replace(str(path), "the file")
        rows = []
        for name in COMPARED:
            found = [float(getattr(e, name)) if e is not None else None for e in (new, current)]
            rows.append((FIGURES[name][0], *("–" if x is None else f"{x:.3f}" for x in found)))
        n = self.classifier.statistics.n_rows
        caption = f"A model of these {n:,} rows, each judged without itself, and the served one"
        honest = "What the served model learned of these rows flatters it."
        return h(
            "section",
            h("h2", "Trained, and compared"),
            table(("figure", "of this file", "served"), rows, caption, (1, 2)),
            h("p", told or honest, class_="soft"),
        )


class Trials:
    """The last few trials, by a name that nobody guesses."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Trial] = OrderedDict()

    def begin(self, content: bytes, target: str, current: Loaded) -> str:
        """Begin a trial, one at a time."""
        if any(trial.stage not in ("done", "failed") for trial in self._kept.values()):
            raise Refusal(429, "Another file is being tried; try again in a moment.")
        name = secrets.token_urlsafe(12)
        self._kept[name] = Trial(content, target, current)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return name

    def find(self, name: str) -> Trial:
        """Find a trial that is still kept."""
        if name not in self._kept:
            raise Refusal(404, "This trial is no longer kept: drop the file again.", "trial")
        return self._kept[name]

    def model(self, name: str) -> Classifier:
        """Get the model of a trial."""
        found = self.find(name).classifier
        if found is None:
            raise Refusal(409, "This trial has no model yet.", "trial")
        return found


def saved_bytes(classifier: Classifier) -> bytes:
    """Write a model to a file, and give what is in it."""
    with tempfile.TemporaryDirectory(prefix="priory-try-") as folder:
        path = Path(folder) / "model.priory"
        classifier.save(path, keep_sample=classifier.has_sample)
        return path.read_bytes()


def predicted_file(loaded: Loaded, content: bytes, most: int) -> bytes:
    """Predict the rows of a CSV file: the class, its probability, and those of all classes."""
    from priory.sources.scoring import rows_of

    classifier = loaded.classifier
    with tempfile.TemporaryDirectory(prefix="priory-try-") as folder:
        path = Path(folder) / "file.csv"
        path.write_bytes(content)
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        classes, n = classifier.classes, 0
        writer.writerow(["prediction", "probability", *(f"P({k})" for k in classes)])
        try:
            for X, batch in rows_of(classifier, path, progress=False):
                n += batch.n_rows
                if n > most:
                    raise Refusal(413, f"The file has more than {most:,} rows.", "body")
                for p in loaded.probabilities(X).tolist():
                    best = max(range(len(p)), key=p.__getitem__)
                    writer.writerow([classes[best], p[best], *p])
        except PrioryError as error:
            raise type(error)(str(error).replace(str(path), "the file")) from None
    return out.getvalue().encode()


def _reading(found: Any) -> Html:
    rows = [
        (
            c.column,
            c.kind,
            f"{c.gaps:,}" if c.gaps else "–",
            f"{c.distinct:,}" if c.is_all else f"more than {c.distinct:,}",
            f"left out: {c.left_out}" if c.left_out else c.why,
        )
        for c in found.columns
    ]
    remarks = [str(odd) for odd in found.unread]
    if found.skipped:
        remarks.append(f"Rows that cannot be read: {len(found.skipped):,}.")
    return h(
        "section",
        h("h2", "What was read"),
        table(
            ("column", "kind", "gaps", "distinct", "why"),
            rows,
            f"The columns of {found.rows:,} rows, and how they are read",
            (2, 3),
        ),
        h("ul", [h("li", remark) for remark in remarks]) if remarks else None,
    )
