"""`python -m rooflib`: print or plot the bounds of an operation on a chip."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

import rooflib as rl
from rooflib._arguments import one_of
from rooflib.table import Table, from_rows
from rooflib.units import text

USAGE = """\
usage: python -m rooflib --chips | --version
       python -m rooflib CHIP
       python -m rooflib CHIP OPERATION SIZES [options]
       python -m rooflib CHIP OPERATION --help
       python -m rooflib model MODEL CHIP [options]

Print how long an operation takes on a chip at least, and what limits it; or what a language model
does on chips: MODEL is a config.json or the name of a model in the catalog.

operations and their sizes:
{operations}

examples:
  python -m rooflib "H100 SXM"
  python -m rooflib tpu-v5e matmul 64 4096 16384 --w int8 --plot layer.svg
  python -m rooflib tpu-v5e sharded_matmul 512 8192 8192 4 --split D --link ICI
  python -m rooflib "H100 SXM" attention 1 1 8192 32 8 128 --kv int8
  python -m rooflib "H100 SXM" decode "Llama 3 8B" 16 8192 --launch 5e-6
  python -m rooflib model config.json "H100 SXM" --chips 4 --batch 32 --plot step.svg"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"rooflib: {message}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what the arguments request; on a mistake, print one line and exit with 2."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough. Python flushes stdout once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (ValueError, TypeError, OSError, argparse.ArgumentTypeError) as error:
        _Parser().error(str(error))


def operations() -> dict[str, Callable[..., rl.Operation]]:
    """Return the functions of rooflib and methods of `Model` that make operations."""
    methods = {name: method for name, method in vars(rl.Model).items() if name[0] != "_"}
    return {
        name: function
        for name, function in (vars(rl) | methods).items()
        if inspect.isfunction(function)
        and inspect.signature(function).return_annotation == "Operation"
    }


def _run(words: list[str]) -> None:
    if not words or words[0] in ("-h", "--help"):
        shown = "\n".join(f"  {name} {_usage(function)}" for name, function in operations().items())
        print(USAGE.format(operations=shown))
    elif words[0] == "--version":
        print(f"rooflib {rl.__version__}")
    elif words[0] == "--chips":
        if words[1:]:
            raise ValueError(f"--chips takes no arguments; got {' '.join(words[1:])}")
        print(_all_chips())
    elif words[0] == "model":
        _model(words[1:])
    elif words[0].startswith("-"):
        raise ValueError(f"a chip must come first; got {words[0]}")
    elif len(words) == 1:
        print(rl.chip(words[0]).table)
    else:
        _bound(rl.chip(words[0]), words[1], words[2:])


def _model(words: Sequence[str]) -> None:
    parser = _Parser(prog="python -m rooflib model MODEL CHIP", allow_abbrev=False)
    parser.add_argument("names", nargs="*", help="a config.json or a model's name, and a chip's")
    parameters = dict(inspect.signature(rl.Serving).parameters)
    del parameters["model"], parameters["chip"]
    sizes = {"batch": parameters.pop("B"), "context": parameters.pop("S")}
    _add_options(parser, sizes | parameters)
    given, unknown = parser.parse_known_intermixed_args(words)
    if unknown or len(given.names) != 2:
        shown = " ".join(unknown or given.names) or "none"
        raise ValueError(f"model takes MODEL CHIP and options, see --help; got {shown}")
    options = {key: value for key, value in vars(given).items() if value is not None}
    (name, chip), path = options.pop("names"), options.pop("plot", None)
    is_file = name.endswith(".json") or os.path.exists(name)  # noqa: PTH110
    served = rl.Serving(rl.model_from_config(name) if is_file else name, chip, **options)
    tables = [served.table, "decode step:", served.decode_table, "prefill of a prompt:"]
    print(*tables, served.prefill_table, served.changes_table, sep="\n\n")
    if path:
        parts = [part for part in served.decode.parts if part.flops]
        points = {part.name: float(part.intensity) for part in parts}
        _draw(path, rl.chip(chip), served.decode.compute, points)


def _bound(chip: rl.Chip, name: str, words: Sequence[str]) -> None:
    known = operations()
    name = one_of("operation", name.replace("-", "_"), known)
    function, bound_parameters = known[name], inspect.signature(rl.bound).parameters
    summary = str(inspect.getdoc(function)).splitlines()[0]
    prog = f"python -m rooflib CHIP {name}"
    parser = _Parser(prog=prog, description=summary, allow_abbrev=False)
    parser.add_argument("sizes", nargs="*", help=_usage(function))
    parameters = {**inspect.signature(function).parameters, **bound_parameters}
    for place in ("op", "chip", *_places(function)):
        parameters.pop(place, None)
    known_options = _add_options(parser, parameters)
    given, unknown = parser.parse_known_intermixed_args(words)
    if unknown:
        raise ValueError(f"{name} takes no {unknown[0]}; it takes {', '.join(known_options)}")
    options = {key: value for key, value in vars(given).items() if value is not None}
    sizes, path = options.pop("sizes"), options.pop("plot", None)
    roofs = {key: options.pop(key) for key in bound_parameters if key in options}
    op = _operation(name, function, sizes, options)
    bounds = rl.bound(op, chip, **roofs)
    if path:
        if not 0 < op.intensity < float("inf"):
            raise ValueError("--plot needs an operation with FLOPs and bytes")
        point = float(op.intensity), float(bounds.attainable)
        _draw(path, chip, op.compute, {op.name: point}, roofs.get("unit", "matrix"))
    print(op.table, f"on {chip.name}:", bounds.table, sep="\n\n")


def _add_options(
    parser: argparse.ArgumentParser, parameters: Mapping[str, inspect.Parameter]
) -> list[str]:
    """Add an option for each parameter and --plot; return the option strings.

    The parameters are keyed by the option's name.
    """
    words = []
    for name, each in parameters.items():
        word, kinds = name.replace("_", "-"), each.annotation.split(" | ")
        default = "" if each.default is None else f"; {each.default} if left out"
        if "bool" in kinds:
            words.append(f"--{word}" if each.default is False else f"--no-{word}")
            action = "store_true" if each.default is False else "store_false"
            parser.add_argument(words[-1], dest=each.name, action=action)
            if kinds == ["bool"]:
                continue
        words.append(f"--{word}")
        number = not {"Size", "int", "float"}.isdisjoint(kinds)
        what = "a number" if number else "a data type" if "Type" in kinds else "a name"
        read: Any = partial(_number, word) if number else str
        shown, help = "N" if number else "NAME", what + default
        parser.add_argument(words[-1], dest=each.name, metavar=shown, type=read, help=help)
    parser.add_argument("--plot", metavar="FILE", help="draw the roofline as .svg, .png or .pdf")
    return [*words, "--plot"]


def _operation(
    name: str, function: Callable[..., rl.Operation], words: Sequence[str], options: dict[str, Any]
) -> rl.Operation:
    places = _places(function)
    model = {"self": rl.model(words[0])} if words and "self" in places else {}
    if not sum(places.values()) <= len(words) <= len(places):
        raise ValueError(f"{name} takes {_usage(function)}; got {' '.join(words) or 'none'}")
    given = zip(places, words, strict=False)
    sizes = {place: _number(place, word) for place, word in given if place not in model}
    return function(**model, **sizes, **options)


def _places(function: Callable[..., Any]) -> dict[str, bool]:
    """Return an operation's positional arguments, and whether each is required."""
    return {
        name: each.default is each.empty
        for name, each in inspect.signature(function).parameters.items()
        if name == "self" or (each.annotation == "Size" and each.kind is not each.KEYWORD_ONLY)
    }


def _usage(function: Callable[..., Any]) -> str:
    """Return an operation's positional arguments as usage: `MODEL B S [chips]`."""
    places = _places(function).items()
    shown = [name if required else f"[{name}]" for name, required in places]
    return " ".join(shown).replace("self", "MODEL")


def _number(name: str, shown: str) -> float:
    try:
        return int(shown) if shown.isdecimal() else float(shown)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{name} must be a number; got {shown!r}") from None


def _all_chips() -> Table:
    rows = []
    for chip in rl.chips(more=True):
        peak = ridge = "–"
        if "bf16" in chip.peaks:
            peak, ridge = text(chip.peak(), "FLOP/s"), text(chip.ridge(), "FLOP/B")
        rows.append((chip.name, peak, ridge, ", ".join(link.name for link in chip.links)))
    return from_rows(("chip", "peak bf16", "ridge", "links"), rows)


def _draw(path: str, chip: rl.Chip, compute: rl.DType, points: Any, unit: str = "matrix") -> None:
    import matplotlib as mpl

    mpl.use("agg")
    with mpl.rc_context(rl.plots.STYLE):
        ax = rl.plots.axes()
        slopes = {f"HBM of {chip.name}": chip.bandwidth}
        ceilings = {compute.name: chip.peak(compute, unit)}
        rl.plots.roofline(ax, ceilings, slopes, points)
        ax.figure.savefig(path, facecolor="white")  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
