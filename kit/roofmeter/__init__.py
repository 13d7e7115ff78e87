"""Measure this machine: its roofs, operations under them, and runs kept in files.

    >>> import roofmeter
    >>> roofmeter.runs()["intel-r-xeon-r-processor-2026-11-22"].host.granted
    2

numpy measures the processor; torch or jax measures an accelerator. A run is a `rooflib.Chip`, too:
`run.chip` goes wherever a chip of the catalogue does.
"""

from roofmeter.accelerator.survey import measure_accelerator
from roofmeter.device import Device
from roofmeter.figures import Figure
from roofmeter.protocol import measure
from roofmeter.run import Dot, Run
from roofmeter.store import load_run, runs
from roofmeter.watch import Sample, TooBusyError

# fmt: off
__all__ = [
    "Device", "Dot", "Figure", "Run", "Sample", "TooBusyError", "load_run", "measure",
    "measure_accelerator", "runs",
]
# fmt: on
