"""The results of a grading run, normalized so that two runs can be compared."""

import json
from pathlib import Path

from sqlalchemy import MetaData, create_engine, select

RESULTS = Path(".grading", "graded")
FOLDERS = (".grading", "autograded", "feedback", "release")
LISTS = ("grades.csv", "not-graded.csv", "misconceptions.csv")


def course(folder: Path) -> dict[str, object]:
    """Return all results that must be reproducible, without times and random keys."""
    files = [path for name in FOLDERS for path in (folder / name).rglob("*") if path.is_file()]
    files += [folder / name for name in LISTS if (folder / name).exists()]
    return {
        "gradebook": gradebook(f"sqlite:///{folder / 'gradebook.db'}"),
        **{str(path.relative_to(folder)): content(path, folder) for path in sorted(files)},
    }


def content(path: Path, folder: Path) -> object:
    """Return a file's content without durations and timestamps."""
    if path.is_relative_to(folder / RESULTS):
        entry = json.loads(path.read_bytes())
        del entry["seconds"]
        return entry
    if path.suffix == ".ipynb":
        notebook = json.loads(path.read_bytes())
        for cell in notebook["cells"]:
            cell["metadata"].pop("execution", None)  # timestamps
        return notebook
    return path.read_bytes()


def gradebook(address: str) -> list[str]:
    """Return all rows of all tables, with random keys replaced by their rows."""
    engine = create_engine(address)
    tables = MetaData()
    tables.reflect(engine)
    rows: dict[tuple[str, str], str] = {}
    lines = []
    with engine.connect() as connection:
        for table in tables.sorted_tables:
            for row in connection.execute(select(table)).mappings():
                values = dict(row)
                for column in table.columns:
                    for key in column.foreign_keys:
                        place = (key.column.table.name, values[column.name])
                        values[column.name] = rows.get(place, values[column.name])
                if random(row.get("id")) and values["id"] == row["id"]:
                    del values["id"]
                line = f"{table.name} {sorted(values.items())}"
                if "id" in row:
                    rows[table.name, row["id"]] = line
                lines.append(line)
    engine.dispose()
    return sorted(lines)


def random(key: object) -> bool:
    """Return whether a key is one of nbgrader's random ones: 32 hexadecimal digits."""
    return isinstance(key, str) and len(key) == 32 and set(key) <= set("0123456789abcdef")
