"""Random answers that a fork of the learner's process may send for a part."""

import math

from draws import anything, changed, finite, number, text

from roofkit.check.messages import PROBLEMS
from roofkit.check.slips import FACTORS, TILES, WIDTHS

ENDS = ("cpu", "wall", "starved", "silent", "large", "other", 7, None)


def lines(random, known):
    """Generate an answer line for each case of `known`, some or all of them wrong."""
    right = list(known.expected)
    if random.random() < 0.1:
        values = [anything(random) for _ in right]
    else:
        wrong = random.choice((_misread, _slipped, _slipped, _odd))(random, known)
        share = random.choice((1, 1, 0.7, 0.2))
        values = [
            other if random.random() < share else one
            for one, other in zip(right, wrong, strict=True)
        ]
    return [_line(random, value) for value in values]


def _line(random, value):
    kind = random.random()
    if kind < 0.95:
        return {"value": value}
    if kind < 0.98:
        return {"problem": random.choice((*PROBLEMS, text(random)[:40], 7, [], {}))}
    return random.choice(({"end": random.choice(ENDS)}, anything(random), {}))


def _misread(random, known):
    """Return the values of one of the known misconceptions, sometimes rounded."""
    if not known.misconceptions:
        return _slipped(random, known)
    values = random.choice(known.misconceptions).values
    return [_mapped(value, round) for value in values] if random.random() < 0.2 else values


def _slipped(random, known):
    """Apply one mistake to all expected numbers, or shift them to other cases."""
    if random.random() < 0.1:  # shift the values to other cases
        turn = random.randrange(len(known.expected) + 1)
        return [*known.expected[turn:], *known.expected[:turn]]
    way = _way(random)
    return [_mapped(value, way) for value in known.expected]


def _way(random):
    factor = random.choice(FACTORS)[0]
    some = finite(random)
    digits, step, bits = random.randrange(7), random.choice(TILES), random.choice(WIDTHS)
    return random.choice(
        (
            lambda value: value * factor,
            lambda value: value / factor,
            lambda value: value * factor * 1.001,
            lambda value: 1 / value,
            lambda value: some / value,
            lambda value: -value,
            lambda value: value + some,
            lambda value: value * some,
            lambda value: some,
            lambda value: 0,
            lambda value: math.inf,
            lambda value: int(value) % 2**bits,
            lambda value: (int(value) + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1),
            lambda value: round(value, digits),
            lambda value: float(f"{value:.{digits}e}"),
            lambda value: step * math.ceil(value / step),
            lambda value: 2.0 ** math.floor(math.log2(value)),
            lambda value: value * (1 + random.uniform(-0.2, 0.2)),
            lambda value: number(random),
        )
    )


def _mapped(value, way):
    """Return the same structure with `way` applied to each number."""
    if isinstance(value, dict):
        return {key: _mapped(one, way) for key, one in value.items()}
    if isinstance(value, list):
        return [_mapped(one, way) for one in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    try:
        return way(value)
    except (ArithmeticError, ValueError):
        return value


def _odd(random, known):
    """Return values with names added or removed, or of other lengths and types."""
    values = [list(one) if isinstance(one, tuple) else one for one in known.expected]
    if random.random() < 0.5:
        return [changed(random, [one], 1)[0] if random.random() < 0.5 else one for one in values]
    others = [name for one in values if isinstance(one, list) for name in one]
    found = []
    for value in values:
        if isinstance(value, list):
            more = random.choices([*others, text(random)[:60]], k=random.randrange(4))
            value = [one for one in value if random.random() < 0.7] + more
        elif isinstance(value, dict):
            value = {key: one for key, one in value.items() if random.random() < 0.8}
            value |= {text(random)[:40]: number(random)} if random.random() < 0.3 else {}
        found.append(value)
    return found
