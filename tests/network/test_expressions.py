"""Expressions mean what logic says, and nothing else is understood."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priory.base.errors import ExpressionError
from priory.network.expressions import event_of

DOMAINS = {
    "rain": (False, True),
    "sky": ("blue", "grey"),
    "hour": (0, 1, 2.5, 7),
    "low": (0, 2.5, 9),
    "ok": ("no", "yes"),
    "blue": (0, 1),
    "petal width": (1, 2),
}
SIZES = [len(domain) for domain in DOMAINS.values()]
GRID = np.indices(SIZES).reshape(len(SIZES), -1)
CODES = dict(zip(DOMAINS, GRID, strict=True))
ROWS = [
    {name: DOMAINS[name][code] for name, code in zip(DOMAINS, cell, strict=True)}
    for cell in GRID.T.tolist()
]


def holds(text):
    return event_of(text, DOMAINS)(CODES, GRID.shape[1]).tolist()


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("rain", lambda r: r["rain"]),
        ("not rain", lambda r: not r["rain"]),
        ("ok and rain or hour == 0", lambda r: (r["ok"] == "yes" and r["rain"]) or r["hour"] == 0),
        ("ok and (rain or hour==0)", lambda r: r["ok"] == "yes" and (r["rain"] or r["hour"] == 0)),
        ("sky == 'grey'", lambda r: r["sky"] == "grey"),
        ("sky == grey", lambda r: r["sky"] == "grey"),
        ("grey != sky", lambda r: r["sky"] != "grey"),
        ("sky in (grey, 'blue')", lambda r: True),
        ("sky not in {'blue'}", lambda r: r["sky"] != "blue"),
        ("hour in [0, 7]", lambda r: r["hour"] in (0, 7)),
        ("1 <= hour < 7", lambda r: 1 <= r["hour"] < 7),
        ("7 > hour >= 1.0", lambda r: 1 <= r["hour"] < 7),
        ("hour > -3", lambda r: True),
        ("hour <= 2", lambda r: r["hour"] <= 2),
        ("hour == low", lambda r: r["hour"] == r["low"]),
        ("hour < low", lambda r: r["hour"] < r["low"]),
        ("low != hour > 0", lambda r: r["low"] != r["hour"] and r["hour"] > 0),
        ("ok == True", lambda r: r["ok"] == "yes"),
        ("rain == false", lambda r: not r["rain"]),
        ("`petal width` > 1 and blue", lambda r: r["petal width"] > 1 and r["blue"]),
        ("True", lambda r: True),
        ("rain and False", lambda r: False),
        (" rain\tor not(rain) ", lambda r: True),
    ],
)
def test_meaning(text, truth):
    assert holds(text) == [bool(truth(row)) for row in ROWS]


@pytest.mark.parametrize("symbol", ["==", "!=", "<", "<=", ">", ">="])
@given(
    left=st.sampled_from([0, 1, 2.5, 7]),
    negate=st.booleans(),
)
def test_comparisons_agree_with_python(symbol, left, negate):
    compare = {
        "==": operator.eq,
        "!=": operator.ne,
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
    }[symbol]
    text = f"hour {symbol} {left}"
    expected = [compare(row["hour"], left) != negate for row in ROWS]
    assert holds(f"not ({text})" if negate else text) == expected


expressions = st.recursive(
    st.sampled_from(["rain", "ok", "sky == grey", "hour > 1", "hour in (0, 7)"]),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda t: f"({t[0]}) {t[1]} ({t[2]})"
        )
        | inner.map(lambda t: f"not ({t})")
    ),
    max_leaves=8,
)


@given(a=expressions, b=expressions)
def test_de_morgan(a, b):
    assert holds(f"not (({a}) and ({b}))") == holds(f"not ({a}) or not ({b})")
    assert holds(f"not (({a}) or ({b}))") == holds(f"not ({a}) and not ({b})")


@given(a=expressions)
def test_what_is_fixed_follows_from_the_event(a):
    event = event_of(a, DOMAINS)
    where = event(CODES, GRID.shape[1])
    fixed = np.ones(GRID.shape[1], dtype=bool)
    for name, code in event.fixed.items():
        fixed &= CODES[name] == code
    assert not (where & ~fixed).any()
    if event.only_fixed:
        assert np.array_equal(where, fixed)


def test_what_is_fixed():
    event = event_of("rain and not ok and sky == 'grey'", DOMAINS)
    assert event.fixed == {"rain": 1, "ok": 0, "sky": 1}
    assert event.only_fixed
    assert not event_of("rain and hour > 1", DOMAINS).only_fixed
    assert not event_of("rain and not rain", DOMAINS).only_fixed
    assert event_of({"rain": True, "ok": True}, DOMAINS).fixed == {"rain": 1, "ok": 1}
    assert event_of("sky != 'grey'", DOMAINS).fixed == {"sky": 0}  # one value is left
    assert event_of("sky != 'grey' or rain", DOMAINS).fixed == {}


HOSTILE = [
    "__import__('os').system('true')",
    "rain.__class__",
    "().__class__.__bases__",
    "open('x')",
    "f'{rain}'",
    "2 ** 999999999 == hour",
    "hour + 1 == 2",
    "[x for x in (1, 2)]",
    "lambda: rain",
    "rain if rain else rain",
    "(rain := True)",
    "hour[0]",
    "*rain",
    "{1: 2}",
    "hour == ...",
    "hour == b'1'",
    "hour == 1j",
    "await rain",
    "yield",
    "rain; rain",
    "import os",
    "rain\nrain",
    "rain \x00",
    "not " * 4_000 + "rain",
    "not " * 100 + "rain",
    "(" * 150 + "rain" + ")" * 150 + " and " + "not " * 90 + "rain",
    "(" * 5_000 + "rain" + ")" * 5_000,
    "rain and " * 100_000 + "rain",
    "9" * 10_000 + " == hour",
    "- - - 1 == hour",
    "-rain",
    "'" + "a" * 30_000 + "' == sky",
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda t: t[:30])
def test_hostile_expressions_are_refused(text):
    with pytest.raises(ExpressionError):
        event_of(text, DOMAINS)


@given(st.text(max_size=60))
def test_any_text_is_understood_or_refused(text):
    try:
        event = event_of(text, DOMAINS)
    except ExpressionError:
        return
    assert event(CODES, GRID.shape[1]).dtype == bool


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rein", r"There is no variable 'rein'\. Variables: 'rain'.*Did you mean 'rain'\?"),
        ("grey", r"no variable 'grey'.*It is a value of 'sky': write sky == 'grey'"),
        ("sky", r"'sky' is not boolean; compare it.*sky == 'blue'"),
        (
            "sky == 'gray'",
            r"'sky' has no value 'gray'\. Values: 'blue', 'grey'\. Did you mean 'grey'",
        ),
        ("sky == gray", r"'gray' is neither a variable nor a value of 'sky'.*Did you mean 'grey'"),
        ("sky == blue", r"'blue' is both a variable and a value of 'sky'; put the value in quotes"),
        ("hour == '7'", r"'hour' has no value '7'.*Write 7, without quotes"),
        ("hour == 5", r"'hour' has no value 5\. Values: 0, 1, 2\.5, 7"),
        ("rain = True", r"not a logical expression.*To compare, write =="),
        ("rain & ok", r"write 'and' and 'or'"),
        ("~rain", r"write 'not'"),
        ("rain is True", r"'is' is not understood; write =="),
        ("sky in 'grey'", r"'in' needs values in brackets"),
        ("sky < 3", r"no order between them"),
        ("rain < True", r"no order between them"),
        ("sky == hour", r"no value in common"),
        ("1 == 1", r"are both values"),
        ("petal width > 1", r"in backticks"),
        ("hour + 1 > 2", r"it holds arithmetic, which is not understood"),
        ("", r"expression is empty"),
        ("`cloud`", r"no variable 'cloud'"),
    ],
)
def test_errors_say_what_is_wrong(text, message):
    with pytest.raises(ExpressionError, match=message):
        event_of(text, DOMAINS)


def test_a_name_in_backticks_is_a_variable():
    domains = {"a": ("b", "c"), "b": ("c", "d")}
    with pytest.raises(ExpressionError, match="both a variable and a value"):
        event_of("a == b", domains)
    assert event_of("a == `b`", domains).variables == {"a", "b"}
    assert event_of("a == 'b'", domains).fixed == {"a": 0}


def test_other_things_are_no_events():
    with pytest.raises(ExpressionError, match=r"An event is an expression.*not 3"):
        event_of(3, DOMAINS)
    with pytest.raises(ExpressionError, match="no variable 'rein'"):
        event_of({"rein": True}, DOMAINS)
    with pytest.raises(ExpressionError, match="no value 'wet'"):
        event_of({"rain": "wet"}, DOMAINS)
