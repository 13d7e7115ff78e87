"""Run files: a TOML file with provenance and figures, a CSV with every sample.

Only amounts and times are stored; results are computed on load, so they always match the samples.
"""

from __future__ import annotations

import csv
import datetime
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from roofmeter.figures import Figure
from roofmeter.load_monitor import Sample

FORMAT = 1
COLUMNS = ("figure", "seconds", "repeats", "own", "waited", "others", "stolen", "pace", "disturbed")
REQUIRED_ENTRIES = {
    "run": ("date",),
    "host": ("cpu",),
    "libraries": ("rooflib", "python", "numpy", "blas", "script"),
    "protocol": ("timer", "data"),
}
"""Entries that a run file must have, by table."""
FIGURE_FIELDS = (
    "key",
    "what",
    "unit",
    "amount",
    "threads",
    "footprint",
    "operation",
    "sizes",
    "roof",
)


def write(folder: Path, tables: Mapping[str, Mapping[str, Any]], figures: Iterable[Figure]) -> Path:
    """Write a run's tables and figures to a TOML and a CSV file in `folder`.

    The files are named like the folder. Add the format version to the table "run". Return the
    folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    figures = tuple(figures)
    versioned = {**tables, "run": {"format": FORMAT, **tables["run"]}}
    lines = [line for name, table in versioned.items() for line in _table(f"[{name}]", table)]
    for figure in figures:
        shown = {name: getattr(figure, name) for name in FIGURE_FIELDS}
        lines += _table(
            "[[figure]]", {k: v for k, v in shown.items() if v or k in FIGURE_FIELDS[:5]}
        )
    (folder / f"{folder.name}.toml").write_text("\n".join(lines), encoding="utf-8")
    with (folder / f"{folder.name}.csv").open("w", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for figure in figures:
            rows.writerows(_row(figure.key, each) for each in figure.samples)
    return folder


def read(folder: Path) -> tuple[dict[str, dict[str, Any]], dict[str, Figure]]:
    """Return a saved run's tables without the format version, and its figures by key.

    Raise a ValueError if the folder holds no run, the format version differs, the CSV has samples
    of an unknown figure, or the host, the libraries or the protocol are not recorded.
    """
    path = folder / f"{folder.name}.toml"
    if not path.is_file():
        raise ValueError(f"folder must hold a run, as {path.name} and .csv; got {folder}")
    found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    head = found.get("run", {})
    if head.pop("format", None) != FORMAT:
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
            samples[row["figure"]].append(_sample(row))
    figures = {f["key"]: Figure(samples=tuple(samples[f["key"]]), **f) for f in found.pop("figure")}
    return found, figures


def _table(heading: str, table: Mapping[str, Any]) -> list[str]:
    return [heading, *(f"{_key(name)} = {_value(value)}" for name, value in table.items()), ""]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_]+", name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    plain = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in plain) + '"'


def _row(key: str, sample: Sample) -> list[Any]:
    shares = [getattr(sample, name) for name in COLUMNS[3:7]]
    shown = ["" if share is None else f"{share:.4f}" for share in shares]
    shown += [" ".join(f"{took:.6f}" for took in sample.pace), sample.disturbed]
    return [key, repr(sample.seconds), sample.repeats, *shown]


def _sample(row: Mapping[str, str]) -> Sample:
    shares = {name: _number(row[name]) for name in COLUMNS[4:7]}
    return Sample(
        seconds=float(row["seconds"]),
        repeats=int(row["repeats"]),
        own=float(row["own"]),
        pace=tuple(map(float, row["pace"].split())),
        disturbed=row["disturbed"],
        **shares,
    )


def _number(shown: str) -> float | None:
    return float(shown) if shown else None
