"""Score rows by a model's JSON with nothing but the standard library, as another program would."""

import math
import re
from bisect import bisect_left
from collections import Counter

__all__ = ["posterior"]


def posterior(model, row):
    """Return P(class | row) by the name of the class; a row is a dict, None is a gap."""
    names = list(model["prior"])
    scores = {k: _log(p) for k, p in model["prior"].items()}
    for factor in model["factors"]:
        logs = {k: _log_factor(factor, k, row, names) for k in names}
        for k in names:
            scores[k] += _times(factor["weight"], logs[k])
            if "bias" in factor and any(logs.values()):  # the factor says anything
                scores[k] += factor["bias"][k]
    top = max(scores.values())
    if top == -math.inf:
        return model["prior"]
    raised = {k: math.exp(score - top) for k, score in scores.items()}
    return {k: x / sum(raised.values()) for k, x in raised.items()}


def _log_factor(factor, k, row, names):
    parameters, columns = factor["parameters"], factor["columns"]
    values = [row.get(c) for c in columns]
    if factor["about"] == "missing":
        return _log(parameters["missing" if values[0] is None else "there"][k])
    if "bins" in factor:  # a number is told by its bin, the outer ones reach outwards
        values = [
            v if v is None or ends is None else bisect_left(ends[1:-1], v)
            for v, ends in zip(values, factor["bins"], strict=True)
        ]
    return FAMILIES[factor["family"]](parameters, k, values, names)


def _log(p):
    return math.log(p) if p > 0 else -math.inf


def _times(x, log_p):
    return x * log_p if x else 0.0


def _place(value, values):
    """Return where a value stands, None for a gap or a value never learned; True is not 1."""
    wanted = (type(value) is bool, isinstance(value, str), value)
    known = [(type(v) is bool, isinstance(v, str), v) for v in values]
    return known.index(wanted) if wanted in known else None


def categorical(p, k, values, names):
    if values[0] is None:
        return 0.0
    at = _place(values[0], p["values"])
    if at is not None:
        return _log(p["probability"][k][at])
    return _log(p["any other"][k]) if p["unseen"] == "smooth" else 0.0


def bernoulli(p, k, values, names):
    return sum(
        _log(p["present" if x > 0 else "absent"][k][j])
        for j, x in enumerate(values)
        if x is not None
    )


def binomial(p, k, values, names):
    total = 0.0
    for j, x in enumerate(values):
        if x is None:
            continue
        if x != int(x) or not 0 <= x <= p["trials"]:
            return -math.inf
        total += _times(x, _log(p["success"][k][j]))
        total += _times(p["trials"] - x, _log(p["failure"][k][j]))
    return total


def multinomial(p, k, values, names):
    return sum(_times(x, _log(p["probability"][k][j])) for j, x in enumerate(values))


def complement(p, k, values, names):
    return sum(_times(x, float(p["weight"][k][j])) for j, x in enumerate(values))


def gaussian(p, k, values, names):
    return sum(
        -0.5 * (math.log(2 * math.pi * v) + (x - m) ** 2 / v)
        for x, m, v in zip(values, p["mean"][k], p["variance"][k], strict=True)
        if x is not None
    )


def multivariate_gaussian(p, k, values, names):
    """Solve by Cholesky's root of the covariance of the columns that are there."""
    there = [j for j, x in enumerate(values) if x is not None]
    covariance = [[p["covariance"][k][i][j] for j in there] for i in there]
    away = [values[j] - p["mean"][k][j] for j in there]
    root, z = [], []
    for i, row in enumerate(covariance):
        root.append([])
        for j in range(i + 1):
            rest = row[j] - sum(root[i][m] * root[j][m] for m in range(j))
            root[i].append(math.sqrt(rest) if i == j else rest / root[j][j])
        z.append((away[i] - sum(root[i][m] * z[m] for m in range(i))) / root[i][i])
    log_det = 2 * sum(math.log(root[i][i]) for i in range(len(there)))
    return -0.5 * (sum(x * x for x in z) + log_det + len(there) * math.log(2 * math.pi))


def student_t(p, k, values, names):
    total = 0.0
    for j, x in enumerate(values):
        if x is None:
            continue
        dof, scale2 = p["degrees of freedom"][k][j], p["squared scale"][k][j]
        z = (_transformed(p["transform"], x) - p["location"][k][j]) ** 2 / (dof * scale2)
        norm = math.lgamma((dof + 1) / 2) - math.lgamma(dof / 2)
        total += norm - 0.5 * math.log(dof * math.pi * scale2) - (dof + 1) / 2 * math.log1p(z)
    return total


def _transformed(transform, x):
    if transform is None:
        return x
    if transform["kind"] == "log":
        return math.log1p(max(x - transform["least"], 0.0) / transform["scale"])
    points, quantiles = transform["points"], transform["quantiles"]
    if x <= points[0]:
        return quantiles[0]
    if x >= points[-1]:
        return quantiles[-1]
    i = bisect_left(points, x) - 1
    slope = (quantiles[i + 1] - quantiles[i]) / (points[i + 1] - points[i])
    return quantiles[i] + slope * (x - points[i])


def histogram(p, k, values, names):
    if values[0] is None:
        return 0.0
    return _log(p["probability"][k][bisect_left(p["cuts"], values[0])])


def kernel_density(p, k, values, names):
    if values[0] is None or not p["centres"]:
        return 0.0

    def density(c):
        h = p["bandwidth"][c]
        kernels = zip(p["share"][c], p["centres"], strict=True)
        terms = [_log(share) - (values[0] - centre) ** 2 / (2 * h * h) for share, centre in kernels]
        return _log_sum(terms) - 0.5 * math.log(2 * math.pi * h * h)

    own = _log(p["own"][k]) + density(k)
    lent = _log_sum([_log(p["pool"][c]) + density(c) for c in names])
    return _log_sum([own, _log(1 - p["own"][k]) + lent])


def _log_sum(terms):
    top = max(terms)
    if top == -math.inf:
        return top
    return top + math.log(sum(math.exp(term - top) for term in terms))


def poisson(p, k, values, names):
    total = 0.0
    for j, x in enumerate(values):
        if x is None:
            continue
        if x < 0 or x != int(x):
            return -math.inf
        total += _times(x, _log(p["rate"][k][j])) - p["rate"][k][j]
    return total


def joint(p, k, values, names):
    """Sum gaps and values never seen out."""
    known = [_place(v, domain) is not None for v, domain in zip(values, p["domains"], strict=True)]
    if not any(known):
        return 0.0
    sizes = [len(domain) for domain in p["domains"]]
    summed = math.prod(n for n, is_known in zip(sizes, known, strict=True) if not is_known)

    def count(c):
        return sum(
            n
            for n, combination in zip(p["count"][c], p["combinations"], strict=True)
            if all(
                v == w
                for v, w, is_known in zip(values, combination, known, strict=True)
                if is_known
            )
        )

    total, everything = sum(p["count"][k]), sum(sum(p["count"][c]) for c in names)
    smoothing, combinations = p["smoothing"], math.prod(sizes)
    if smoothing["prior"] == "Laplace":
        a, a_sum = smoothing["alpha"] * summed, smoothing["alpha"] * combinations
    elif smoothing["p"] == "marginal":
        a_sum = smoothing["m"]
        a = a_sum * (sum(count(c) for c in names) + summed) / (everything + combinations)
    else:
        a_sum = smoothing["m"]
        a = a_sum * summed / combinations
    return _log((count(k) + a) / (total + a_sum))


def conditional(p, k, values, names):
    places = [_place(x, known) for x, known in zip(values, p["parent values"], strict=False)]
    v = _place(values[-1], p["values"])
    if v is None:
        return 0.0
    table = p["probability"][k]
    for u in places:
        table = table[-1 if u is None else u]  # the last is for a parent that is not known
    return _log(table[v])


def correction(p, k, values, names):
    table = p["score"][k]
    for value, known in zip(values, p["values"], strict=True):
        at = _place(value, known)
        if at is None:
            return 0.0
        table = table[at]
    return table


def aode(p, k, values, names):
    columns = p["columns"]
    places = [_place(v, c["values"]) for v, c in zip(values, columns, strict=True)]
    index = {c["column"]: i for i, c in enumerate(columns)}
    alone = [
        0.0 if at is None else _log(c["probability"][k][at])
        for at, c in zip(places, columns, strict=True)
    ]
    parents = [
        i
        for i, (at, c) in enumerate(zip(places, columns, strict=True))
        if at is not None and c["count"][at] >= p["least"] - 1e-9
    ]
    if not parents:
        return sum(alone)
    scores = []
    for i in parents:
        score = alone[i]
        for pair in p["pairs"]:
            at = places[index[pair["column"]]]
            if index[pair["parent"]] == i and at is not None:
                score += _log(pair["probability"][k][places[i]][at])
        scores.append(score)
    return _log_sum(scores) - math.log(len(parents))


def words(p, k, values, names):
    if values[0] is None:
        return 0.0
    shortest = r"\b\w\w+\b" if p["splitting"]["unit"] == "sklearn" else r"\w+"
    counts = Counter(re.findall(shortest, values[0].lower()))
    at = {word: i for i, word in enumerate(p["words"])}
    known = {at[word]: n for word, n in counts.items() if word in at}
    if p["readout"] == "bernoulli":
        return sum(_log(p["present" if i in known else "absent"][k][i]) for i in at.values())
    x = {i: math.log1p(n) if p["term"] == "log" else n for i, n in known.items()}
    if p["term"] == "log":
        norm = math.sqrt(sum(v * v for v in x.values()))
        x = {i: v / norm for i, v in x.items()}
    if "probability" in p:
        return sum(v * _log(p["probability"][k][i]) for i, v in x.items())
    return sum(v * float(p["weight"][k][i]) for i, v in x.items())


def telling_words(p, k, values, names):
    there = set(re.findall(r"[\w:]+", (values[0] or "").lower()))
    groups = {}
    for i, word in enumerate(p["words"]):
        if word in there:
            logs = [_log(p["probability"][name][i]) for name in names]
            own = _log(p["probability"][k][i])
            groups.setdefault(p["group"][i], []).append((-abs(logs[1] - logs[0]), i, own))
    return sum(
        p["factor"][group] * own
        for group, found in groups.items()
        for _, _, own in sorted(found)[: p["most"]]
    )


FAMILIES = {
    "aode": aode,
    "bernoulli": bernoulli,
    "binomial": binomial,
    "categorical": categorical,
    "complement": complement,
    "conditional": conditional,
    "correction": correction,
    "gaussian": gaussian,
    "histogram": histogram,
    "joint": joint,
    "kernel-density": kernel_density,
    "multinomial": multinomial,
    "multivariate-gaussian": multivariate_gaussian,
    "poisson": poisson,
    "student-t": student_t,
    "telling-words": telling_words,
    "words": words,
}
