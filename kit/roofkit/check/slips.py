"""Hints about wrong numbers that don't reveal the right ones.

Each slip is recognized by comparing all wrong numbers with the right ones. The hint names a kind of
slip, but never the direction or size of the error, which would reveal the right numbers.
"""

import math
from collections.abc import Callable, Sequence

from roofkit.words import N_, _

Pair = tuple[float, float]  # the returned number and the right one, which differ
Pairs = Sequence[Pair]
Floats = Sequence[float]

PREFIX = N_(
    "a prefix such as milli, kilo, mega or giga that is missing, taken twice or taken for another"
)
BINARY_PREFIX = N_(
    "a prefix such as milli, kilo, mega or giga that is missing, taken twice or taken for another, "
    "and powers of two besides"
)
PREFIX_AND_MORE = N_(
    "a prefix such as milli, kilo, mega or giga that is missing, taken twice or taken for another, "
    "together with a second slip"
)
POWERS = range(1, 6)  # powers of 1000, from kilo to peta
FACTORS: tuple[tuple[float, str], ...] = (
    (
        2,
        N_(
            "a multiply-add counted as one operation, or an operation counted twice; elements of "
            "another width; both directions of a link for one; sparse for dense"
        ),
    ),
    (4, N_("elements of another width; bits for bytes together with a second slip")),
    (8, N_("bits for bytes, or bytes for bits")),
    (64, N_("bits and bytes converted the wrong way round")),
    (100, N_("a percentage for a plain ratio, or the other way round")),
    *((1000**power, PREFIX) for power in POWERS),
    *((1024**power, BINARY_PREFIX) for power in POWERS),
    *(
        ((1024 / 1000) ** power, N_("a prefix taken as a power of two, or as one of ten"))
        for power in POWERS
    ),
    *((10**power, N_("a power of ten in a unit or a constant")) for power in range(1, 19)),
    *(
        (1000**power * second, PREFIX_AND_MORE)
        for power in POWERS
        for second in (0.125, 0.25, 0.5, 2, 4, 8)
    ),
)
WIDTHS = (8, 16, 32, 64)  # widths in bits of integer types that may overflow
STEPS = (8, 16, 32, 64, 128, 256, *(10**power for power in range(16)))  # of coarse roundings
MAX_NEAR_ERROR = 0.05  # largest relative error of a number that counts as close
SMALL = 10  # integers up to this size are often limits, and may agree by chance
FACTOR_TOLERANCE = 3e-6  # relative; slips have exact factors, but float32 has only 7 digits


def _always_the_same(pairs: Pairs, combine: Callable[[float, float], float]) -> float:
    """Return what combining each pair gives if it is always the same, else 0.

    It must be positive and finite.
    """
    if not all(_usable(*pair) for pair in pairs):
        return 0
    found = [combine(float(value), float(right)) for value, right in pairs]
    if not all(0 < one < math.inf for one in found):
        return 0
    return max(found) if max(found) - min(found) <= FACTOR_TOLERANCE * max(found) else 0


def slip(pairs: Pairs, fine: Floats) -> str:
    """Return a sentence about the wrong numbers, "" if none of the slips fits.

    pairs: each wrong number with the right one. fine: numbers that were returned right.
    """
    hints = (detect(pairs, fine) for detect in DETECTORS)
    return next(filter(None, hints), "") if pairs else ""


def rounded(pairs: Pairs) -> bool:
    """Return whether all these numbers are the right ones, rounded in the same way.

    Small integers don't count: they may as well be limits, or come from another term.
    """
    return _is_rounding(pairs) and not all(_is_small_integer(value) for value, _ in pairs)


def _is_rounding(pairs: Pairs) -> bool:
    # Some numbers may be rounded to 0, but not all of them.
    if not any(value for value, _ in pairs):
        return False
    if not all(math.isfinite(right) and right != 0 for _, right in pairs):
        return False
    ways: list[Callable[[float], float]] = [math.floor, math.ceil]
    ways += [lambda right, n=n: round(right, n) for n in range(7)]  # type: ignore[misc]
    ways += [lambda right, n=n: float(f"{right:.{n}e}") for n in range(5)]  # type: ignore[misc]
    if len(pairs) > 1:  # a single number may fit by chance
        for cut in (math.floor, math.ceil, round):
            ways += [lambda right, c=cut, s=s: s * c(right / s) for s in STEPS]  # type: ignore[misc]
            if len({value for value, _ in pairs}) > 1:  # one power of two may be another term
                ways.append(lambda right, c=cut: 2.0 ** c(math.log2(abs(right))))  # type: ignore[misc]
    return any(all(math.isclose(way(right), value) for value, right in pairs) for way in ways)


def _infinite(pairs: Pairs, fine: Floats) -> str:
    if all(math.isinf(right) for _, right in pairs):
        if not any(math.isfinite(number) for number in fine):
            return ""
        return _(
            "It is right wherever the answer is finite. The question says what to return where it "
            "is not."
        )
    if all(math.isinf(value) for value, _ in pairs):
        return _("An infinite value is returned where there is a finite one.")
    if all(math.isinf(value) != math.isinf(right) for value, right in pairs):
        return _(
            "An infinite value is returned where there is a finite one, and a finite one where "
            "the answer is infinite. Is a comparison or a difference the wrong way round?"
        )
    return ""


def _zeros(pairs: Pairs, fine: Floats) -> str:
    if any(value for value, _ in pairs):
        return ""
    return _(
        "The function gives 0 there. Is something divided with `//`, or rounded, or did a whole "
        "number of a fixed width (numpy's int32) overflow?"
    )


def _overflow(pairs: Pairs, fine: Floats) -> str:
    if not any(all(_wrapped(*pair, bits) for pair in pairs) for bits in WIDTHS):
        return ""
    return _(
        "A whole number overflowed: a type of fixed width, such as numpy's int32, keeps "
        "only part of a number that is too large for it. Use Python's own numbers."
    )


def _wrapped(value: float, right: float, bits: int) -> bool:
    if not (math.isfinite(value) and math.isfinite(right)):
        return False
    if value != int(value) or right != int(right) or -(2 ** (bits - 1)) <= right < 2 ** (bits - 1):
        return False
    fits: bool = -(2 ** (bits - 1)) <= value < 2**bits
    return fits and (int(value) - int(right)) % 2**bits == 0


def _negative(pairs: Pairs, fine: Floats) -> str:
    if not any(value < 0 < right for value, right in pairs):
        return ""
    return _(
        "A negative number is returned where none can be. Is a difference the wrong way round, or "
        "did a whole number of a fixed width (numpy's int32) overflow?"
    )


def _constant(pairs: Pairs, fine: Floats) -> str:
    # Floats don't overflow with an error.
    values = [float(number) for number in (*(value for value, _ in pairs), *fine)]
    if len(values) < 2 or len(set(values)) > 1:
        return ""
    return _("It is one and the same number in all of these cases. Are the arguments used?")


def _rounded(pairs: Pairs, fine: Floats) -> str:
    if not rounded(pairs):
        return ""
    return _(
        "The numbers look rounded, further than the tolerance allows: return them as they are."
    )


def _whole(pairs: Pairs, fine: Floats) -> str:
    if all(right == round(right) for _, right in pairs if math.isfinite(right)):
        return ""
    if not _is_rounding(pairs):
        return ""
    return _(
        "Whole numbers are returned where the answers have fractions. Is something rounded, or "
        "divided with `//`, or does a limit stand for the exact value?"
    )


def _repeated(pairs: Pairs, fine: Floats) -> str:
    """Detect a number returned for several cases with different right answers."""
    if any(_is_small_integer(value) for value, _ in pairs):
        return ""
    everything = [*pairs, *((value, value) for value in fine)]
    if not all(
        any(
            value == other and not math.isclose(right, wanted, rel_tol=1e-9)
            for other, wanted in everything
        )
        for value, right in pairs
    ):
        return ""
    return _(
        "The function gives one number where the right ones differ. Is an argument left out, a "
        "result kept from one call to the next, or one value returned twice?"
    )


def _factor(pairs: Pairs, fine: Floats) -> str:
    factor = _always_the_same(pairs, lambda value, right: value / right)
    one = len(pairs) == 1
    for known, slips in FACTORS if factor else ():
        if any(math.isclose(factor, way, rel_tol=FACTOR_TOLERANCE) for way in (known, 1 / known)):
            if one:
                said = _(
                    "The number that is not right is off by a simple factor. Slips that do this: "
                    "{slips}."
                )
            else:
                said = _(
                    "The numbers that are not right are all off by one and the same factor. Slips "
                    "that do this: {slips}."
                )
            return said.format(slips=_(slips))
    if not factor or one:
        return ""
    return _(
        "The numbers that are not right are all off by one and the same factor. Look for a "
        "constant that is missing, wrong, or there once too often."
    )


def _inverse(pairs: Pairs, fine: Floats) -> str:
    product = _always_the_same(pairs, lambda value, right: value * right)
    if math.isclose(product, 1, rel_tol=FACTOR_TOLERANCE):
        return _("The ratio is upside down.")
    if not product or len(pairs) < 2:
        return ""
    return _("A ratio is upside down, and there is a constant factor that does not belong there.")


def _shift(pairs: Pairs, fine: Floats) -> str:
    numbers = [number for pair in pairs for number in pair]
    if len(pairs) < 2 or not all(map(math.isfinite, numbers)):
        return ""
    shifts = [value - right for value, right in pairs]
    whole = all(number == round(number) for number in numbers)
    slack = 0 if whole else max(map(abs, numbers)) * FACTOR_TOLERANCE
    if max(shifts) - min(shifts) > slack or min(map(abs, shifts)) < 100 * slack:
        return ""
    return _("The numbers that are not right are all off by one and the same amount.")


def _near(pairs: Pairs, fine: Floats) -> str:
    if not all(_usable(*pair) and math.isclose(*pair, rel_tol=MAX_NEAR_ERROR) for pair in pairs):
        return ""
    return _(
        "The numbers come close, but not within the tolerance. A small term is missing or too "
        "much; or a limit stands for the exact value, or the exact value for a limit; or "
        "something was rounded on the way."
    )


def _is_small_integer(value: float) -> bool:
    return abs(value) <= SMALL and value == round(value)


def _usable(value: float, right: float) -> bool:
    return math.isfinite(value) and math.isfinite(right) and value != 0 and right != 0


# Detectors are tried in this order, and the first sentence is used.
DETECTORS: tuple[Callable[[Pairs, Floats], str], ...] = (
    *(_infinite, _zeros, _overflow, _negative, _constant, _rounded, _whole, _repeated),
    *(_factor, _inverse, _shift, _near),
)
