"""`python -m roofmeter`: this machine's roofs, and its dots, as text and as files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from roofmeter.accelerator.backend import DEVICES
from roofmeter.accelerator.survey import measure_accelerator
from roofmeter.protocol import measure
from roofmeter.store import load_run
from roofmeter.watch import TooBusyError


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"roofmeter: {message}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print what was found; status 2 for a mistake, 3 for a machine too busy."""
    parser = _Parser(
        prog="python -m roofmeter",
        description="Measure this machine with numpy: a minute, or less if nobody else wants it. "
        "With --device an accelerator, through torch or jax: some minutes.",
    )
    parser.add_argument("--save", metavar="FOLDER", help="write the run into this folder")
    parser.add_argument("--compare", metavar="FOLDER", help="beside the run in this folder")
    parser.add_argument("--device", metavar="DEVICE", help=f"one of {', '.join(DEVICES)}")
    parser.add_argument(
        "--seconds", type=float, help="time it may take; 60 if left, with --device 300"
    )
    given = parser.parse_args(arguments)
    try:
        other = load_run(given.compare) if given.compare else None
        if given.device:
            run = measure_accelerator(
                given.device, 300.0 if given.seconds is None else given.seconds
            )
        else:
            run = measure(60.0 if given.seconds is None else given.seconds)
        if given.save:
            run.save(given.save)
    except TooBusyError as error:
        parser.exit(3, f"roofmeter: {error}\n")
    except (ValueError, TypeError, OSError, ImportError, RuntimeError) as error:
        parser.error(str(error))
    shown = [run.name, str(run.table), str(run.dots_table)]
    shown += [f"beside {other.name}:", str(run.compare(other))] if other else []
    print(*shown, *run.warnings, sep="\n\n")


if __name__ == "__main__":
    main()
