"""Fits to published answers, which know nothing of what a question asks.

The source of this module is put into a notebook: learners can write such a cell, too.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

Case = Mapping[str, Any]
Predict = Callable[[Any], float]  # from a row of numbers
TINY = 1e-300  # stands for 0, which has no logarithm
EXACT = 1e-6  # relative difference of answers that are the same
MANY = 5  # with more numbers in a case, only two of them are multiplied

# --- numbers -------------------------------------------------------------------------------------


def logs(X: Any) -> Any:
    return np.log(np.maximum(X, TINY))


def products(count: int) -> Any:
    """Return exponents of products of so many numbers, the simplest first."""
    if count <= MANY:
        rows = list(itertools.product(range(-2, 3), repeat=count))
    else:
        rows = []
        for one, other in itertools.combinations(range(count), 2):
            for powers in itertools.product(range(-2, 3), repeat=2):
                row = [0] * count
                row[one], row[other] = powers
                rows.append(tuple(row))
    return np.array(sorted(set(rows), key=lambda row: sum(map(abs, row)))).reshape(-1, count)


def constant(X: Any, y: Any) -> Predict:
    values = y.tolist()
    return lambda x: max(values, key=values.count)


def linear(X: Any, y: Any) -> Predict:
    weights, *_ = np.linalg.lstsq(np.c_[np.ones(len(X)), X], y, rcond=None)
    return lambda x: weights @ np.r_[1, x]


def power_law(X: Any, y: Any) -> Predict:
    predict = linear(logs(X), logs(y))
    return lambda x: math.exp(predict(logs(x)))


def one_product(X: Any, y: Any) -> Predict:
    """Fit a constant times whole powers of the numbers."""
    powers = products(X.shape[1])
    factors = logs(y) - powers @ logs(X).T
    spread = np.ptp(factors, axis=1)
    best = np.flatnonzero(spread < EXACT)[0] if min(spread) < EXACT else np.argmin(spread)
    return lambda x: math.exp(factors[best].mean() + powers[best] @ logs(x))


def two_products(X: Any, y: Any) -> Predict:
    """Fit a sum of two such products, whose powers are -1, 0 and 1."""
    powers = products(X.shape[1])
    powers = powers[abs(powers).max(1) < 2][:300]
    terms = np.exp(powers @ logs(X).T) / y
    pairs = np.array(list(itertools.combinations(range(len(powers)), 2)))
    a, b = terms[pairs[:, 0]], terms[pairs[:, 1]]
    aa, ab, bb = (a * a).sum(1), (a * b).sum(1), (b * b).sum(1)
    with np.errstate(all="ignore"):
        u = (a.sum(1) * bb - b.sum(1) * ab) / (aa * bb - ab**2)
        v = (b.sum(1) - u * ab) / bb
        off = np.nan_to_num(abs(u[:, None] * a + v[:, None] * b - 1).max(1), nan=np.inf)
    best = np.flatnonzero(off < EXACT)[0] if min(off) < EXACT else np.argmin(off)
    one, other = powers[pairs[best]]
    return lambda x: u[best] * np.exp(one @ logs(x)) + v[best] * np.exp(other @ logs(x))


def extreme(X: Any, y: Any, sign: int) -> Predict:
    """Fit the largest (sign 1) or smallest (-1) of two products; each meets some answers."""
    powers = products(X.shape[1])
    factors = sign * (logs(y) - powers @ logs(X).T)
    bound = factors.min(1, keepdims=True)  # a larger factor would exceed an answer
    met = factors - bound < EXACT
    most = np.argsort(-met.sum(1), kind="stable")[:200]
    one, other = max(
        itertools.combinations(most, 2), key=lambda pair: (met[pair[0]] | met[pair[1]]).sum()
    )
    return lambda x: math.exp(
        sign * max(bound[at, 0] + sign * (powers[at] @ logs(x)) for at in (one, other))
    )


def any_that_fits(X: Any, y: Any) -> Predict:
    """Return the simplest fit that gives all published answers."""
    extremes = [functools.partial(extreme, sign=sign) for sign in (1, -1)]
    for fit in (constant, one_product, linear, two_products, *extremes):
        predict = fit(X, y)
        if all(
            math.isclose(predict(x), right, rel_tol=EXACT) for x, right in zip(X, y, strict=True)
        ):
            return predict
    return power_law(X, y)


# --- cases ---------------------------------------------------------------------------------------


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what is in a case, and where."""
    if isinstance(value, Mapping | list | tuple):
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, entry in pairs:
            yield from leaves(entry, f"{place}/{key}")
    else:
        yield place, value


def row(case: Any) -> dict[str, float]:
    return {
        place: float(value)
        for place, value in leaves(case)
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def kind(case: Case) -> tuple[Any, ...]:
    """Return what stands in a case in words: cases of different kinds are fitted apart."""
    return tuple(value for value in case.values() if isinstance(value, str | bool))


def numbers(cases: Sequence[Case], answers: Sequence[float]) -> Callable[[Case], float]:
    """Return a fit of one number; infinite and zero answers are left to what is finite."""
    names = sorted(set.intersection(*(set(row(case)) for case in cases)))

    def at(case: Case) -> Any:
        return np.array([row(case).get(name, 1.0) for name in names])

    groups: dict[Any, list[int]] = {None: list(range(len(cases)))}
    for number, case in enumerate(cases):
        groups.setdefault(kind(case), []).append(number)
    found = {}
    for key, members in groups.items():
        if usable := [one for one in members if 0 < answers[one] < math.inf]:
            X, y = np.array([at(cases[one]) for one in usable]), np.array(answers, float)[usable]
            found[key] = any_that_fits(X, y)
    return lambda case: float(found.get(kind(case), found[None])(at(case)))


def learned(cases: Sequence[Case], answers: Sequence[Any]) -> Callable[..., Any]:
    """Return a function that has learned the answers: numbers, alone or in lists."""
    if isinstance(answers[0], list):
        columns = [numbers(cases, column) for column in zip(*answers, strict=True)]
        return lambda **case: [column(case) for column in columns]
    predict = numbers(cases, answers)
    return lambda **case: predict(case)


# --- names ---------------------------------------------------------------------------------------


def items(case: Case) -> dict[str, dict[str, float]]:
    """Return name → numbers, of everything in a case that has a name."""
    found = {}
    beside = row({key: value for key, value in case.items() if isinstance(value, int | float)})
    for value in case.values():
        if isinstance(value, list):
            found |= {one["name"]: beside | row(one) for one in value if isinstance(one, dict)}
        elif isinstance(value, dict):
            found |= {name: beside | row({"item": one}) for name, one in value.items()}
    return found


def beyond_a_product(
    cases: Sequence[Case], answers: Sequence[list[str]]
) -> Callable[..., list[str]]:
    """Name what has a product of whole powers beyond a border, in cases of this kind."""
    borders = {}
    for key in {kind(case) for case in cases}:
        rows, flags = [], []
        for case, answer in zip(cases, answers, strict=True):
            if kind(case) == key:
                rows += items(case).values()
                flags += [name in answer for name in items(case)]
        names = sorted(set.intersection(*map(set, rows)))
        values = products(len(names)) @ logs(np.array([[one[n] for n in names] for one in rows])).T
        chosen = np.array(flags)
        if chosen.all() or not chosen.any():
            continue
        gap = values[:, chosen].min(1) - values[:, ~chosen].max(1)
        best = int(np.argmax(gap))
        border = (values[best, chosen].min() + values[best, ~chosen].max()) / 2
        borders[key] = (names, products(len(names))[best], border)

    def found(**case: Any) -> list[str]:
        if kind(case) not in borders:
            return []
        names, powers, border = borders[kind(case)]
        return [
            name
            for name, one in items(case).items()
            if powers @ logs(np.array([one.get(n, 1.0) for n in names])) > border
        ]

    return found
