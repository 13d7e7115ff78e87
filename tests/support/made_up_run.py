"""A run of a processor with every figure that `measure` has, in times that nobody measured."""

import datetime

import numpy as np
from made_up_machine import HOST

from roofmeter import protocol
from roofmeter.kernels import Probe
from roofmeter.run import Run
from roofmeter.team import Team, numbers
from roofmeter.watch import Sample

DATE = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
PEAK, READ, CALL = 1e11, 2e10, 1e-6
LIBRARIES = {"rooflib": "0", "python": "3", "numpy": "2", "blas": "made up 1", "script": "0" * 64}


def made_up_run(seed: int) -> Run:
    """Each figure another for each seed, by up to a half, and near what the roofs allow."""
    drawn, figures = np.random.default_rng(seed), {}
    with Team(2) as team:
        for probe in protocol._plan(numbers(2**18), team):
            times = _seconds(probe) * drawn.uniform(1, 1.5) * drawn.uniform(1, 1.1, 3)
            samples = tuple(Sample(float(each), 1, 1.0) for each in times)
            figures[probe.key] = protocol.figure_of(probe, samples)
    return Run(HOST, DATE, 30.0, 2, figures, LIBRARIES, protocol=protocol.PROTOCOL)


def _seconds(probe: Probe) -> float:
    if probe.unit == "FLOP/s":
        return probe.amount / PEAK
    if probe.unit == "B/s":
        faster = 10 if probe.key.startswith("cache") and probe.footprint < 2**17 else 1
        return probe.amount / READ / faster
    if not probe.operation:
        return CALL
    op = protocol.figure_of(probe, ()).counted
    return float(op.flops / PEAK + op.bytes / READ) + CALL
