"""Measure the roofs of this machine, and operations of the course under them.

    >>> import roofmeter
    >>> roofmeter.runs()["intel-r-xeon-r-processor-2026-11-22"].host.granted
    2

Everything is measured with numpy. `run.chip` is a `rooflib.Chip`, so every function of rooflib
accepts it.
"""

from roofmeter.figures import Figure, Sample
from roofmeter.measuring import TooBusyError, measure
from roofmeter.run import MeasuredOperation, Run, load_run, runs

# fmt: off
__all__ = [
    "Figure", "MeasuredOperation", "Run", "Sample", "TooBusyError", "load_run", "measure", "runs",
]
# fmt: on
