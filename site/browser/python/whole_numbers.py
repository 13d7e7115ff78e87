"""64-bit integers from numpy in a page, where native integers have 32 bits.

In WebAssembly, numpy converts Python's integers to int32, and the operations of a layer, 2·B·D·F,
overflow silently. `widen` replaces numpy's public functions by wrappers that return int64, as on a
reader's own machine, unless the code asks for 32 bits. `WideAstype` does the same for
`x.astype(int)` in a cell.

Not covered: an array's other methods, so sums of values with fewer bits, `(x > 2).sum()`, have 32
bits, and `x.take` and `x.repeat` refuse 64-bit indices; lists given to `np.linalg` or `np.poly1d`;
the legacy functions of `np.random`; and `np.dtype(int)`.
"""

import ast
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

Function = Callable[..., Any]

# Number of leading arguments that are arrays → functions that compute with them. Lists among these
# arguments are converted before the call, since the result may overflow.
COMPUTING = {
    1: "cumprod cumsum diff ediff1d nancumprod nancumsum nanprod nansum prod ptp sum trace vander",
    2: "convolve correlate cross dot inner kron outer polyadd polymul polyval tensordot vdot",
}
# Functions that numpy computes in its native integers if the inputs are narrower.
REDUCING = ["cumprod", "cumsum", "nancumprod", "nancumsum", "nanprod", "nansum", "prod", "sum"]
# Function that accepts only native integers as indices or counts → position and name of that
# argument.
TAKING_INDICES = {
    "bincount": (0, "x"),
    "choose": (0, "a"),
    "put": (1, "ind"),
    "repeat": (1, "repeats"),
    "take": (1, "indices"),
    "tile": (1, "reps"),
}
# Functions that return indices. These stay native integers, as `x.take` and `x.repeat` want them.
GIVING_INDICES = """
argmax argmin argpartition argsort argwhere digitize flatnonzero lexsort nonzero searchsorted
unravel_index ravel_multi_index
"""
# Objects that make arrays by indexing.
INDEXED = ("c_", "mgrid", "ogrid", "r_")
INT_NAMES = (int, "int")


def widen(numpy: ModuleType, type_name: str = "int64") -> None:
    """Make numpy prefer int64, or another type, where its native integer is narrower."""
    narrow, wide = numpy.dtype(int), numpy.dtype(type_name)
    if narrow == wide:
        return
    types = WideTypes(numpy, narrow, wide)
    native = GIVING_INDICES.split()
    arrays = {name: count for count, names in COMPUTING.items() for name in names.split()}
    wrapped: dict[str, Any] = {"int_": wide.type}
    # Wrap only names that are loaded: `__all__` also has submodules that numpy imports on demand.
    for name in sorted(set(numpy.__all__) & vars(numpy).keys()):
        value = getattr(numpy, name)
        if isinstance(value, numpy.ufunc):
            wrapped[name] = wrapped_ufunc(value, types)
        elif name == "einsum":
            wrapped[name] = wrapped_function(value, types, arrays=1000)
        elif name == "apply_along_axis":
            wrapped[name] = wrapped_function(value, types, callback=True)
        elif callable(value) and not isinstance(value, type) and name not in native:
            wrapped[name] = wrapped_function(
                value, types, arrays.get(name, 0), name in REDUCING, TAKING_INDICES.get(name)
            )
    for name in INDEXED:
        wrapped[name] = Indexed(getattr(numpy, name), types)
    wrapped["vectorize"] = wrapped_vectorize(numpy.vectorize, types)
    for name, value in wrapped.items():
        setattr(numpy, name, value)


class WideTypes:
    """Numpy's native integer type and a wider one, with conversions between them."""

    def __init__(self, numpy: ModuleType, narrow: Any, wide: Any) -> None:
        self.narrow, self.wide = narrow, wide
        self.dtype, self.asarray = numpy.dtype, numpy.asarray
        self.limits = numpy.iinfo(wide) if wide.kind == "i" else None

    def requested(self, value: Any) -> Any:
        """Return the wide type for `int` or "int", any other argument unchanged."""
        return self.wide if any(value is name for name in INT_NAMES) else value

    def is_narrow(self, value: Any) -> bool:
        """Return whether an argument has, contains or names the narrow type."""
        if hasattr(value, "dtype") and not isinstance(value, type):
            return bool(value.dtype == self.narrow)
        if isinstance(value, list | tuple):
            return any(map(self.is_narrow, value))
        if isinstance(value, type | str | self.dtype):
            try:
                return bool(self.dtype(value) == self.narrow)
            except TypeError:
                return False
        return False

    def fits(self, value: Any) -> bool:
        """Return whether an argument is a Python integer that the wide type holds."""
        if type(value) is not int:
            return False
        return self.limits is None or self.limits.min <= value <= self.limits.max

    def input(self, value: Any) -> Any:
        """Return lists of Python integers as wide arrays, anything else unchanged."""
        if not isinstance(value, list | tuple) or not value:
            return value
        if all(type(each) is int for each in value):
            return self.output(self.asarray(value))
        return type(value)(map(self.input, value))

    def output(self, value: Any) -> Any:
        """Return a result, or those in a tuple or list, widened if narrow."""
        if type(value) in (tuple, list):
            return type(value)(map(self.output, value))
        if hasattr(value, "dtype") and value.dtype == self.narrow:
            return value.astype(self.wide)
        return value

    def call(
        self,
        function: Function,
        args: tuple[Any, ...],
        named: dict[str, Any],
        places: tuple[int, str] | None,
    ) -> Any:
        """Call a function, with its index argument as narrow integers."""
        index, name = places or (len(args), "")
        shortened = [self.place(arg) if at == index else arg for at, arg in enumerate(args)]
        changed = {name: self.place(named[name])} if name in named else {}
        return function(*shortened, **{**named, **changed})

    def place(self, value: Any) -> Any:
        """Return a wide array of indices as a narrow one."""
        is_wide = hasattr(value, "dtype") and value.dtype == self.wide
        return value.astype(self.narrow) if is_wide else value

    def of_callback(self, function: Function) -> Function:
        """Wrap a reader's function so that Python integers which it returns are wide."""

        @wraps(function)
        def called(*args: Any, **named: Any) -> Any:
            result = function(*args, **named)
            if type(result) is tuple:
                return tuple(self.wide.type(one) if self.fits(one) else one for one in result)
            return self.wide.type(result) if self.fits(result) else result

        return called


def wrapped_function(
    function: Function,
    types: WideTypes,
    arrays: int = 0,
    is_reducing: bool = False,
    places: tuple[int, str] | None = None,
    callback: bool = False,
) -> Function:
    """Wrap a numpy function to return wide integers, unless an argument is narrow.

    The other parameters: the function's entries in COMPUTING, REDUCING and TAKING_INDICES, and
    whether its first argument is a function of the reader's.
    """

    @wraps(function, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    def wrapper(*args: Any, **named: Any) -> Any:
        args = tuple(types.requested(arg) for arg in args)
        if "dtype" in named:
            named["dtype"] = types.requested(named["dtype"])
        first = args[:arrays]
        # Convert integers that fit in 64 bits; numpy treats larger ones as Python objects.
        if first and all(types.fits(arg) for arg in first):
            args = (*map(types.wide.type, first), *args[arrays:])
        elif first:
            args = (*map(types.input, first), *args[arrays:])
        if callback:
            args = (types.of_callback(args[0]), *args[1:])
        if is_reducing and args and named.get("dtype") is None and named.get("out") is None:
            kind = types.asarray(args[0]).dtype
            if kind.kind in "biu" and kind.itemsize <= types.narrow.itemsize and len(args) < 3:
                named["dtype"] = "uint64" if kind.kind == "u" else types.wide
        result = types.call(function, args, named, places)
        widened = types.output(result)
        if widened is result or any(map(types.is_narrow, (*args, *named.values()))):
            return result
        return widened

    return wrapper


def wrapped_ufunc(ufunc: Any, types: WideTypes) -> Function:
    """Return a ufunc as a function that, like its methods, gives wide integers."""
    function = wrapped_function(ufunc, types, ufunc.nin)
    for name in dir(ufunc):
        if not name.startswith("_"):
            part = getattr(ufunc, name)
            arrays = {"outer": 2, "reduce": 1, "accumulate": 1, "reduceat": 1}.get(name, 0)
            is_method = callable(part)
            setattr(function, name, wrapped_function(part, types, arrays) if is_method else part)
    return function


def wrapped_vectorize(vectorize: Any, types: WideTypes) -> type:
    """Return a subclass of numpy's vectorize that widens integers."""

    class WideVectorize(vectorize):  # type: ignore[misc]
        """Numpy's vectorize, for 64-bit integers."""

        def __init__(self, *args: Any, **named: Any) -> None:
            if args:
                args = (types.of_callback(args[0]), *args[1:])
            if isinstance(named.get("otypes"), list):
                named["otypes"] = [types.requested(one) for one in named["otypes"]]
            super().__init__(*args, **named)

        def __call__(self, *args: Any, **named: Any) -> Any:
            return super().__call__(*map(types.input, args), **named)

    return WideVectorize


class Indexed:
    """Wrapper of `np.r_` and similar objects, with wide integers."""

    def __init__(self, original: Any, types: WideTypes) -> None:
        self.original, self.types = original, types

    def __getitem__(self, key: Any) -> Any:
        result = self.original[key]
        keys = key if isinstance(key, tuple) else (key,)
        return result if any(map(self.types.is_narrow, keys)) else self.types.output(result)


class WideAstype(ast.NodeTransformer):
    """AST transformer that turns `x.astype(int)` in a cell into `x.astype("int64")`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace `int` by "int64" in a call of `astype`."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "astype":
            node.args[:1] = map(wide_name, node.args[:1])
            for keyword in node.keywords:
                if keyword.arg == "dtype":
                    keyword.value = wide_name(keyword.value)
        return node


def wide_name(node: ast.expr) -> ast.expr:
    """Return "int64" for the name `int` or the text "int".

    Any other expression stays unchanged.
    """
    is_name = isinstance(node, ast.Name) and node.id == "int"
    is_text = isinstance(node, ast.Constant) and node.value == "int"
    return ast.copy_location(ast.Constant("int64"), node) if is_name or is_text else node
