"""Data types: names, widths, and the common type of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from rooflib.checks import one_of, size


@dataclass(frozen=True)
class DType:
    """A data type: its name and its width in bits, with an element's share of a group's scale.

    A custom type may be passed wherever a name is accepted. Raises a ValueError for `bits` that are
    not above zero.

    >>> DType("int3", 3).bytes, DType("fp4", 4 + 8 / 32).bytes
    (0.375, 0.53125)
    """

    name: str
    bits: float

    def __post_init__(self) -> None:
        size("bits", self.bits, single=True)

    @property
    def bytes(self) -> float:
        """Bytes per element; an int if possible."""
        width = self.bits / 8
        return int(width) if width.is_integer() else width


Type: TypeAlias = "str | DType"
"""Accepted wherever a data type is expected: a name, or a custom `DType`."""

# Names end in the storage width. tf32 is stored in 32 bits but computes with 19.
_NAMES = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int32", "int8", "int4")
DTYPES = {name: DType(name, int(name.lstrip("bfintp"))) for name in _NAMES}

# Names of the same types in other libraries.
ALIASES = {"double": "fp64", "single": "fp32", "half": "fp16", "bfloat16": "bf16"}
ALIASES |= {f"float{bits}": f"fp{bits}" for bits in (64, 32, 16, 8, 4)}

# Types that are converted to the key when multiplied with it.
_NARROW = ("fp8", "fp4", "int8", "int4")
_CONVERTS = {
    "fp64": ("fp32", "bf16", "fp16", *_NARROW),
    "fp32": ("bf16", "fp16", *_NARROW),
    "bf16": _NARROW,
    "fp16": _NARROW,
    "fp8": ("fp4",),
    "int8": ("int4",),
}


def dtype(
    name: str | DType, argument: str = "dtype", more: Mapping[str, DType] | None = None
) -> DType:
    """Look up a data type by name, ignoring case; names of other libraries work too.

    A `DType` is returned unchanged. `more` has further types by name. A ValueError calls the
    argument `argument`.

    >>> dtype("bfloat16") is dtype("BF16") is dtype("bf16")
    True
    """
    if isinstance(name, DType):
        return name
    known = {**DTYPES, **more} if more else DTYPES
    plain = ALIASES.get(name.lower(), name.lower()) if isinstance(name, str) else name
    return known[one_of(argument, plain, known)]


def common_type(first: DType, second: DType) -> DType:
    """Return the type in which a product of two types is computed: that of the wider one.

    With a float of 16 bits or more, fp8, fp4, int8 and int4 are computed in that float. Pairs
    without a standard common type (int8 and fp4, bf16 and fp16, tf32 and another type) raise a
    ValueError.

    >>> common_type(dtype("bf16"), dtype("int8")).name
    'bf16'
    """
    for one, other in ((first, second), (second, first)):
        if one == other or other.name in _CONVERTS.get(one.name, ()):
            return one
    pair = f"{first.name} times {second.name}"
    raise ValueError(f"compute must be given for {pair}: there is no standard common type")
