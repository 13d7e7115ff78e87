"""`python -m rooflib`: print how long work takes on a chip, and what limits it."""

from __future__ import annotations

import ast
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from typing import Any

import rooflib as rl
from rooflib.checks import one_of

OPERATIONS = [
    name
    for name, each in vars(rl).items()
    if getattr(each, "__annotations__", {}).get("return") == "Work"
]
USAGE = f"""\
usage: python -m rooflib chips
       python -m rooflib CHIP [OPERATION SIZES] [NAME=VALUE ...] [link=LINK]
       python -m rooflib model CONFIG.JSON CHIP [NAME=VALUE ...]

Print the chips of the catalog; a chip, or how long an operation takes on it; or a model's fit,
times and what would help.

  python -m rooflib tpu-v5e matmul 64 4096 16384 w=int8
  python -m rooflib tpu-v5e split D 4 512 8192 8192 link=ICI
  python -m rooflib model config.json "H100 SXM" B=16 S=8192

operations: {", ".join(OPERATIONS)}
names for a model: {", ".join(field.name for field in fields(rl.Serving)[2:])}"""


def main() -> int:
    """Print what the command's words request, or one line on a mistake."""
    if hasattr(signal, "SIGPIPE"):  # a reader, such as `head`, may have seen enough
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        print(*_asked(sys.argv[1:]), sep="\n\n")
    except (ValueError, TypeError, OSError) as error:
        print(f"rooflib: {error}", file=sys.stderr)
        return 2
    return 0


def _asked(words: Sequence[str]) -> Iterator[Any]:
    options = dict(word.split("=", 1) for word in words if "=" in word)
    named = {name: _value(value) for name, value in options.items()}
    plain = [word for word in words if "=" not in word]
    match plain:
        case [] | [*_, "--help" | "-h"]:
            yield USAGE
        case ["chips"]:
            known = rl.chips(hidden=True)
            yield rl.Table(
                {
                    "chip": [chip.name for chip in known],
                    "peak bf16": [chip.rates.get("bf16", "–") for chip in known],
                    "HBM": [chip["HBM"] for chip in known],
                    "links": [", ".join(link.name for link in chip.links) for chip in known],
                }
            )
        case ["model", config, chip]:
            model = rl.model_from_config(config) if config.endswith(".json") else config
            served = rl.Serving(model, chip, **named)
            yield served.table
            yield from ("decode step:", served.per_token.parts)
            yield from ("prefill of a prompt:", served.first_token.parts)
            yield served.changes_table
        case ["model", *others]:
            raise ValueError(f"model must have a config.json (or a name) and a chip; got {others}")
        case [name]:
            yield rl.chip(name).table
        case [name, operation, *sizes]:
            link = named.pop("link", None)
            count = getattr(rl, one_of("operation", operation.replace("-", "_"), OPERATIONS))
            yield count(*map(_value, sizes), **named).on(name, link).table


def _value(word: str) -> Any:
    """Return the number or the truth value that a word writes, or the word."""
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval(word)
    return word


if __name__ == "__main__":
    sys.exit(main())
