"""`python -m rooflib`: the bounds of one operation on one chip, as text or as a plot."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import rooflib as rl
from rooflib._arguments import one_of
from rooflib.table import Table, facts
from rooflib.units import text

if TYPE_CHECKING:
    from rooflib import Bounds, Chip, Operation

# Each operation with the sizes that it takes, in their order.
SIZES = {
    "matmul": ("B", "D", "F"),
    "matmul_per_example": ("B", "D", "F"),
    "sharded_matmul": ("B", "D", "F", "N"),
    "dot": ("N",),
    "elementwise": ("N",),
    "rms_norm": ("B", "D"),
    "operation": ("flops", "bytes"),
}
OPTIONS = {
    "x": "data type of the input (bf16, int8, fp8, ...; by default bf16)",
    "w": "data type of the weight (by default as x)",
    "out": "data type of the result (by default as x)",
    "compute": "data type of the arithmetic",
    "partial": "data type of the partial sums of a sharded_matmul with split D",
    "split": "dimension that a sharded_matmul splits: B, D or F",
    "result": "of a sharded_matmul: replicated or sharded",
    "inputs": "number of inputs of an elementwise operation",
    "flops_per_element": "FLOPs for each element of an elementwise operation",
    "sent": "bytes that an operation sends to other chips",
}
EXAMPLES = """
examples:
  python -m rooflib --chips
  python -m rooflib "H100 SXM"
  python -m rooflib tpu-v5e matmul 64 4096 16384 --w int8 --plot layer.svg
  python -m rooflib tpu-v5e sharded_matmul 512 8192 8192 4 --split D --link ICI
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"rooflib: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what `arguments` ask for; a mistake in them is one line, and exit status 2."""
    parser = _parser()
    given = parser.parse_intermixed_args(arguments)
    try:
        _run(parser, given)
    except (ValueError, TypeError, OSError) as error:
        parser.error(str(error))
    return 0


def _run(parser: _Parser, given: argparse.Namespace) -> None:
    if given.chips:
        _show(_all_chips())
    elif given.chip is None:
        parser.print_help()
    elif given.operation is None:
        _show(_one_chip(rl.chip(given.chip)))
    else:
        chip, op = rl.chip(given.chip), _operation(given)
        bounds = rl.bound(op, chip, given.link, given.unit)
        _show(op.table)
        print(f"\non {chip.name}:")
        _show(bounds.table)
        if given.plot:
            _plot(given.plot, op, bounds, chip, given.unit)


def _parser() -> _Parser:
    sizes = "\n".join(
        f"  {name} {' '.join(sizes)}: {getattr(rl, name).__doc__.splitlines()[0]}"
        for name, sizes in SIZES.items()
    )
    parser = _Parser(
        prog="python -m rooflib",
        description="How long an operation takes on a chip at least, and what holds it back.",
        epilog=f"operations and their sizes:\n{sizes}\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("chip", nargs="?", help="a chip of the catalogue; alone, its figures")
    parser.add_argument("operation", nargs="?", help="an operation, listed below")
    parser.add_argument("sizes", nargs="*", help="its sizes, in the order below")
    parser.add_argument("--chips", action="store_true", help="list the chips")
    parser.add_argument("--link", help="the link that carries what is sent")
    parser.add_argument("--unit", default="matrix", help="matrix or vector: whose peak")
    parser.add_argument("--plot", metavar="FILE", help="draw the roofline as .svg, .png or .pdf")
    parser.add_argument("--version", action="version", version=f"rooflib {rl.__version__}")
    for name, explained in OPTIONS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", help=explained)
    return parser


def _operation(given: argparse.Namespace) -> Operation:
    name = one_of("operation", given.operation.replace("-", "_"), SIZES)
    wanted = SIZES[name]
    if len(given.sizes) != len(wanted):
        raise ValueError(f"{name} takes {' '.join(wanted)}; got {' '.join(given.sizes) or 'none'}")
    make: Any = getattr(rl, name)
    sizes = {size: _number(size, shown) for size, shown in zip(wanted, given.sizes, strict=True)}
    options = {key: value for key, value in vars(given).items() if key in OPTIONS and value}
    takes = make.__code__.co_varnames[: make.__code__.co_argcount]
    for option in options:
        if option not in takes:
            raise ValueError(f"{name} takes no --{option.replace('_', '-')}")
        if option in ("inputs", "flops_per_element", "sent"):
            options[option] = _number(option, options[option])
    made: Operation = make(**sizes, **options)
    return made


def _number(name: str, shown: str) -> float:
    try:
        return int(shown) if shown.isdecimal() else float(shown)
    except ValueError:
        raise ValueError(f"{name} must be a number; got {shown!r}") from None


def _all_chips() -> Table:
    chips = rl.chips()
    return Table(
        {
            "chip": [chip.name for chip in chips],
            "peak bf16": [text(chip.peak(), "FLOP/s") for chip in chips],
            "HBM": [text(chip.bandwidth, "B/s") for chip in chips],
            "capacity": [text(chip.capacity, "B") for chip in chips],
            "ridge": [text(chip.ridge(), "FLOP/B") for chip in chips],
            "links": [", ".join(link.name for link in chip.links) for chip in chips],
        }
    )


def _one_chip(chip: Chip) -> Table:
    rows = {f"peak {kind}": text(peak, "FLOP/s") for kind, peak in chip.peaks.items()}
    rows |= {f"vector {kind}": text(peak, "FLOP/s") for kind, peak in chip.vector.items()}
    rows |= {"HBM": text(chip.bandwidth, "B/s"), "capacity": text(chip.capacity, "B")}
    for link in chip.links:
        rows[f"{link.name} to one peer"] = text(link.to_one_peer, "B/s")
    return facts(chip.name, rows | {"ridge": text(chip.ridge(next(iter(chip.peaks))), "FLOP/B")})


def _plot(path: str, op: Operation, bounds: Bounds, chip: Chip, unit: str) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    from rooflib import plots

    if not 0 < op.intensity < float("inf"):
        raise ValueError("--plot needs an operation with FLOPs and bytes")
    with mpl.rc_context(plots.STYLE):
        ax = plots.roofline(
            plots.axes(),
            {f"{chip.name}, {op.compute.name}": chip.peak(op.compute, unit)},
            {"HBM": chip.bandwidth},
            {op.name: (float(op.intensity), float(bounds.attainable))},
        )
        ax.get_figure().savefig(path, facecolor="white")


def _show(table: Table) -> None:
    # In a terminal, a no-break space would keep a search for "197 TFLOP/s" from finding it.
    print(str(table).replace("\N{NO-BREAK SPACE}", " "))


if __name__ == "__main__":
    sys.exit(main())
