"""Data types, and the bytes that one element of each takes in memory."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class DType:
    """How one number is stored: its name and its width in bits."""

    name: str
    bits: int

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


def dtype(name: str | DType, argument: str = "dtype") -> DType:
    """Look up a data type by name; `argument` is the name to blame in the error.

    Raises
    ------
    ValueError
        If the name is not a known data type. The message lists the known ones.
    """
    if isinstance(name, DType):
        return name
    try:
        return DTYPES[name]
    except (KeyError, TypeError):
        known = ", ".join(DTYPES)
        raise ValueError(f"{argument} must be one of {known}; got {name!r}") from None


def wider(first: DType, second: DType) -> DType:
    """Return the type that a product of the two is computed in: the wider one.

    Weights in int8 and activations in bf16 meet in bf16. Two different types of one width
    have no obvious meeting point, so that is an error and not a guess.
    """
    if first.bits == second.bits and first != second:
        raise ValueError(
            f"compute must be given for {first.name} times {second.name}: "
            "both are equally wide, so the type of the arithmetic is not plain from them"
        )
    return first if first.bits >= second.bits else second
