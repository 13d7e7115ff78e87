"""Data types, and the bytes that one element of each takes in memory."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from rooflib._arguments import near, whole


@dataclass(frozen=True)
class DType:
    """How one number is stored: its name and its width in bits.

    A type of one's own goes wherever a name does, and meets only itself in a product:

    >>> DType("int3", 3).bytes
    0.375

    Raises
    ------
    ValueError
        If `bits` is not a whole number above zero.
    """

    name: str
    bits: int

    def __post_init__(self) -> None:
        whole("bits", self.bits)

    @property
    def bytes(self) -> float:
        """Bytes per element: a whole number where there is one, ½ for the 4-bit types."""
        return self.bits // 8 if self.bits % 8 == 0 else self.bits / 8


DTYPES = MappingProxyType(
    {
        name: DType(name, bits)
        for name, bits in {
            "fp64": 64,
            "fp32": 32,
            "tf32": 32,  # 19 bits in the arithmetic, but 32 in memory
            "bf16": 16,
            "fp16": 16,
            "fp8": 8,
            "fp4": 4,
            "int32": 32,
            "int8": 8,
            "int4": 4,
        }.items()
    }
)

ALIASES = MappingProxyType(
    {
        "double": "fp64",
        "single": "fp32",
        "half": "fp16",
        "bfloat16": "bf16",
        "tensorfloat32": "tf32",
        "fp8_e4m3": "fp8",
        "fp8_e5m2": "fp8",
        "float8_e4m3fn": "fp8",
        "float8_e5m2": "fp8",
    }
    | {f"{long}{n}": f"fp{n}" for long in ("float", "f") for n in (64, 32, 16, 8, 4)}
    | {f"{short}{n}": f"int{n}" for short in "is" for n in (32, 8, 4)}
)
"""What other libraries call the same types, in lower case."""

# Types that are often stored narrow and multiplied in a wider type that holds each of their values:
# weights of at most 8 bits in a float of at least 16, a 16-bit float in fp32, all of them in fp64.
_NARROW = ("fp8", "fp4", "int8", "int4")
_HOLDS = {
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

    Raises
    ------
    ValueError
        If the name is not a known data type. The message lists the known ones.
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

    - Two of one type meet in that type.
    - fp8, fp4, int8 and int4 meet a float of 16 bits or more in the float: they are only stored
      narrow. Weights in int8 and activations in bf16 meet in bf16.
    - bf16 and fp16 meet fp32 in fp32, and fp64 takes in all of these floats.
    - int4 meets int8 in int8, and fp4 meets fp8 in fp8.

    >>> wider(dtype("bf16"), dtype("int8")).name
    'bf16'

    Raises
    ------
    ValueError
        For any other two (int8 and fp4, bf16 and fp16, anything and tf32): nothing is guessed.
    """
    for one, other in ((first, second), (second, first)):
        if one == other or other.name in _HOLDS.get(one.name, ()):
            return one
    raise ValueError(
        f"compute must be given for {first.name} times {second.name}: "
        "no one type of arithmetic is agreed for the two"
    )
