"""`python -m roofmeter`: measure this machine, print the run and save it."""

from __future__ import annotations

import argparse
from pathlib import Path

from roofmeter.measuring import TooBusyError, measure
from roofmeter.run import load_run


def main() -> None:
    """Measure and print; exit with 2 on a usage error, with 3 on a busy machine."""
    parser = argparse.ArgumentParser(
        prog="python -m roofmeter",
        description="Measure this machine with numpy: about a minute if it is otherwise idle.",
    )
    parser.add_argument("--save", metavar="FILE", help="save the run, as JSON")
    parser.add_argument("--compare", metavar="FILE", help="compare with a saved run")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit; default 60")
    given = parser.parse_args()
    try:
        other = load_run(given.compare) if given.compare else None
        if given.save:  # a folder that can't be made is told now, and not after the measurement
            Path(given.save).parent.mkdir(parents=True, exist_ok=True)
        run = measure(given.seconds)
        if given.save:
            run.save(given.save)
    except TooBusyError as error:
        parser.exit(3, f"\nroofmeter: {error}\n")  # below the line of progress
    except (ImportError, OSError, ValueError) as error:
        parser.error(str(error))
    shown = [run.name, str(run.table), str(run.operations_table)]
    shown += [f"compared with {other.name}:", str(run.compare(other))] if other else []
    print(*shown, *run.warnings, sep="\n\n")


if __name__ == "__main__":
    main()
