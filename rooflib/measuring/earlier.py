"""How fast this machine was in earlier runs: what its gauges took, kept in the user's cache.

A neighbour who slows a whole run evenly is in every sample of it, and no clock and no gauge of that
run can tell. The gauges of an earlier run can.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rooflib.measuring import kernels
from rooflib.measuring.host import Host
from rooflib.measuring.run import Run
from rooflib.measuring.store import script_hash
from rooflib.measuring.watch import CLOSE

KEPT = datetime.timedelta(days=30)
"""A machine may have changed since: what is older is forgotten."""


def file() -> Path:
    """Where it is kept. It may be deleted at any time."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "rooflib" / "paces.json"


def name_of(host: Host) -> str:
    """The machine as this code gauges it: another share of it has other paces."""
    return f"{host.cpu}, {host.granted} of {host.present} cores, {script_hash()[:12]}"


def fastest(host: Host, today: datetime.date) -> dict[str, float]:
    """Seconds that a pass of each gauge took at its fastest; empty where nothing is known."""
    return {name: seconds for name, (seconds, _) in _known(today).get(name_of(host), {}).items()}


def keep(host: Host, usual: Mapping[str, float], today: datetime.date) -> None:
    """Keep what the gauges of a run took, where it is less than what is known."""
    known = _known(today)
    mine = known.setdefault(name_of(host), {})
    for name, seconds in usual.items():
        if name not in mine or seconds < mine[name][0]:
            mine[name] = seconds, today.isoformat()
    path = file()
    new = path.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):  # a home that can't be written to is no reason to fail
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(json.dumps(known, indent=1), encoding="utf-8")
        new.replace(path)


def beside(run: Run, known: Mapping[str, float]) -> Run:
    """The same run, with wider intervals where a gauge was slower than is known of this machine."""
    paces = {name: known[name] / took for name, took in run.paces.items() if name in known}
    figures = {}
    for key, figure in run.figures.items():
        judges = kernels.telling(figure.footprint)
        slowed = 1 - min((paces[name] for name in judges if name in paces), default=1.0)
        figures[key] = replace(figure, slowed=slowed) if slowed > CLOSE else figure
    return run if figures == run.figures else replace(run, figures=figures)


def _known(today: datetime.date) -> dict[str, dict[str, tuple[float, str]]]:
    """Machine → gauge → (seconds, day); nothing where the file is missing or damaged."""
    try:
        found = json.loads(file().read_text(encoding="utf-8"))
        return {
            machine: {
                name: (float(seconds), day)
                for name, (seconds, day) in gauges.items()
                if float(seconds) > 0 and today - datetime.date.fromisoformat(day) <= KEPT
            }
            for machine, gauges in found.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
