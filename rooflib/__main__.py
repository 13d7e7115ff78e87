"""`python -m rooflib`: the bounds of one operation on one chip, as text or as a plot."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import rooflib as rl
from rooflib._arguments import one_of
from rooflib.table import Table, facts
from rooflib.units import text

# Each operation with its sizes, in their order.
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
    "x": "data type of the input (by default bf16)",
    "w": "data type of the weight (by default as x)",
    "out": "data type of the result (by default as x)",
    "compute": "data type of the arithmetic",
    "partial": "data type of a sharded_matmul's partial sums",
    "split": "what a sharded_matmul splits: B, D or F",
    "result": "what it ends with: replicated or sharded",
}
EXAMPLES = """
examples:
  python -m rooflib "H100 SXM"
  python -m rooflib tpu-v5e matmul 64 4096 16384 --w int8 --plot layer.svg
  python -m rooflib tpu-v5e sharded_matmul 512 8192 8192 4 --split D --link ICI
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"rooflib: {message}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what `arguments` ask for; a mistake in them is one line, and exit status 2."""
    parser = _parser()
    given = parser.parse_intermixed_args(arguments)
    try:
        if given.chips:
            print(_all_chips())
        elif given.chip is None:
            parser.print_help()
        elif given.operation is None:
            print(_figures(rl.chip(given.chip)))
        else:
            chip, op = rl.chip(given.chip), _operation(given)
            bounds = rl.bound(op, chip, given.link, given.unit)
            print(op.table, f"on {chip.name}:", bounds.table, sep="\n\n")
            if given.plot:
                _plot(given.plot, op, bounds, chip.peak(op.compute, given.unit), chip)
    except (ValueError, TypeError, OSError) as error:
        parser.error(str(error))


def _parser() -> _Parser:
    sizes = "\n".join(f"  {name} {' '.join(sizes)}" for name, sizes in SIZES.items())
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
        parser.add_argument(f"--{name}", help=explained)
    return parser


def _operation(given: argparse.Namespace) -> rl.Operation:
    name = one_of("operation", given.operation.replace("-", "_"), SIZES)
    if len(given.sizes) != len(SIZES[name]):
        raise ValueError(f"{name} takes {' '.join(SIZES[name])}; got {' '.join(given.sizes)}")
    sizes = {size: _number(size, s) for size, s in zip(SIZES[name], given.sizes, strict=True)}
    options = {key: value for key, value in vars(given).items() if key in OPTIONS and value}
    made: rl.Operation = getattr(rl, name)(**sizes, **options)
    return made


def _number(name: str, shown: str) -> float:
    try:
        return int(shown) if shown.isdecimal() else float(shown)
    except ValueError:
        raise ValueError(f"{name} must be a number; got {shown!r}") from None


def _all_chips() -> Table:
    chips = rl.chips()
    columns = {
        "peak bf16": [text(chip.peak(), "FLOP/s") for chip in chips],
        "HBM": [text(chip.bandwidth, "B/s") for chip in chips],
        "ridge": [text(chip.ridge(), "FLOP/B") for chip in chips],
        "links": [", ".join(link.name for link in chip.links) for chip in chips],
    }
    return Table({"chip": [chip.name for chip in chips], **columns})


def _figures(chip: rl.Chip) -> Table:
    rows = {f"peak {kind}": text(peak, "FLOP/s") for kind, peak in chip.peaks.items()}
    rows |= {f"vector {kind}": text(peak, "FLOP/s") for kind, peak in chip.vector.items()}
    rows |= {"HBM": text(chip.bandwidth, "B/s"), "capacity": text(chip.capacity, "B")}
    rows |= {f"{way.name} to one peer": text(way.to_one_peer, "B/s") for way in chip.links}
    return facts(chip.name, rows)


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
    sys.exit(main())
