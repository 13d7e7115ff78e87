"""`python -m rooflib`: print how long work takes on a chip, and what limits it."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Sequence
from typing import Any

import rooflib as rl
from rooflib.checks import one_of
from rooflib.table import from_rows

OPERATIONS = ("dot", "elementwise", "rms_norm", "matmul", "attention", "split", "work")
USAGE = """\
python -m rooflib --chips | --version
       python -m rooflib CHIP [OPERATION SIZES] [NAME=VALUE ...] [--link LINK] [--plot FILE]
       python -m rooflib model CONFIG.JSON CHIP [NAME=VALUE ...]"""
EXAMPLES = """\
examples:
  python -m rooflib "H100 SXM"
  python -m rooflib tpu-v5e matmul 64 4096 16384 w=int8 --plot layer.svg
  python -m rooflib tpu-v5e split D 4 512 8192 8192 --link ICI
  python -m rooflib model config.json "H100 SXM" B=16 S=8192
  python -m rooflib "H100 SXM" attention 1 1 8192 32 8 128 kv=int8 causal=False

operations: """


def main(words: Sequence[str] | None = None) -> None:
    """Print what the arguments request; on a mistake, print one line and exit with 2."""
    signatures = [f"{name}{inspect.signature(getattr(rl, name))}" for name in OPERATIONS]
    shown = ", ".join(signature.split("(")[0] for signature in signatures)
    parser = argparse.ArgumentParser(
        "rooflib", USAGE, __doc__, EXAMPLES + shown,
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"rooflib {rl.__version__}")
    parser.add_argument("--chips", action="store_true", help="print all chips of the catalog")
    parser.add_argument("--link", help="the link that carries what is sent")
    parser.add_argument("--plot", metavar="FILE", help="draw the roofline as .svg, .png or .pdf")
    parser.add_argument("words", nargs="*", metavar="CHIP OPERATION SIZES")
    given = parser.parse_intermixed_args(words)
    try:
        if given.chips:
            print(_all_chips())
        elif not given.words:
            parser.print_help()
        elif given.words[0] == "model":
            _print_model(given.words[1:])
        elif len(given.words) == 1:
            print(rl.chip(given.words[0]).table)
        else:
            chip, name, *others = given.words
            _print_times(chip, name, others, given.link, given.plot)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough. Python flushes stdout once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (ValueError, TypeError, OSError) as error:
        parser.exit(2, f"rooflib: {error}\n")


def _print_times(chip: str, name: str, words: list[str], link: str | None, plot: str) -> None:
    on, make = rl.chip(chip), getattr(rl, one_of("operation", name.replace("-", "_"), OPERATIONS))
    names, options = _read(words)
    done = make(*map(_value, names), **options)
    print(done.table, f"on {on.name}:", done.on(on, link).table, sep="\n\n")
    if plot:
        ax = rl.plots.roofline(rl.plots.axes(), on, points={done.name: done})
        ax.figure.savefig(plot, facecolor="white")  # type: ignore[union-attr]


def _print_model(words: list[str]) -> None:
    names, options = _read(words)
    if len(names) != 2:
        raise ValueError(f"model must have a config.json (or a name) and a chip; got {names}")
    name, chip = names
    is_file = name.endswith(".json") or os.path.exists(name)  # noqa: PTH110
    served = rl.Serving(rl.model_from_config(name) if is_file else name, chip, **options)
    tables = [served.table, "decode step:", served.decode_table, "prefill of a prompt:"]
    print(*tables, served.prefill_table, served.changes_table, sep="\n\n")


def _read(words: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Return the words without a "=", and the options that the others set."""
    options = dict(word.split("=", 1) for word in words if "=" in word)
    names = [word for word in words if "=" not in word]
    return names, {key: _value(value) for key, value in options.items()}


def _value(word: str) -> Any:
    for read in (int, float, {"True": True, "False": False}.__getitem__):
        try:
            return read(word)
        except (ValueError, KeyError):
            pass
    return word


def _all_chips() -> rl.Table:
    rows = []
    for chip in rl.chips(hidden=True):
        known = "bf16" in chip
        peak, ridge = (chip["bf16"], f"{chip.ridge()}") if known else ("–", "–")
        rows.append((chip.name, peak, ridge, ", ".join(link.name for link in chip.links)))
    return from_rows(("chip", "peak bf16", "ridge", "links"), rows)


if __name__ == "__main__":
    main()
