"""`python -m rooflib`: print how long work takes on a chip, and what limits it."""

from __future__ import annotations

import argparse
import ast
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FunctionType
from typing import Any

import rooflib as rl
from rooflib.checks import one_of
from rooflib.table import from_rows

# All public functions that count work.
OPERATIONS = [
    name
    for name in rl.__all__
    if isinstance(function := vars(rl).get(name), FunctionType)
    and function.__annotations__["return"] == "Work"
]
USAGE = """\
python -m rooflib --chips | --version
       python -m rooflib CHIP [OPERATION SIZES] [NAME=VALUE ...] [--link LINK]
       python -m rooflib model CONFIG.JSON CHIP [NAME=VALUE ...]"""
EXAMPLES = f"""\
examples:
  python -m rooflib "H100 SXM"
  python -m rooflib tpu-v5e matmul 64 4096 16384 w=int8
  python -m rooflib tpu-v5e split D 4 512 8192 8192 --link ICI
  python -m rooflib model config.json "H100 SXM" B=16 S=8192
  python -m rooflib "H100 SXM" attention 1 1 8192 32 8 128 kv=int8 causal=False

operations: {", ".join(OPERATIONS)}"""


def main(words: Sequence[str] | None = None) -> None:
    """Print what the arguments request; on a mistake, print one line and exit with 2."""
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "rooflib", USAGE, __doc__, EXAMPLES, formatter_class=as_written, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"rooflib {rl.__version__}")
    parser.add_argument("--chips", action="store_true", help="print all chips of the catalog")
    parser.add_argument("--link", help="the link that carries what is sent")
    parser.add_argument("words", nargs="*", metavar="CHIP OPERATION SIZES")
    given = parser.parse_intermixed_args(words)
    try:
        asked = [_all_chips()] if given.chips else _tables(given.words, given.link)
        print(*(asked or [parser.format_help()]), sep="\n\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough. Python flushes stdout once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (ValueError, TypeError, OSError) as error:
        parser.exit(2, f"rooflib: {error}\n")


def _tables(words: Sequence[str], link: str | None) -> list[Any]:
    """Return what to print of a chip, of work on it, or of a model; nothing for no words."""
    if not words:
        return []
    options = dict(word.split("=", 1) for word in words if "=" in word)
    named = {name: _value(word) for name, word in options.items()}
    name, *others = (word for word in words if "=" not in word)
    if name == "model":
        if len(others) != 2:
            raise ValueError(f"model must have a config.json (or a name) and a chip; got {others}")
        config, on = others
        is_file = config.endswith(".json") or os.path.exists(config)  # noqa: PTH110
        served = rl.Serving(rl.model_from_config(config) if is_file else config, on, **named)
        steps = ["decode step:", served.per_token.parts, "prefill of a prompt:"]
        return [served.table, *steps, served.first_token.parts, served.changes_table]
    chip = rl.chip(name)
    if not others:
        return [chip.table]
    operation, *sizes = others
    count = getattr(rl, one_of("operation", operation.replace("-", "_"), OPERATIONS))
    work = count(*map(_value, sizes), **named)
    return [work.table, f"on {chip.name}:", work.on(chip, link).table]


def _value(word: str) -> Any:
    """Return the number or the truth value that a word writes, or the word."""
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval(word)
    return word


def _all_chips() -> rl.Table:
    rows = []
    for chip in rl.chips(hidden=True):
        rates = (chip["bf16"], f"{chip.ridge()}") if "bf16" in chip else ("–", "–")
        rows.append((chip.name, *rates, ", ".join(link.name for link in chip.links)))
    return from_rows(("chip", "peak bf16", "ridge", "links"), rows)


if __name__ == "__main__":
    main()
