"""The source of a figure: a data sheet, a paper, a measurement."""

import datetime
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Where and when figures were read; `note` names the version or the copies read."""

    key: str
    title: str
    publisher: str
    url: str
    read: datetime.date
    note: str = ""
