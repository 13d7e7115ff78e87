"""Data types, and the bytes that one element of each takes in memory."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from rooflib._arguments import near, short, text_of, whole


@dataclass(frozen=True)
class DType:
    """How one number is stored: its name and its width in bits.

    A type of one's own goes wherever a name does. Bits that are not a whole number above zero
    are a ValueError.

    >>> DType("int3", 3).bytes
    0.375
    """

    name: str
    bits: int

    def __post_init__(self) -> None:
        text_of("name of a data type", self.name)
        whole("bits", self.bits)
        if not isinstance(self.bits, int):
            raise TypeError(f"bits must be an int; got {short(self.bits)}")

    @property
    def bytes(self) -> float:
        """Bytes per element: a whole number where there is one, ½ for the 4-bit types."""
        return self.bits // 8 if self.bits % 8 == 0 else self.bits / 8


Type: TypeAlias = "str | DType"
"""What a caller may pass where a data type is taken: a name, or a type of one's own."""

# Each name ends in its bits in memory. In the arithmetic, tf32 has only 19 of them.
_NAMES = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int32", "int8", "int4")
DTYPES = MappingProxyType({name: DType(name, int(name.lstrip("bfintp"))) for name in _NAMES})

# What other libraries call the same types.
ALIASES = {"double": "fp64", "single": "fp32", "half": "fp16", "bfloat16": "bf16"}
ALIASES |= {f"float{bits}": f"fp{bits}" for bits in (64, 32, 16, 8, 4)}

# The types that each takes in: stored narrow, and multiplied in the wider type.
_NARROW = ("fp8", "fp4", "int8", "int4")
_TAKES_IN = {
    "fp64": ("fp32", "bf16", "fp16", *_NARROW),
    "fp32": ("bf16", "fp16", *_NARROW),
    "bf16": _NARROW,
    "fp16": _NARROW,
    "fp8": ("fp4",),
    "int8": ("int4",),
}


def dtype(name: str | DType, argument: str = "dtype") -> DType:
    """Look up a data type by name, in capitals or not, or by what other libraries call it.

    `argument` is the name to blame in the error. A `DType` comes back as it is.

    >>> dtype("bfloat16") is dtype("BF16") is dtype("bf16")
    True

    An unknown name is a ValueError that lists the known ones.
    """
    if isinstance(name, DType):
        return name
    plain = name.lower() if isinstance(name, str) else ""
    found = DTYPES.get(ALIASES.get(plain, plain))
    if found is None:
        hint = near(name, [*DTYPES, *ALIASES])
        raise ValueError(f"{argument} must be one of {', '.join(DTYPES)}; got {name!r}{hint}")
    return found


def wider(first: DType, second: DType) -> DType:
    """Return the type that a product of the two is computed in, where that is agreed.

    Two of one type meet in it. fp8, fp4, int8 and int4 meet a float of 16 bits or more in the
    float, as int8 weights and bf16 activations do in bf16; bf16 and fp16 meet fp32 in fp32, all of
    these meet fp64 in fp64, int4 meets int8 in int8, and fp4 meets fp8 in fp8.

    >>> wider(dtype("bf16"), dtype("int8")).name
    'bf16'

    Any other two (int8 and fp4, bf16 and fp16, tf32 and another) are a ValueError, not a guess.
    """
    for one, other in ((first, second), (second, first)):
        if one == other or other.name in _TAKES_IN.get(one.name, ()):
            return one
    pair = f"{first.name} times {second.name}"
    raise ValueError(f"compute must be given for {pair}: no type of arithmetic is agreed for it")
