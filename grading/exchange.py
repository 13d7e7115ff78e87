"""nbgrader's exchange, into which every learner can put anything.

nbgrader's own `collect` trusts the names of folders, and follows links in them; its
`release_feedback` stops at the first submission that did not come through the exchange.
"""

import os
import pwd
import secrets
import stat
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import (  # type: ignore[import-untyped]
    ExchangeCollect,
    ExchangeReleaseFeedback,
)

from grading.intake import EXCHANGE_FILES, MOST_BYTES, name_problem, printable, read_file

Record = dict[str, Any]  # nbgrader's record of a hand-in: username, filename, timestamp
MOST_BESIDE = 100_000_000  # bytes of a file beside a notebook


def refuse_odd(folder: Path) -> None:
    """Raise ValueError if a folder, which nbgrader would copy whole, holds what it should not.

    nbgrader would follow a link, and wait for ever at a FIFO.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise ValueError("not a folder")
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            about = Path(parent, name).lstat()
            if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
                raise ValueError(f"{printable(name)} is neither a file nor a folder; take it out")
            most = MOST_BYTES if name.endswith(".ipynb") else MOST_BESIDE
            if about.st_size > most:
                raise ValueError(f"{printable(name)} has more than {most // 10**6} MB")


class Collect(ExchangeCollect):  # type: ignore[misc]
    """`nbgrader collect` that leaves what it can't take in the exchange, and says so."""

    src_records: list[Record]

    def _sort_by_timestamp(self, records: list[Record]) -> list[Record]:
        """Return the newest first, but what the student's own account wrote before all others."""
        newest = super()._sort_by_timestamp(records)
        return sorted(newest, key=lambda record: not self._is_owner(record))

    def _is_owner(self, record: Record) -> bool:
        try:
            owner = Path(self.inbound_path, record["filename"]).lstat().st_uid
            return bool(pwd.getpwuid(owner).pw_name == record["username"])
        except (OSError, KeyError):
            return False

    def init_src(self) -> None:
        """Choose one hand-in per student, which `copy_files` then copies."""
        super().init_src()
        chosen, self.src_records = self.src_records, []
        for record in chosen:
            try:
                if problem := name_problem(record["username"]):
                    raise ValueError(problem)
                refuse_odd(Path(self.inbound_path, record["filename"]))
            except (ValueError, OSError, RecursionError) as error:
                name = printable(record["filename"])
                self.log.error("%s: %s; it is left in the exchange", name, error)
            else:
                self.src_records.append(record)


class ReleaseFeedback(ExchangeReleaseFeedback):  # type: ignore[misc]
    """`nbgrader release_feedback` for pages of `make grade`, also of what came another way.

    The exchange names a page after a secret that the learner's `nbgrader submit` drew. Where there
    is none, one is made that nobody can guess.
    """

    def copy_files(self) -> None:
        root = Path(self.coursedir.root)
        for folder in sorted(root.glob(f"feedback/*/{self.coursedir.assignment_id}")):
            for name in EXCHANGE_FILES:
                own = root / "submitted" / folder.relative_to(root / "feedback") / name
                said = read_file(own, 1_000)[0].decode(errors="replace")
                said = said if said.strip() else ""
                if said or not (folder / name).exists():
                    (folder / name).write_text(said or secrets.token_hex(), encoding="utf-8")
        super().copy_files()
