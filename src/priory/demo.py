"""Show the classifier at work on fourteen days of tennis: `python -m priory.demo`."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from importlib import resources

import numpy as np

from priory.classifier import Classifier
from priory.settings import Settings
from priory.tables import LabelsTable
from priory.typing import Label

__all__ = ["main"]

TARGET = "play"
DAY = {"outlook": "Sunny", "temperature": "Cool", "humidity": "High", "wind": "Strong"}

Row = Mapping[str, str | None]
Forecast = Callable[[Classifier, Row], Mapping[Label, float]]


def main() -> None:
    """Learn the play-tennis table, judge the model and work one prediction out."""
    X, y = play_tennis()
    classifier = Classifier(Settings(smoothing=1.0)).learn(X, y)
    _title("priory: fourteen days, and whether tennis was played", "=")
    _learned(classifier)
    _judged(classifier, X, y)
    _worked_out(classifier)


def play_tennis() -> tuple[list[Row], list[str]]:
    """Return the fourteen days, and for each whether tennis was played.

    >>> X, y = play_tennis()
    >>> X[0], y[0]
    ({'outlook': 'Sunny', 'temperature': 'Hot', 'humidity': 'High', 'wind': 'Weak'}, 'No')
    """
    with (resources.files("priory") / "data" / "play_tennis.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    y = [row.pop(TARGET) for row in rows]
    return [dict(row) for row in rows], y


def leave_one_out(
    classifier: Classifier, X: Sequence[Row], y: Sequence[str], forecast: Forecast
) -> tuple[int, float]:
    """Return how many rows are predicted right, and the log-loss, each row as if never seen."""
    scores = []
    for row, label in zip(X, y, strict=True):
        classifier.forget([row], [label])
        scores.append(_score(forecast(classifier, row), label))
        classifier.learn([row], [label])
    return _summary(scores)


def _learned(classifier: Classifier) -> None:
    statistics = classifier.statistics
    _title("1. What it learned", "-")
    print(f"\n{statistics.n_rows} rows, read once. Each column, and why it is modelled as it is:\n")
    print(_indented(classifier.schema))
    print("\nCounts, and the plain shares they give: P(class), then P(value | class).\n")
    _shares("", "", [str(k) for k in classifier.classes])
    n = statistics.n_rows
    _shares("P(class)", "", [_share(int(rows), n) for rows in statistics.rows])
    for name, table in statistics.tables.items():
        if isinstance(table, LabelsTable):
            print()
            for v, value in enumerate(table.labels):
                shares = [_share(int(rows[v]), int(rows.sum())) for rows in table.rows]
                _shares(name if v == 0 else "", str(value), shares)


def _judged(classifier: Classifier, X: Sequence[Row], y: Sequence[str]) -> None:
    before = classifier.statistics
    rows = [
        ("all four columns, on days it has learned", _resubstitution(classifier, X, y)),
        ("all four columns, leave-one-out", leave_one_out(classifier, X, y, _from_all)),
        (
            "no column, the class prior alone, leave-one-out",
            leave_one_out(classifier, X, y, _from_none),
        ),
    ]
    _title("2. How good it is", "-")
    print(
        "\nLeave-one-out: a day is forgotten, predicted as if it had never been seen, and\n"
        "learned again. Nothing was tuned, so the figure is honest. Smoothing is 1.\n"
    )
    print(f"  {'':<49}{'right':>9}{'log-loss':>11}")
    for title, (right, loss) in rows:
        print(f"  {title:<49}{f'{right} of {len(y)}':>9}{loss:>11.4f}")
    print(
        "\nThe first line flatters: it asks about days already seen. On days not seen the\n"
        "four columns do worse than the class prior alone: fourteen days are too few."
    )
    same = "the same, bit for bit" if classifier.statistics == before else "NOT the same"
    print(f"\nEvery day was forgotten and learned again, twice;\nthe statistics are {same}.")


def _worked_out(classifier: Classifier) -> None:
    _title("3. One prediction, worked out", "-")
    print(f"\nA day that is {', '.join(DAY.values())}. Without smoothing:\n")
    classifier.read_again(Settings(smoothing=0.0))
    _explained(classifier)
    print("\nThe same counts with smoothing 1, and no second look at the data:\n")
    classifier.read_again(Settings(smoothing=1.0))
    _explained(classifier)


def _explained(classifier: Classifier) -> None:
    print(_indented(classifier.explain([DAY])))
    answer = _from_all(classifier, DAY)
    best, *others = sorted(answer, key=lambda k: -answer[k])
    joint = dict(
        zip(classifier.classes, np.exp(classifier.predict_joint_log_proba([DAY])[0]), strict=True)
    )
    print(
        f"\n  {joint[best]:.4f} against {joint[others[0]]:.4f}: "
        f"so {best}, with probability {answer[best]:.4f}."
    )


def _from_all(classifier: Classifier, row: Row) -> Mapping[Label, float]:
    p = classifier.predict_proba([row])[0]
    return dict(zip(classifier.classes, p.tolist(), strict=True))


def _from_none(classifier: Classifier, row: Row) -> Mapping[Label, float]:
    # A gap leaves its factor out, so a row of gaps is left with the class prior.
    return _from_all(classifier, dict.fromkeys(row))


def _resubstitution(
    classifier: Classifier, X: Sequence[Row], y: Sequence[str]
) -> tuple[int, float]:
    return _summary([_score(_from_all(classifier, r), k) for r, k in zip(X, y, strict=True)])


def _score(answer: Mapping[Label, float], label: str) -> tuple[bool, float]:
    best = max(answer, key=lambda k: answer[k])
    return best == label, -math.log(answer[label])


def _summary(scores: Sequence[tuple[bool, float]]) -> tuple[int, float]:
    return sum(right for right, _ in scores), math.fsum(s for _, s in scores) / len(scores)


def _share(part: int, whole: int) -> str:
    return f"{f'{part}/{whole}':>5}  {part / whole:.4f}"


def _shares(column: str, value: str, shares: Sequence[str]) -> None:
    print(f"  {column:<13}{value:<10}" + "".join(f"{share:>17}" for share in shares))


def _title(text: str, line: str) -> None:
    print(f"\n{text}\n{line * len(text)}")


def _indented(text: object) -> str:
    return "\n".join(f"  {line}".rstrip() for line in str(text).splitlines())


if __name__ == "__main__":
    main()
