"""Random texts, numbers and JSON values, and random changes of a JSON value."""

import copy
import string

# Pieces that parsers of labels, ticks, names and sources look for, or that may break them.
PIECES = [
    *(" ", "\t", "\n", "\u202f", "\xa0", "\u200f", "\0", "\ud800", "\x1b[2J", "🙂", "٣", "Ω"),
    *("10", "10^", "^{", "**", "{", "}", "$", "$$", "\\", "\\mathrm{", "\\times ", "\\frac{1}{"),
    *("1.000", ",", "1,000", "e9", "1e", "E+", "0x", "-", "−", "(", ")", "[", "]", "_", "%", "/"),
    *("FLOP/s", "TFLOP", "log", "log2", "B", "B = ", "D=", "4k", "1024", "1 024", "K", "x", "×10"),
    *("<b>", "&amp;", "<!--", "`", "*", "|", "'", '"', '"""', "#", ";", ":", "=", "def ", "lambda"),
    *("    ", "return ", "import ", "%%time\n", "!", "?", "check('times')", "async ", "@", "...\n"),
]
ALPHABET = string.printable + "éß漢\u0301\u202e"
NUMBERS = [0, 1, -1, 2, 7, 1024, 16384, 10**9, 10**300, 1 << 1030, -(1 << 70), 0.5, 1e-300, 1e308]
NUMBERS += [-0.0, 1e999, -1e999, 1e999 - 1e999, 8.1e11, 4.5e10, True, False]


def text(random):
    """Generate a text, mostly short.

    Some texts repeat a few pieces up to a reader's limits.
    """
    kind = random.random()
    if kind < 0.5:
        return "".join(random.choices(PIECES, k=random.randrange(8)))
    if kind < 0.7:
        return "".join(random.choices(ALPHABET, k=random.randrange(60)))
    length = random.choice((200, 200, 2_000, 2_000, 19_000))
    length = {0: 25_000, 1: 200_000}.get(random.randrange(200), length)
    piece = "".join(random.choices(PIECES, k=random.randrange(1, 4)))
    whole = piece * (length // len(piece))
    return random.choice(PIECES) + whole + random.choice(PIECES)


def number(random):
    if random.random() < 0.6:
        return random.choice(NUMBERS)
    return random.choice((random.randrange(10**6), random.uniform(-1e6, 1e6), random.random()))


def finite(random):
    """Generate a finite number, as a figure can contain."""
    found = number(random)
    plain = type(found) in (int, float) and abs(found) < 1e300
    return found if plain and found == found else random.uniform(-9, 9)


def anything(random, depth=4):
    """Generate any value that JSON can represent."""
    kind = random.randrange(8 if depth else 4)
    if kind == 0:
        return random.choice((None, True, False))
    if kind < 3:
        return number(random)
    if kind == 3:
        return text(random)
    size = random.randrange(5)
    if kind < 6:
        return [anything(random, depth - 1) for _ in range(size)]
    return {text(random)[:40]: anything(random, depth - 1) for _ in range(size)}


def places(value, path=()):
    """Yield the paths to all nested values."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield (*path, key)
        yield from places(value[key], (*path, key))


def changed(random, value, most=4):
    """Return a copy of a value with up to `most` nested values replaced."""
    value = copy.deepcopy(value)
    for _ in range(random.randrange(1, most + 1)):
        all_places = list(places(value))
        if not all_places:
            return anything(random)
        *path, last = random.choice(all_places)
        inner = value
        for key in path:
            inner = inner[key]
        inner[last] = _another(random, inner[last])
    return value


def _another(random, value):
    kind = random.random()
    if isinstance(value, str) and kind < 0.8:
        cut = random.randrange(len(value) + 1)
        return random.choice((text(random), value[:cut] + text(random) + value[cut:], value[:cut]))
    if isinstance(value, bool | int | float) and kind < 0.8:
        return number(random)
    if isinstance(value, list) and kind < 0.8:
        longer = random.choice(
            (0, 1, 2, 300 if len(value) < 50 else 2, 3_000 if kind < 0.02 else 1)
        )
        return random.choice((value * longer, value[::-1], value[: len(value) // 2]))
    return anything(random)
