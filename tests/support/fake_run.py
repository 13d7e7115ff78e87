"""A fake CPU run with every figure of `measure` and simulated times."""

import datetime

import numpy as np
from fake_machine import HOST

from roofmeter import protocol
from roofmeter.kernels import Probe
from roofmeter.load_monitor import Sample
from roofmeter.run import Run
from roofmeter.threads import ThreadPool, random_floats

DATE = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
PEAK, READ, CALL = 1e11, 2e10, 1e-6
LIBRARIES = {"rooflib": "0", "python": "3", "numpy": "2", "blas": "made up 1", "script": "0" * 64}


def fake_run(seed: int) -> Run:
    """Return a run with plausible figures that vary with the seed."""
    drawn, figures = np.random.default_rng(seed), {}
    with ThreadPool(2) as pool:
        for probe in protocol._plan(random_floats(2**18), pool):
            times = _seconds(probe) * drawn.uniform(1, 1.5) * drawn.uniform(1, 1.1, 3)
            samples = tuple(Sample(float(each), 1, 1.0) for each in times)
            figures[probe.key] = protocol.make_figure(probe, samples)
    return Run(HOST, DATE, 30.0, 2, figures, LIBRARIES, protocol=protocol.PROTOCOL)


def _seconds(probe: Probe) -> float:
    if probe.unit == "FLOP/s":
        return probe.amount / PEAK
    if probe.unit == "B/s":
        faster = 10 if probe.key.startswith("cache") and probe.footprint < 2**17 else 1
        return probe.amount / READ / faster
    if not probe.operation:
        return CALL
    op = protocol.make_figure(probe, ()).counted
    return float(op.flops / PEAK + op.bytes / READ) + CALL
