"""Whole numbers of 64 bits from numpy, in WebAssembly, where a machine's word has 32.

There numpy makes int32 of a list of whole numbers, and the operations of a layer, 2·B·D·F, overflow
without a word. On a reader's own machine it makes int64 of the list, and so it does here after
`widen`. What says that it wants 32 bits gets them.
"""

import gc
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from types import ModuleType
from typing import Any

Function = Callable[..., Any]

# With the place of dtype among the arguments: these choose a type where none is asked for.
CHOOSERS = {
    "array": 1,
    "asarray": 1,
    "asanyarray": 1,
    "ascontiguousarray": 1,
    "asfortranarray": 1,
    "full": 2,
    "arange": 3,
}
# These have floats where no type is asked for: of them only `int` is heard as int64.
HEARERS = """
zeros ones empty eye identity fromiter fromfunction linspace logspace geomspace
"""
# These take lists as they are, and leave it to compiled code what becomes of them; so does every
# ufunc.
TAKERS = """
where concatenate dot vdot inner einsum convolve correlate
zeros_like ones_like empty_like full_like
"""
# These want places and counts of the machine's own width, and refuse wider ones. So do the
# functions of the same names, which ask the methods.
METHODS_WITH_PLACES = ("take", "repeat")
# Numpy's own modules that have names of the above for themselves; what they use them for is a
# reader's list.
WITHIN = """
_core.fromnumeric _core.numeric _core.shape_base lib._function_base_impl lib._shape_base_impl
"""
READERS = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray")


def widen(numpy: ModuleType, type_name: str = "int64") -> None:
    """Have numpy make int64 (or another type) of whole numbers, if by itself it does not."""
    narrow, wide = numpy.dtype(int), numpy.dtype(type_name)
    if narrow == wide:
        return
    numpy.__dict__["int_"] = wide.type
    made: dict[str, Function] = {}
    for name, place in CHOOSERS.items():
        made[name] = choosing(getattr(numpy, name), place, narrow, wide)
    for name in HEARERS.split():
        made[name] = hearing(getattr(numpy, name), wide)
    ufuncs = [name for name, each in vars(numpy).items() if isinstance(each, numpy.ufunc)]
    for name in (*TAKERS.split(), *ufuncs):
        made[name] = taking(getattr(numpy, name), made["asarray"], wide)
    made["bincount"] = placing(numpy.bincount, 0, wide, narrow)
    within = [sys.modules[f"numpy.{name}"] for name in WITHIN.split()]
    for module in within:
        for name in READERS:
            if hasattr(module, name):
                setattr(module, name, made[name])
    numpy.__dict__.update(made)
    # Numpy's way from a function to the method of an array.
    names = vars(within[0])
    names["_wrapit"] = taking(names["_wrapit"], made["asarray"], wide)
    array = numpy.ndarray
    methods = {name: placing(getattr(array, name), 1, wide, narrow) for name in METHODS_WITH_PLACES}
    replace_methods(array, {"astype": hearing(array.astype, wide), **methods})


def replace_methods(kind: type, methods: Mapping[str, Function]) -> None:
    """Put methods in the place of a compiled type's own, which Python itself does not allow."""
    (members,) = gc.get_referents(kind.__dict__)
    members.update(methods)
    sys._clear_type_cache()  # which may still hold the old ones


def choosing(function: Function, place: int, narrow: Any, wide: Any) -> Function:
    """The function, choosing the wide type where it chose the narrow one by itself."""

    def is_narrow(value: Any) -> bool:
        return hasattr(value, "dtype") and bool(value.dtype == narrow)

    @wraps(function)
    def chosen(*args: Any, **named: Any) -> Any:
        asked = named.get("dtype") if len(args) <= place else args[place]
        if asked is int:
            return function(*args[:place], *args[place + 1 :], **{**named, "dtype": wide})
        result = function(*args, **named)
        if asked is None and result.dtype == narrow and not any(map(is_narrow, args)):
            return result.astype(wide)
        return result

    return chosen


def hearing(function: Function, wide: Any) -> Function:
    """The function, hearing `int` as the wide type."""

    @wraps(function)
    def heard(*args: Any, **named: Any) -> Any:
        args = tuple(wide if arg is int else arg for arg in args)
        if named.get("dtype") is int:
            named["dtype"] = wide
        return function(*args, **named)

    return heard


def taking(function: Function, asarray: Function, wide: Any) -> Function:
    """The function, with lists as arrays; and whole numbers alone as ones of the wide type.

    Beside an array they stay as they are, for they take its type.
    """

    @wraps(function, assigned=("__name__", "__doc__"))
    def taken(*args: Any, **named: Any) -> Any:
        if named.get("dtype") is int:
            named["dtype"] = wide
        if all(type(arg) is int for arg in args):
            return function(*map(wide.type, args), **named)
        return function(*[widened(arg, asarray) for arg in args], **named)

    # A ufunc's reduce, accumulate and the like.
    for name in dir(function):
        if not name.startswith("_"):
            part = getattr(function, name)
            setattr(taken, name, taking(part, asarray, wide) if callable(part) else part)
    return taken


def widened(value: Any, asarray: Function) -> Any:
    """A list of whole numbers as an array, one of such lists as a list of arrays; else as it is."""
    if not isinstance(value, list | tuple) or not value:
        return value
    if all(type(each) is int for each in value):
        return asarray(value)
    return type(value)(widened(each, asarray) for each in value)


def placing(function: Function, first: int, wide: Any, narrow: Any) -> Function:
    """The function, with arrays of the wide type from its argument `first` on as narrow ones."""

    @wraps(function)
    def placed(*args: Any, **named: Any) -> Any:
        def fit(value: Any) -> Any:
            return (
                value.astype(narrow) if hasattr(value, "dtype") and value.dtype == wide else value
            )

        fitted = {name: fit(value) for name, value in named.items()}
        return function(*args[:first], *map(fit, args[first:]), **fitted)

    return placed
