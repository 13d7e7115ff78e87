"""Runs in files: a TOML file that says what was measured where, and a CSV of every sample.

No result is written, only amounts and times, so that none can differ from its samples.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from roofmeter.device import Device
from roofmeter.figures import Figure
from roofmeter.host import Host
from roofmeter.readings import Reading
from roofmeter.watch import Sample

if TYPE_CHECKING:
    from roofmeter.run import Run

FORMAT = 1
COLUMNS = ("figure", "seconds", "repeats", "own", "waited", "others", "stolen", "pace", "disturbed")
TOLD = ("clock", "memory_clock", "power", "temperature", "reasons")
"""Columns of a run on an accelerator, behind the others."""
STORED = Path(__file__).parent / "runs"
PROVENANCE = ("rooflib", "python", "numpy", "blas", "script")
ACCELERATED = ("rooflib", "python", "numpy", "library", "script")
"""What the libraries of a run must name; the latter where a device was measured."""
HOST = ("cpu", "present", "granted", "memory", "caches", "system")
DEVICE = ("name", "kind", "memory", "cache", "capability", "driver", "limits")
FIGURE = ("key", "what", "unit", "amount", "threads", "footprint", "operation", "sizes", "roof")


def save(run: Run, folder: Path) -> Path:
    """Write `run` as folder/name.toml and folder/name.csv, both named as the folder is."""
    folder.mkdir(parents=True, exist_ok=True)
    head: dict[str, Any] = {"format": FORMAT, "date": run.date, "seconds": run.seconds}
    head |= {"threads": run.threads}
    tables: dict[str, Mapping[str, Any]] = {
        "run": head,
        "host": {name: getattr(run.host, name) for name in HOST},
    }
    if run.device:
        tables["device"] = {name: getattr(run.device, name) for name in DEVICE}
    tables |= {"libraries": run.libraries, "protocol": run.protocol, "left_out": run.left_out}
    if run.paces:
        tables["paces"] = run.paces
    lines = [line for name, table in tables.items() for line in _table(f"[{name}]", table)]
    for figure in run.figures.values():
        shown = {name: getattr(figure, name) for name in FIGURE}
        lines += _table("[[figure]]", {k: v for k, v in shown.items() if v or k in FIGURE[:5]})
    (folder / f"{folder.name}.toml").write_text("\n".join(lines), encoding="utf-8")
    with (folder / f"{folder.name}.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS + (TOLD if run.device else ()))
        for figure in run.figures.values():
            rows.writerows(_row(figure.key, each) for each in figure.samples)
    return folder


def load_run(folder: str | Path) -> Run:
    """Read a run that was saved.

    A folder without one, a format of another time, samples of a figure that the TOML file does
    not have, and a run that does not say on which machine, with which libraries and how it was
    taken are a ValueError.
    """
    from roofmeter.run import Run

    folder = Path(folder)
    path = folder / f"{folder.name}.toml"
    if not path.is_file():
        raise ValueError(f"folder must hold a run, as {path.name} and .csv; got {folder}")
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    head = found.get("run", {})
    if head.pop("format", None) != FORMAT:
        raise ValueError(f"format of {path.name} must be {FORMAT}: it is of another roofmeter")
    device = Device(**found["device"]) if "device" in found else None
    wanted = {"libraries": ACCELERATED if device else PROVENANCE, "protocol": ("timer", "data")}
    wanted |= {"run": ("date",), "host": ("cpu",), "device": ("name", "kind") if device else ()}
    for table, names in wanted.items():
        for name in names:
            if not found.get(table, {}).get(name):
                raise ValueError(f"{table} of {path.name} must name {', '.join(names)}: no {name}")
    samples: dict[str, list[Sample]] = {figure["key"]: [] for figure in found["figure"]}
    with path.with_suffix(".csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["figure"] not in samples:
                raise ValueError(f"figure must be one of {path.name}; got {row['figure']!r}")
            samples[row["figure"]].append(_sample(row))
    figures = {f["key"]: Figure(samples=tuple(samples[f["key"]]), **f) for f in found["figure"]}
    rest = {name: found[name] for name in ("libraries", "protocol", "left_out")}
    rest["paces"] = found.get("paces", {})
    return Run(host=Host(**found["host"]), figures=figures, device=device, **head, **rest)


@cache
def runs() -> Mapping[str, Run]:
    """The runs that come with roofmeter, by name, those of processors first."""
    found = {folder.name: load_run(folder) for folder in sorted(STORED.glob("*/"))}
    return MappingProxyType(dict(sorted(found.items(), key=lambda named: bool(named[1].device))))


def script_hash(*patterns: str) -> str:
    """SHA-256 of the code that measures: two runs with one hash were taken alike."""
    found = hashlib.sha256()
    for pattern in patterns or ("*.py",):
        for path in sorted(Path(__file__).parent.glob(pattern)):
            found.update(path.read_bytes())
    return found.hexdigest()


def _table(heading: str, table: Mapping[str, Any]) -> list[str]:
    return [heading, *(f"{_key(name)} = {_value(value)}" for name, value in table.items()), ""]


def _key(name: str) -> str:
    return name if name.replace("_", "").isalnum() and name.isascii() else _value(name)


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
    told = [getattr(sample.device, name) for name in TOLD] if sample.device else []
    pace = " ".join(f"{took:.6f}" for took in sample.pace)
    shown += [pace, sample.disturbed, *("" if value is None else repr(value) for value in told)]
    return [key, repr(sample.seconds), sample.repeats, *shown]


def _sample(row: Mapping[str, str]) -> Sample:
    shares = {name: _number(row[name]) for name in COLUMNS[4:7]}
    told: dict[str, Any] = {name: _number(row[name]) for name in TOLD if name in row}
    if told:
        told["reasons"] = None if told["reasons"] is None else int(told["reasons"])
    return Sample(
        seconds=float(row["seconds"]),
        repeats=int(row["repeats"]),
        own=float(row["own"]),
        pace=tuple(map(float, row["pace"].split())),
        disturbed=row["disturbed"],
        device=Reading(**told) if told else None,
        **shares,
    )


def _number(shown: str) -> float | None:
    return float(shown) if shown else None
