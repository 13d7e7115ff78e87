"""Run files: a TOML file with provenance and figures, a CSV with every sample.

Only amounts and times are stored; results are computed on load, so they always match the samples.
"""

from __future__ import annotations

import csv
import datetime
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from roofmeter.figures import Figure, Sample

FORMAT = 1
COLUMNS = ("figure", "seconds", "repeats", "own", "disturbed")
REQUIRED_ENTRIES = {
    "run": ("date",),
    "host": ("cpu",),
    "libraries": ("rooflib", "python", "numpy", "blas", "script"),
    "protocol": ("timer", "data"),
}
"""Entries that a run file must have, by table."""


def write(folder: Path, tables: Mapping[str, Mapping[str, Any]], figures: Sequence[Figure]) -> None:
    """Write a run into `folder`, as a TOML and a CSV file that are named like the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {**tables, "run": {"format": FORMAT, **tables["run"]}}
    lines = [line for name, table in tables.items() for line in _table(f"[{name}]", table)]
    for figure in figures:
        entries = {each.name: getattr(figure, each.name) for each in fields(figure)}
        del entries["samples"]
        lines += _table("[[figure]]", {name: value for name, value in entries.items() if value})
    (folder / f"{folder.name}.toml").write_text("\n".join(lines), encoding="utf-8")
    with (folder / f"{folder.name}.csv").open("w", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for figure in figures:
            rows.writerows((figure.key, *asdict(each).values()) for each in figure.samples)


def read(folder: Path) -> tuple[dict[str, dict[str, Any]], dict[str, Figure]]:
    """Return a saved run's tables, and its figures by key.

    Raises a ValueError if the folder holds no run, the format version differs, the CSV has samples
    of an unknown figure, or the host, the libraries or the protocol are not recorded.
    """
    path = folder / f"{folder.name}.toml"
    if not path.is_file():
        raise ValueError(f"folder must hold a run, as {path.name} and .csv; got {folder}")
    found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    if found.get("run", {}).pop("format", None) != FORMAT:
        raise ValueError(
            f"format of {path.name} must be {FORMAT}: it is from another version of roofmeter"
        )
    for table, names in REQUIRED_ENTRIES.items():
        for name in names:
            if not found.get(table, {}).get(name):
                raise ValueError(f"{table} of {path.name} must name {', '.join(names)}: no {name}")
    samples: dict[str, list[Sample]] = {figure["key"]: [] for figure in found["figure"]}
    with path.with_suffix(".csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["figure"] not in samples:
                raise ValueError(f"figure must be one of {path.name}; got {row['figure']!r}")
            times = float(row["seconds"]), int(row["repeats"]), float(row["own"])
            samples[row["figure"]].append(Sample(*times, row["disturbed"]))
    figures = {f["key"]: Figure(samples=tuple(samples[f["key"]]), **f) for f in found.pop("figure")}
    return found, figures


def _table(heading: str, table: Mapping[str, Any]) -> list[str]:
    return [
        heading,
        *(f"{_key(name)} = {_value(value)}" for name, value in table.items()),
        "",
    ]


def _key(name: str) -> str:
    return name if re.fullmatch(r"\w+", name, re.ASCII) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    # Numbers, booleans and texts look the same in JSON and TOML.
    return json.dumps(value, ensure_ascii=False)
