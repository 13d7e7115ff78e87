"""Hints about wrong numbers that don't reveal the right ones.

Each slip is recognized by comparing all wrong numbers with the right ones. The hint names a kind of
slip, but never the direction or size of the error, which would reveal the right numbers.
"""

import math
from collections.abc import Callable, Iterator, Sequence

from roofkit.words import N_, _

Pair = tuple[float, float]  # the returned number and the right one, which differ

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
TILES = (8, 16, 32, 64, 128, 256)  # tile sizes to whose multiples batches may be rounded
MAX_NEAR_ERROR = 0.3  # largest relative error of a number that counts as close
MAX_PREFIX_ERROR = 0.02  # relative; a factor this near to a power of 1000 suggests a prefix
SMALL = 10  # integers up to this size are often limits, and may agree by chance
FACTOR_TOLERANCE = 3e-6  # relative; slips have exact factors, but float32 has only 7 digits


def slip(pairs: Sequence[Pair], right_numbers: Sequence[float]) -> str:
    """Return a sentence about the wrong numbers, "" if none of the slips fits.

    pairs: each wrong number with the right one. right_numbers: numbers that were returned right.
    """
    hints = (detect(pairs, right_numbers) for detect in DETECTORS)
    return next(filter(None, hints), "") if pairs else ""


def rounded(pairs: Sequence[Pair]) -> bool:
    """Return whether all these numbers are the right ones, rounded in the same way."""
    if any(not math.isfinite(right) or not math.isfinite(value) for value, right in pairs):
        return False
    ways: list[Callable[[float], float]] = [math.floor, math.ceil]
    ways += [lambda right, digits=digits: round(right, digits) for digits in range(7)]  # type: ignore[misc]
    ways += [lambda right, digits=digits: float(f"{right:.{digits}e}") for digits in range(5)]  # type: ignore[misc]
    if len(pairs) > 1 and all(min(pair) > 0 for pair in pairs):  # a single number may fit by chance
        ways += _coarse_roundings()
    return bool(pairs) and any(
        all(math.isclose(way(right), value) for value, right in pairs) for way in ways
    )


def _coarse_roundings() -> Iterator[Callable[[float], float]]:
    """Yield roundings to multiples of a power of ten or a tile, and to powers of two."""
    for cut in (math.floor, math.ceil, round):
        for step in (*TILES, *(10**power for power in range(16))):
            yield lambda right, cut=cut, step=step: step * cut(right / step)  # type: ignore[misc]
        yield lambda right, cut=cut: 2.0 ** cut(math.log2(right))  # type: ignore[misc]


def _zeros(pairs: Sequence[Pair], right_numbers: Sequence[float]) -> str:
    if any(value for value, _ in pairs):
        return ""
    if len(pairs) > 1 and not right_numbers:
        return _(
            "The function gives 0 in all of these cases. Are the arguments used? Or is something "
            "divided with `//`, or rounded?"
        )
    return _(
        "The function gives 0 there. Is something divided with `//`, or rounded, or did a whole "
        "number of a fixed width (numpy's int32) overflow?"
    )


def _infinite(pairs: Sequence[Pair], right_numbers: Sequence[float]) -> str:
    if all(math.isinf(right) for _, right in pairs):
        if not any(math.isfinite(number) for number in right_numbers):
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


def _overflow(pairs: Sequence[Pair], right_numbers: Sequence[float]) -> str:
    for bits in WIDTHS:
        if all(_wrapped(value, right, bits) for value, right in pairs):
            return _(
                "A whole number overflowed: a type of fixed width, such as numpy's int32, keeps "
                "only part of a number that is too large for it. Use Python's own numbers."
            )
    return ""


def _wrapped(value: float, right: float, bits: int) -> bool:
    whole = math.isfinite(value) and math.isfinite(right) and value == int(value)
    if not whole or right != int(right) or -(2 ** (bits - 1)) <= right < 2 ** (bits - 1):
        return False
    fits: bool = -(2 ** (bits - 1)) <= value < 2**bits
    return fits and (int(value) - int(right)) % 2**bits == 0


def _signs(pairs: Sequence[Pair], right_numbers: Sequence[float]) -> str:
    if not any(value < 0 < right for value, right in pairs):
        return ""
    return _(
        "A negative number is returned where none can be. Is a difference the wrong way round, or "
        "did a whole number of a fixed width (numpy's int32) overflow?"
    )


def _constant(pairs: Sequence[Pair], right_numbers: Sequence[float]) -> str:
    values = [*(value for value, _ in pairs), *right_numbers]
    if len(values) < 2 or any(value != values[0] for value in values):
        return ""
    if rounded(pairs):
        return _(
            "It is one and the same number in all of these cases. Are the arguments used? Or is it "
            "rounded?"
        )
    return _("It is one and the same number in all of these cases. Are the arguments used?")


def _rounded(pairs: Sequence[Pair], right_numbers: Sequence[float]) -> str:
    if not rounded(pairs):
        return ""
    # Small integers may also come from a maximum or a limit, without rounding.
    if all(_is_small_integer(value) for value, _ in pairs):
        return _(
            "The numbers look rounded, further than the tolerance allows; or limits stand for the "
            "exact values; or one of two terms decides where the other should."
        )
    return _(
        "The numbers look rounded, further than the tolerance allows: return them as they are."
    )


def _repeated(pairs: Sequence[Pair], right_numbers: Sequence[float]) -> str:
    """Detect a number returned for several cases with different right answers."""
    if any(_is_small_integer(value) for value, _ in pairs):
        return ""
    everything = [*pairs, *((value, value) for value in right_numbers)]
    if not all(
        any(
            value == other and not math.isclose(right, wanted, rel_tol=1e-9)
            for other, wanted in everything
        )
        for value, right in pairs
    ):
        return ""
    return _(
        "The function gives one number for cases that differ. Is an argument left out, or a "
        "result kept from one call to the next?"
    )


def _factor(pairs: Sequence[Pair], right_numbers: Sequence[float]) -> str:
    shares = _shares([value / right if _usable(value, right) else 0 for value, right in pairs])
    if shares is None:
        return ""
    least, most = shares
    if most - least > FACTOR_TOLERANCE * most:
        return ""
    for factor, slips in FACTORS:
        if any(math.isclose(most, way, rel_tol=FACTOR_TOLERANCE) for way in (factor, 1 / factor)):
            if len(pairs) == 1:
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
    if len(pairs) < 2:
        return ""
    return _(
        "The numbers that are not right are all off by one and the same factor. Look for a "
        "constant that is missing, wrong, or there once too often."
    )


def _inverse(pairs: Sequence[Pair], right_numbers: Sequence[float]) -> str:
    # Multiply floats, which overflow to infinity: huge integers would raise an OverflowError.
    products = _shares(
        [float(value) * float(right) if _usable(value, right) else 0 for value, right in pairs]
    )
    if products is None:
        return ""
    least, most = products
    if most - least > FACTOR_TOLERANCE * most:
        return ""
    if math.isclose(most, 1, rel_tol=FACTOR_TOLERANCE):
        return _("The ratio is upside down.")
    if len(pairs) < 2:
        return ""
    return _("A ratio is upside down, and there is a constant factor that does not belong there.")


def _shift(pairs: Sequence[Pair], right_numbers: Sequence[float]) -> str:
    if len(pairs) < 2 or not all(math.isfinite(number) for pair in pairs for number in pair):
        return ""
    shifts = [value - right for value, right in pairs]
    whole = all(number == round(number) for pair in pairs for number in pair)
    digits = (
        0 if whole else max(abs(number) for pair in pairs for number in pair) * FACTOR_TOLERANCE
    )
    if max(shifts) - min(shifts) > digits or min(map(abs, shifts)) < 100 * digits:
        return ""
    return _("The numbers that are not right are all off by one and the same amount.")


def _about_factor(pairs: Sequence[Pair], right_numbers: Sequence[float]) -> str:
    shares = _shares([value / right if _usable(value, right) else 0 for value, right in pairs])
    for power in POWERS:
        for factor in (1000.0**power, 1000.0**-power):
            if shares and all(abs(share / factor - 1) < MAX_PREFIX_ERROR for share in shares):
                return _(
                    "The numbers that are not right are all off by nearly the same factor: "
                    "{prefix}. Besides, something is rounded, or a small term is missing or too "
                    "much."
                ).format(prefix=_(PREFIX))
    return ""


def _near(pairs: Sequence[Pair], right_numbers: Sequence[float]) -> str:
    if not all(_usable(value, right) for value, right in pairs):
        return ""
    if any(abs(value / right - 1) > MAX_NEAR_ERROR for value, right in pairs):
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


def _shares(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the smallest and largest value, None unless all are positive and finite."""
    if not values or not all(value > 0 and math.isfinite(value) for value in values):
        return None
    return min(values), max(values)


# Detectors are tried in this order, and the first sentence is used.
DETECTORS: tuple[Callable[[Sequence[Pair], Sequence[float]], str], ...] = (
    *(_infinite, _zeros, _overflow, _signs, _constant, _rounded, _repeated),
    *(_factor, _inverse, _shift, _about_factor, _near),
)
