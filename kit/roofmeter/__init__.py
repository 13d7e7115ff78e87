"""Measure the roofs of this machine, and operations of the course under them.

    >>> import roofmeter
    >>> roofmeter.runs()["intel-r-xeon-r-processor-2026-11-22"].host.granted
    2

Processors are measured with numpy, accelerators with torch or jax. `run.chip` is a `rooflib.Chip`,
so every function of rooflib takes it.
"""

from roofmeter.accelerator.survey import measure_accelerator
from roofmeter.device import Device
from roofmeter.figures import Figure
from roofmeter.load_monitor import Sample, TooBusyError
from roofmeter.protocol import measure
from roofmeter.run import MeasuredOperation, Run
from roofmeter.store import load_run, runs

# fmt: off
__all__ = [
    "Device", "Figure", "MeasuredOperation", "Run", "Sample", "TooBusyError", "load_run",
    "measure", "measure_accelerator", "runs",
]
# fmt: on
