"""Measuring this machine: its roofs, operations under them, and runs kept in files.

With numpy the processor, through torch or jax an accelerator.

It counts apart from the rest of rooflib, which imports it only when somebody measures.
"""

from rooflib.measuring.accelerator.survey import measure_accelerator
from rooflib.measuring.device import Device
from rooflib.measuring.figures import Figure
from rooflib.measuring.protocol import measure
from rooflib.measuring.run import Dot, Run
from rooflib.measuring.store import load_run, runs
from rooflib.measuring.watch import Sample, TooBusyError

# fmt: off
__all__ = [
    "Device", "Dot", "Figure", "Run", "Sample", "TooBusyError", "load_run", "measure",
    "measure_accelerator", "runs",
]
# fmt: on
