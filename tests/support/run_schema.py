"""Checks of stored runs' files, independent of roofmeter."""

import csv
import datetime
import re
import tomllib
from collections import Counter
from pathlib import Path

MIN_SAMPLES = 3
LIBRARIES = {"rooflib", "python", "numpy", "blas", "script"}
COLUMNS = ["figure", "seconds", "repeats", "own", "waited", "others", "stolen", "pace", "disturbed"]


def problems(folder: Path) -> list[str]:
    """Return each requirement that the run in this folder doesn't meet."""
    head = tomllib.loads((folder / f"{folder.name}.toml").read_text(encoding="utf-8"))
    with (folder / f"{folder.name}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    libraries, found = head.get("libraries", {}), []

    def must(holds: object, what: str) -> None:
        if not holds:
            found.append(what)

    names = sorted(path.name for path in folder.iterdir())
    must(names == [f"{folder.name}.csv", f"{folder.name}.toml"], "it is one TOML and one CSV")
    date = head.get("run", {}).get("date")
    must(isinstance(date, datetime.datetime) and date.tzinfo, "its date has a time zone")
    must(date and date.year >= 2026, "its date is no placeholder")
    must(date and folder.name.endswith(f"{date:%Y-%m-%d}"), "its folder ends in its date")
    cpu = head.get("host", {}).get("cpu", "")
    words = set(re.findall(r"[a-z0-9]+", cpu.lower()))
    named = set(re.findall(r"[a-z0-9]+", folder.name.lower())[:-3])
    must(words and named and named <= words, "its folder is named after its machine")
    must(cpu, "it names the processor")
    must(set(libraries) >= LIBRARIES, "it names its libraries")
    must(re.fullmatch("[0-9a-f]{64}", libraries.get("script", "")), "it has the script's hash")
    must({"timer", "data", "block"} <= set(head.get("protocol", {})), "it says how it was taken")
    columns = list(rows[0]) if rows else []
    must(columns == COLUMNS, "its CSV has the columns of a run")
    listed = [figure["key"] for figure in head.get("figure", [])]
    taken = Counter(row["figure"] for row in rows)
    good = Counter(row["figure"] for row in rows if not row["disturbed"])
    must(len(set(listed)) == len(listed), "no figure is listed twice")
    must(set(listed) == set(taken), "its CSV has the figures of its TOML")
    must(
        all(good[key] >= MIN_SAMPLES for key in listed),
        f"a figure has {MIN_SAMPLES} samples or more",
    )
    must(
        all(float(row["seconds"]) > 0 and int(row["repeats"]) > 0 for row in rows),
        "each sample took time",
    )
    must(not set(listed) & set(head.get("left_out", {})), "what was left out is no figure")
    return found
