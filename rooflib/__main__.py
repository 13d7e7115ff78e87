"""`python -m rooflib`: the bounds of one operation on one chip, as text or as a plot."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import rooflib as rl
from rooflib._arguments import one_of
from rooflib.table import Table
from rooflib.units import text

# Each operation with its sizes, in their order.
SIZES = {"matmul": "B D F", "matmul_per_example": "B D F", "sharded_matmul": "B D F N"}
SIZES |= {"dot": "N", "elementwise": "N", "rms_norm": "B D", "operation": "flops bytes"}
TYPES = ("x", "w", "out", "compute", "partial")
EXAMPLES = """
examples:
  python -m rooflib "H100 SXM"
  python -m rooflib tpu-v5e matmul 64 4096 16384 --w int8 --plot layer.svg
  python -m rooflib tpu-v5e sharded_matmul 512 8192 8192 4 --split D --link ICI
  python -m rooflib measure --help
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"rooflib: {message}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what `arguments` ask for; a mistake in them is one line, and exit status 2."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser = _parser()
    if words[:1] == ["measure"]:
        from rooflib.measuring.command import main as measure

        return measure(words[1:])
    given = parser.parse_intermixed_args(words)
    try:
        if given.chips:
            print(_all_chips())
        elif given.chip is None:
            parser.print_help()
        elif given.operation is None:
            print(rl.chip(given.chip).table)
        else:
            chip, op = rl.chip(given.chip), _operation(given)
            bounds = rl.bound(op, chip, given.link, given.unit)
            if given.plot:
                _plot(given.plot, op, bounds, chip.peak(op.compute, given.unit), chip)
            print(op.table, f"on {chip.name}:", bounds.table, sep="\n\n")
    except (ValueError, TypeError, OSError) as error:
        parser.error(str(error))


def _parser() -> _Parser:
    sizes = "\n".join(f"  {name} {sizes}" for name, sizes in SIZES.items())
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
    parser.add_argument("--split", help="what a sharded_matmul splits: B, D or F")
    parser.add_argument("--result", help="what it ends with: replicated or sharded")
    for name in TYPES:
        parser.add_argument(f"--{name}", metavar="TYPE", help="data type, e.g. bf16, int8 or fp8")
    return parser


def _operation(given: argparse.Namespace) -> rl.Operation:
    name = one_of("operation", given.operation.replace("-", "_"), SIZES)
    names = SIZES[name].split()
    if len(given.sizes) != len(names):
        raise ValueError(f"{name} takes {SIZES[name]}; got {' '.join(given.sizes) or 'none'}")
    sizes = {size: _number(size, s) for size, s in zip(names, given.sizes, strict=True)}
    options = {key: getattr(given, key) for key in (*TYPES, "split", "result")}
    options = {key: value for key, value in options.items() if value}
    made: rl.Operation = getattr(rl, name)(**sizes, **options)
    return made


def _number(name: str, shown: str) -> float:
    try:
        return int(shown) if shown.isdecimal() else float(shown)
    except ValueError:
        raise ValueError(f"{name} must be a number; got {shown!r}") from None


def _all_chips() -> Table:
    peaks = [text(chip.peak(), "FLOP/s") for chip in rl.chips()]
    ridges = [text(chip.ridge(), "FLOP/B") for chip in rl.chips()]
    links = [", ".join(link.name for link in chip.links) for chip in rl.chips()]
    names = [chip.name for chip in rl.chips()]
    return Table({"chip": names, "peak bf16": peaks, "ridge": ridges, "links": links})


def _plot(path: str, op: rl.Operation, bounds: rl.Bounds, peak: float, chip: rl.Chip) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    if not 0 < op.intensity < float("inf"):
        raise ValueError("--plot needs an operation with FLOPs and bytes")
    point: Any = (op.intensity, bounds.attainable)
    with mpl.rc_context(rl.plots.STYLE):
        ax = rl.plots.axes()
        slopes = {f"HBM of {chip.name}": chip.bandwidth}
        rl.plots.roofline(ax, {op.compute.name: peak}, slopes, {op.name: point})
        ax.figure.savefig(path, facecolor="white")  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
