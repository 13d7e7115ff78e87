"""Random names, tables, archives and folders.

They are such as platforms and file systems may supply.
"""

import csv
import io
import os
import zipfile
from pathlib import Path

from draws import text

PEOPLE = ("Ada Lovelace", "李小龙", "سارا علوی", "O'Brien", "van der Berg-Müller", "anon", "a_b")
TITLES = (
    "int8-matmul.ipynb",
    "Int8-Matmul (1).ipynb",
    "._a.ipynb",
    "a.ipynb.txt",
    "x.zip",
    "a_b.py",
)
HEADS = (
    *("Student", "ID", "SIS Login ID", "Username", "Full name", "Identifier", "Email address"),
    *("First name", "id", "int8-matmul (4711)", "Assignment:int8-matmul (Real)", "Section"),
)
STAMPS = (
    *("2026-11-{:02} 23:59:59.1 UTC", "2026-11-{:02}T23:59:59+01:00", "2026-11-{:02} 10:00 PM PST"),
    *(
        "{:02}/11/2026 1:2",
        "2026-W{:02}",
        "20261122 {:02}",
        "1 Jan {:02}",
        "9999-12-31 {:02}:59 -14",
    ),
)


def name(random):
    """Generate the name of a person or a file."""
    kind = random.random()
    if kind < 0.5:
        return random.choice((*PEOPLE, *TITLES))
    return random.choice(PEOPLE) + text(random)[:20] if kind < 0.7 else text(random)


def member(random):
    """Generate the name of a file in a platform's archive, or nearly one."""
    number, other = random.randrange(10**6), random.randrange(10**6)
    late = random.choice(("", "_LATE", "_" + text(random)[:9]))
    made = random.choice(
        (
            f"{name(random)}_{number}_assignsubmission_file_{name(random)}",
            f"{name(random)}_{number}_assignsubmission_file/{name(random)}",
            f"{name(random)}_{number}_assignsubmission_file_/{name(random)}",
            f"{name(random)}{late}_{number}_{other}_{name(random)}",
            f"anon_{number}_{other}_{name(random)}",
            name(random),
        )
    )
    return made.replace(random.choice("_0123456789/"), random.choice(("", "_", "٣", "/")), 1)


def stamp(random):
    """Generate the text of a timestamp file."""
    when = random.choice(STAMPS).format(random.randrange(40))
    kind = random.random()
    if kind < 0.5:
        return when
    return f"{when} {text(random)}" if kind < 0.7 else text(random)


def table(random):
    """Generate a platform's table of people and grades."""
    stream = io.StringIO()
    delimiter = random.choice(",;\t")
    heads = random.sample(HEADS, random.randrange(1, 7))
    if random.random() < 0.3:
        heads.insert(random.randrange(len(heads)), text(random))
    rows = [[_entry(random, head) for head in heads] for _ in range(random.randrange(9))]
    if random.random() < 0.3:
        rows.insert(0, ["    Points Possible", *("20" for _ in heads[1:])])
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=random.choice(("\r\n", "\n")))
    writer.writerow(heads)
    for row in rows:
        writer.writerow(row if random.random() < 0.9 else row[: random.randrange(len(row))])
    made = ("\ufeff" if random.random() < 0.2 else "") + stream.getvalue()
    if random.random() < 0.2:
        cut = random.randrange(len(made))
        made = made[:cut] + text(random) + made[cut:]
    return made


def _entry(random, head):
    if random.random() < 0.5:
        return f"{random.randrange(9)}"
    return random.choice(("Participant 12", "Lovelace, Ada", "ada", "", name(random)))


def archive(random):
    """Generate the content of a platform's zip file, sometimes corrupted."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as zipped:
        for _ in range(random.randrange(6)):
            own = member(random).encode("utf-8", "replace").decode()[:200].replace("\0", "_") or "x"
            zipped.writestr(own, random.choice((b"", b"{}", bytes(30_000))))
    raw = bytearray(stream.getvalue())
    for _ in range(random.choice((0, 0, 1, 5))):
        raw[random.randrange(len(raw))] = random.randrange(256)
    if random.random() < 0.1:
        raw = raw[: random.randrange(len(raw))]
    return bytes(raw)


def course(random, base, exercises):
    """Fill base/submitted with student and exercise folders, and misplaced files."""
    top = base / "submitted"
    top.mkdir()
    for _ in range(random.randrange(1, 5)):
        student = _made(random, top, _file_name(random))
        for _ in range(random.randrange(1, 4)):
            own = random.choice(exercises)
            own = random.choice((own, own, own.upper(), f".{own}", _file_name(random)))
            folder = _made(random, student, own) if student else None
            for _ in range(random.randrange(4) if folder else 0):
                _made(random, folder, _file_name(random), random.choice((0, 0, 0, 1)))


def _file_name(random):
    own = random.choice((name(random), f"{random.choice(PEOPLE)}.ipynb", random.choice(TITLES)))
    raw = own.encode("utf-8", "replace")[:80] if random.random() < 0.9 else random.randbytes(9)
    own = os.fsdecode(raw).replace("/", "_").replace("\0", "_")
    return own if own not in ("", ".", "..") else "x"


def _made(random, above, own, deeper=1):
    """Create a folder and return it; return None if no folder was created.

    The place may exist, or a file or link may be created instead.
    """
    place = Path(above, own)
    if place.is_symlink() or place.exists():
        return None
    kind = random.random()
    try:
        if deeper and kind < 0.9:
            place.mkdir()
            return place
        kind = random.random()
        if kind < 0.15:
            place.symlink_to(random.choice((above, "/dev/zero", "nowhere", place)))
        elif kind < 0.2:
            os.mkfifo(place)
        else:
            place.write_bytes(random.choice((b"", b"{}", b"\xff" * 99)))
    except OSError:
        pass
    return None
