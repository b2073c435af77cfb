"""Whether decisions keep what they promise: `python -m benchmarks.deciding [PART ...]`.

| part | question |
|---|---|
| costs | what random costs add up to, beside argmax and tuned thresholds of logistic regression |
| priors | whether the class prior of shifted rows is found |
| sets | whether prediction sets cover each class, and how large they are, beside crepes and MAPIE |
| novelty | how many ordinary rows are called unusual, or impossible |
| intervals | whether credible intervals cover, in simulations from the prior |
| unlabelled | what rows without a class add to few rows with one |

The page is `benchmarks/deciding.md`; each part is replaced when it is run.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

import priory
from benchmarks import models
from benchmarks.quality import DATA, data_sets
from benchmarks.report import markdown, write_part
from priory.families import Categorical
from priory.families.priors import NormalInverseGamma

PAGE = Path(__file__).parent / "deciding.md"
TWELVE = (
    "adult", "breast_w", "credit_g", "heart_c", "horse_colic", "pima_diabetes", "spambase",
    "titanic", "car", "glass", "satimage", "vehicle",
)  # fmt: skip
TEN = (
    "adult", "breast_w", "car", "credit_g", "heart_c", "mushroom", "nursery", "pima_diabetes",
    "titanic", "vehicle",
)  # fmt: skip
SHIFTED = ("adult", "breast_w", "credit_g", "mushroom", "pima_diabetes", "spambase", "titanic")
Part = Callable[[Path], str]


def tables(folder: Path, names: Sequence[str], rows: int) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Give name, table and classes of some sets."""
    for name, X, y, _ in data_sets(folder, False, set(names), rows):
        yield name, X, y


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(markdown(head, lines, range(1, len(head))))


# Costs


def costs(folder: Path, matrices: int = 20) -> str:
    """Compare the costs of decisions, relative to those of the best constant decision."""
    lines, all_found = [], []
    for name, X, y in tables(folder, TWELVE, 2_000):
        found = _costs_of(X, y, np.random.default_rng(0), matrices)
        all_found.append(found)
        lines.append((name, *(f"{value:.3f}" for value in found)))
    mean = np.mean(all_found, axis=0)
    lines.append(("mean", *(f"{value:.3f}" for value in mean)))
    head = ("set", "priory, costs", "priory, argmax", "logistic regression, tuned thresholds")
    return (
        f"{matrices} matrices, off the diagonal e^z with z normal; 5 folds of at most 2,000 rows. "
        "The mean cost of a decision, divided by that of the best decision that is the same for "
        "all rows. Thresholds of logistic regression (of more classes a factor for each) are tuned "
        "on its own held-out probabilities.\n\n"
        + _table(head, lines)
        + f"\n\ncosts ÷ argmax: {mean[0] / mean[1]:.3f}"
    )


def _costs_of(X: Any, y: np.ndarray, rng: np.random.Generator, n: int) -> np.ndarray:
    classes = sorted(set(y))
    K, code = len(classes), np.array([classes.index(label) for label in y])
    matrices = np.exp(rng.standard_normal((n, K, K))) * (1 - np.eye(K))
    spent = np.zeros((n, 3))
    constant = np.zeros((n, K))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=1).split(X, y):
        ours = priory.NaiveBayes().fit(X.iloc[train], y[train])
        p = ours.predict_proba(X.iloc[test])
        peer = models.PEERS["logistic regression"][1]()
        known = cross_val_predict(peer, X.iloc[train], y[train], method="predict_proba")
        q = peer.fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])
        for m, cost in enumerate(matrices):
            decided = ours.decide(costs=cost).rule_.codes(p)
            scale = _tuned(known, code[train], cost)
            for j, d in enumerate((decided, p.argmax(1), (q * scale).argmax(1))):
                spent[m, j] += cost[code[test], d].sum()
            constant[m] += cost[code[test]].sum(axis=0)
    return (spent / constant.min(axis=1, keepdims=True)).mean(axis=0)


def _tuned(p: np.ndarray, y: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Tune a factor for each class on held-out probabilities: of two classes a threshold."""
    K = p.shape[1]
    scale = cost.mean(axis=1) / cost.mean()  # a good start: dear errors count more
    grid = np.exp(np.linspace(-6, 6, 49))
    for _ in range(1 if K == 2 else 2):
        for k in range(1, K):
            trials = [np.r_[scale[:k], scale[k] * g, scale[k + 1 :]] for g in grid]
            spent = [cost[y, (p * trial).argmax(1)].sum() for trial in trials]
            scale = trials[int(np.argmin(spent))]
    return scale


# Priors


def priors(folder: Path, repeats: int = 5) -> str:
    """Learn at shares of one half, estimate the prior of rows at .1 and .9."""
    lines, errors, gaps = [], [], []
    for name, X, y in tables(folder, SHIFTED, 4_000):
        classes = sorted(set(y))
        is_second = y == classes[1]
        found = [
            _shifted(X, is_second, share, seed) for share in (0.1, 0.9) for seed in range(repeats)
        ]
        error, gap, inside = np.array(found).T
        errors.append(error.mean())
        gaps.append(gap.mean())
        lines.append((name, f"{error.mean():.4f}", f"{gap.mean():+.4f}", f"{inside.mean():.2f}"))
    lines.append(("mean", f"{np.mean(errors):.4f}", f"{np.mean(gaps):+.4f}", ""))
    head = ("set", "error of the prior", "accuracy − that of the true prior", "in 95 % interval")
    return (
        "Learned on rows with as many of either class; then rows with .1 and .9 of the second one, "
        f"{repeats} draws each.\n\n" + _table(head, lines)
    )


def _shifted(X: Any, y: np.ndarray, share: float, seed: int) -> tuple[float, float, bool]:
    rng = np.random.default_rng(seed)
    one, other = (rng.permutation(np.flatnonzero(y == k)) for k in (True, False))
    n = min(len(one), len(other)) // 2
    learned, one, other = np.r_[one[:n], other[:n]], one[n:], other[n:]
    m = int(min(len(one) / share, len(other) / (1 - share), 2_000))
    new = np.r_[one[: round(m * share)], other[: m - round(m * share)]]
    model = priory.NaiveBayes().fit(X.iloc[learned], y[learned])
    found = model.estimate_prior(X.iloc[new])
    true = y[new].mean()
    right = [
        (model.decide(prior=prior).predict(X.iloc[new]) == y[new]).mean()
        for prior in (found.prior, [1 - true, true])
    ]
    inside = found.low[1] <= true <= found.high[1]
    return abs(found.prior[1] - true), right[0] - right[1], inside


# Sets


def sets(folder: Path, splits: int = 20, peers: int = 2) -> str:
    """Judge the coverage of prediction sets over many splits."""
    lines, worst = [], []
    for name, X, y in tables(folder, TEN, 1_200):
        classes = sorted(set(y))
        code = np.array([classes.index(label) for label in y])
        found = [_covered(X, y, code, seed) for seed in range(splits)]
        means = np.array([(cover.mean(), size) for cover, size, _ in found]).mean(axis=0)
        by_class = np.array([own for _, _, own in found])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            own = np.nanmean(by_class, axis=0)
            error = np.nanstd(by_class, axis=0, ddof=1) / np.sqrt((~np.isnan(by_class)).sum(axis=0))
        beyond = np.abs(own - 0.9) / np.maximum(error, 1e-9)
        worst.append(np.nanmax(beyond))
        others = [f(X, y, code, peers) for f in (_crepes, _mapie)]
        lines.append(
            (
                name, f"{means[0]:.3f}", f"{np.nanmin(own):.3f}", f"{np.nanmax(beyond):.1f}",
                f"{means[1]:.2f}",
                *(f"{cover:.3f}, {least:.3f}, {size:.2f}" for cover, least, size in others),
            )
        )  # fmt: skip
        print(*lines[-1], flush=True)
    head = ("set", "cover", "worst class", "farthest class, errors", "size", "crepes", "MAPIE")
    return (
        f"{splits} splits of at most 1,200 rows in halves; coverage asked for: .9. The farthest "
        "class is that whose mean cover is farthest from .9, in standard errors over the splits. "
        f"crepes (split conformal, by class) and MAPIE (CV+) wrap the same model, {peers} splits: "
        "cover, worst class, size.\n\n" + _table(head, lines)
    )


def _halves(X: Any, y: np.ndarray, seed: int) -> Any:
    return train_test_split(np.arange(len(y)), test_size=0.5, random_state=seed, stratify=y)


def _by_class(cover: np.ndarray, code: np.ndarray, K: int) -> list[float]:
    return [cover[code == k].mean() if (code == k).any() else np.nan for k in range(K)]


def _covered(X: Any, y: np.ndarray, code: np.ndarray, seed: int) -> tuple[Any, float, list[float]]:
    train, test = _halves(X, y, seed)
    found = np.asarray(priory.NaiveBayes().fit(X.iloc[train], y[train]).predict_set(X.iloc[test]))
    cover = found[np.arange(len(test)), code[test]]
    return cover, float(found.sum(axis=1).mean()), _by_class(cover, code[test], found.shape[1])


def _peer(X: Any, y: np.ndarray, code: np.ndarray, splits: int, make: Any) -> tuple[float, ...]:
    told = []
    for seed in range(splits):
        train, test = _halves(X, y, seed)
        found = make(X.iloc[train], code[train], X.iloc[test])
        cover = found[np.arange(len(test)), code[test]]
        told.append(
            (cover.mean(), found.sum(axis=1).mean(), _by_class(cover, code[test], found.shape[1]))
        )
    least = np.nanmin(np.nanmean([own for _, _, own in told], axis=0))
    return (
        float(np.mean([c for c, _, _ in told])),
        float(least),
        float(np.mean([s for _, s, _ in told])),
    )


def _crepes(X: Any, y: np.ndarray, code: np.ndarray, splits: int) -> tuple[float, ...]:
    from crepes import WrapClassifier

    def make(X: Any, y: np.ndarray, new: Any) -> np.ndarray:
        a, b = train_test_split(np.arange(len(y)), test_size=0.3, random_state=0)
        wrapped = WrapClassifier(priory.NaiveBayes())
        wrapped.fit(X.iloc[a], y[a])
        wrapped.calibrate(X.iloc[b], y[b], class_cond=True, seed=0)
        return np.asarray(wrapped.predict_set(new, labels=False, confidence=0.9, seed=0)).astype(
            bool
        )

    return _peer(X, y, code, splits, make)


def _mapie(X: Any, y: np.ndarray, code: np.ndarray, splits: int) -> tuple[float, ...]:
    from mapie.classification import CrossConformalClassifier

    def make(X: Any, y: np.ndarray, new: Any) -> np.ndarray:
        found = CrossConformalClassifier(
            priory.NaiveBayes(), confidence_level=0.9, conformity_score="lac", cv=10
        )
        found.fit_conformalize(X.to_numpy(), y)
        return np.asarray(found.predict_set(new.to_numpy())[1][:, :, 0]).astype(bool)

    return _peer(X, y, code, splits, make)


# Novelty


def novelty(folder: Path, repeats: int = 4) -> str:
    """Count the ordinary rows that are called unusual, and those with a density of 0."""
    lines, told = [], []
    for name, X, y in tables(folder, sorted({*TWELVE, *TEN}), 2_000):
        share, never = [], []
        for seed in range(repeats):
            train, test = _halves(X, y, seed)
            model = priory.NaiveBayes().fit(X.iloc[train], y[train])
            share.append((model.novelty(X.iloc[test]) <= 0.05).mean())
            never.append(np.isneginf(model.score_samples(X.iloc[test])).mean())
        told.append((np.mean(share), np.mean(never)))
        lines.append((name, f"{np.mean(share):.3f}", f"{np.mean(never):.4f}"))
    mean = np.mean(told, axis=0)
    lines.append(("mean", f"{mean[0]:.3f}", f"{mean[1]:.4f}"))
    return f"Halves of at most 2,000 rows, {repeats} splits: rows of the other half.\n\n" + _table(
        ("set", "p ≤ .05", "log density −∞"), lines
    )


# Intervals


def intervals(folder: Path, simulations: int = 150) -> str:
    """Draw parameters and rows from the prior, and see whether intervals hold P(k | x)."""
    lines, total, times = [], [], []
    for kind in ("labels", "numbers", "mixed"):
        for n in (20, 100, 1_000):
            for d in (2, 10, 60):
                found = [_simulated(kind, n, d, seed) for seed in range(simulations)]
                hits = np.concatenate([hit for hit, _ in found])
                times.append(found[0][1])
                total.append(hits)
                lines.append((kind, f"{n:,}", f"{d}", f"{hits.mean():.3f}", f"{len(hits)}"))
    every = np.concatenate(total)
    lines.append(("all", "", "", f"{every.mean():.3f}", f"{len(every):,}"))
    return (
        f"{27 * simulations:,} draws of parameters and rows from the prior, and three new rows of "
        "each: how often the 90 % interval of P(k | x) holds what the parameters drawn say. "
        f"A row takes {1e3 * max(times):.2f} ms of one core at most, of 100 and more at once.\n\n"
        + _table(("columns", "rows", "how many", "covered", "of"), lines)
    )


def _simulated(kind: str, n: int, d: int, seed: int, new: int = 3) -> tuple[np.ndarray, float]:
    rng = np.random.default_rng([seed, n, d, len(kind)])
    K, values = 2, 3
    is_number = np.array([kind == "numbers" or (kind == "mixed" and j % 2 == 1) for j in range(d)])
    shares = rng.dirichlet(np.ones(K))
    y = np.r_[np.arange(K), rng.choice(K, n + new - K, p=shares)]  # every class is seen
    table, truth = {}, np.tile(np.log(shares), (new, 1))
    for j in range(d):
        if is_number[j]:
            variance = 2.0 / rng.gamma(2.0, size=K)
            mean = np.sqrt(variance) * rng.standard_normal(K)
            x = mean[y] + np.sqrt(variance[y]) * rng.standard_normal(len(y))
            at = x[-new:, None]
            truth += -0.5 * (np.log(variance) + (at - mean) ** 2 / variance)
            table[f"c{j}"] = x
        else:
            theta = rng.dirichlet(np.ones(values), K)
            codes = (rng.random((len(y), 1)) > np.cumsum(theta, axis=1)[y]).sum(axis=1)
            codes = np.minimum(codes, values - 1)
            truth += np.log(theta[:, codes[-new:]]).T
            table[f"c{j}"] = np.array(["a", "b", "c"])[codes]
    rows = pd.DataFrame(table)
    numbers = [name for name, number in zip(table, is_number, strict=True) if number]
    labels = [name for name in table if name not in numbers]
    prior = NormalInverseGamma(mean=0.0, kappa=1.0, alpha=2.0, beta=2.0)
    model = priory.NaiveBayes.textbook(
        families={name: "student-t" for name in numbers}
        | {name: Categorical(values=("a", "b", "c")) for name in labels},
        smoothing={name: prior for name in numbers} | dict.fromkeys(labels, 1.0),
    ).fit(rows[:n], y[:n])
    p = np.exp(truth - truth.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    low, high = model.predict_interval(rows[n:])
    at = np.arange(new), p.argmin(axis=1)  # near 1 doubles are too coarse to tell
    seconds = np.nan
    if seed == 0:
        many = pd.concat([rows[:100]] * (1 + 100 // n))
        start = time.process_time()
        model.predict_interval(many)
        seconds = (time.process_time() - start) / len(many)
    return (low[at] <= p[at]) & (p[at] <= high[at]), seconds


# Rows without a class


def unlabelled(folder: Path, rows: int = 5_000, draws: int = 2) -> str:
    """Learn 20 newsgroups from few texts with a class, and many without."""
    table = pd.read_csv(folder / "newsgroups20.csv.gz", keep_default_na=False)
    train, test = table[table["split"] == "train"], table[table["split"] != "train"]
    train, test = train.sample(rows, random_state=1), test.sample(2_000, random_state=0)
    texts, y = train["text"].to_numpy(), train["target"].to_numpy()
    new, labels = test["text"].tolist(), test["target"].tolist()
    lines = []
    for n in (60, 200, 1_000):
        for draw in range(draws):
            rng = np.random.default_rng(draw)
            own = [rng.permutation(np.flatnonzero(y == k))[: n // 20] for k in np.unique(y)]
            some = np.concatenate(own)
            rest = np.setdiff1d(np.arange(rows), some)
            start = time.perf_counter()
            alone = priory.TextNB().fit(texts[some].tolist(), y[some])
            between = time.perf_counter()
            more = priory.TextNB().fit(
                texts[some].tolist(), y[some], unlabelled=texts[rest].tolist()
            )
            seconds = between - start, time.perf_counter() - between
            found = [priory.evaluate(model, new, labels) for model in (alone, more)]
            accuracy, loss = (
                [getattr(f, name) for f in found] for name in ("accuracy", "log_loss")
            )
            lines.append(
                (
                    f"{n:,}", f"{accuracy[0]:.3f}", f"{accuracy[1]:.3f}",
                    f"{accuracy[1] - accuracy[0]:+.3f}", f"{loss[0]:.2f} → {loss[1]:.2f}",
                    f"{seconds[0]:.1f} → {seconds[1]:.1f}",
                )
            )  # fmt: skip
            print(*lines[-1], flush=True)
    head = ("texts with a class", "accuracy", "with the others", "gain", "log-loss", "fit, s")
    return (
        f"20 newsgroups: of {rows:,} training texts so many have a class; 2,000 of the test texts. "
        "Times are those of a busy machine.\n\n" + _table(head, lines)
    )


PARTS: dict[str, Part] = {
    "costs": costs,
    "priors": priors,
    "sets": sets,
    "novelty": novelty,
    "intervals": intervals,
    "unlabelled": unlabelled,
}


def main() -> None:
    """Run the parts that are asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in given.parts or PARTS:
        start = time.perf_counter()
        text = PARTS[part](given.data)
        text += f"\n\n`python -m benchmarks.deciding {part}`, {time.perf_counter() - start:.0f} s\n"
        print(f"## {part}\n\n{text}")
        write_part(PAGE, "Decisions", part, text)


if __name__ == "__main__":
    main()
