"""Loading of saved runs, including those that come with roofmeter."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from roofmeter import run_files
from roofmeter.host import Host
from roofmeter.run import Run

RUNS_FOLDER = Path(__file__).parent / "runs"


def load_run(folder: str | Path) -> Run:
    """Load a saved run.

    Raises a ValueError if the folder holds no run, the format version differs, the CSV has samples
    of an unknown figure, or the host, the libraries or the protocol are not recorded.
    """
    tables, figures = run_files.read(Path(folder))
    rest: dict[str, Any] = {name: tables[name] for name in ("libraries", "protocol", "left_out")}
    rest["reference_times"] = tables.get("paces", {})
    rest |= tables["run"]
    return Run(host=Host(**tables["host"]), figures=figures, **rest)


@cache
def runs() -> Mapping[str, Run]:
    """Return the runs that come with roofmeter, by name."""
    return MappingProxyType(
        {folder.name: load_run(folder) for folder in sorted(RUNS_FOLDER.glob("*/"))}
    )
