"""Run files: a TOML file with provenance and figures, a CSV with every sample.

Only amounts and times are stored; results are computed on load, so they always match the samples.
"""

from __future__ import annotations

import csv
import datetime
import json
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from roofmeter.figures import Figure, Sample

FORMAT = 1


def write(
    folder: Path, tables: Mapping[str, Mapping[str, Any]], figures: Collection[Figure]
) -> None:
    """Write a run into `folder`, as a TOML and a CSV file that are named like the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {**tables, "run": {"format": FORMAT, **tables["run"]}}
    headed = [(f"[{name}]", table) for name, table in tables.items()]
    for figure in figures:
        entries = {name: value for name, value in vars(figure).items() if value}
        del entries["samples"]
        headed.append(("[[figure]]", entries))
    path = folder / f"{folder.name}.toml"
    with path.open("w", encoding="utf-8") as file:
        for heading, table in headed:
            print(heading, file=file)
            for name, value in table.items():
                print(f"{_key(name)} = {_value(value)}", file=file)
            print(file=file)
    with path.with_suffix(".csv").open("w", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("figure", "seconds", "repeats", "disturbed"))
        for figure in figures:
            rows.writerows((figure.key, *vars(each).values()) for each in figure.samples)


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_value(value[name])}" for name in value) + "}"
    # Numbers, booleans and texts look the same in JSON and TOML.
    return json.dumps(value, ensure_ascii=False)


def read(folder: Path) -> tuple[dict[str, dict[str, Any]], dict[str, Figure]]:
    """Return a saved run's tables, and its figures by key.

    Raises a ValueError if the format version differs, a KeyError if an entry is missing.
    """
    path = folder / f"{folder.name}.toml"
    found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    if found["run"].pop("format", None) != FORMAT:
        raise ValueError(
            f"format of {path.name} must be {FORMAT}: it is from another version of roofmeter"
        )
    entries = found.pop("figure")
    samples: dict[str, list[Sample]] = {entry["key"]: [] for entry in entries}
    with path.with_suffix(".csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            each = Sample(float(row["seconds"]), int(row["repeats"]), row["disturbed"])
            samples[row["figure"]].append(each)
    figures = [Figure(samples=tuple(samples[e["key"]]), **known(Figure, e)) for e in entries]
    return found, {figure.key: figure for figure in figures}


def known(made: type, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of a table that `made` takes; earlier versions stored others, too."""
    names = {each.name for each in fields(made)}
    return {name: value for name, value in table.items() if name in names}
