"""Tests of the jax backend on the CPU: results, not speed."""

from __future__ import annotations

import time

import numpy as np
import pytest
from fake_machine import HOST

import rooflib as rl
import roofmeter
from roofmeter.accelerator import survey
from roofmeter.accelerator.backend import load
from roofmeter.accelerator.jax_backend import JaxBackend, make_backend
from roofmeter.accelerator.workloads import Sizes
from roofmeter.clocks import ClockTimes

SIZES = Sizes((64,), (1, 4), 128, 2**14, 2.0**16, (1, 32), (2, 64), (4, 2, 16))
WINDOWS = survey.Windows(0.001, 0, 0.002, 0.002, 0.004, 600)


@pytest.fixture(scope="module")
def jax():
    """Import jax in the one worker that needs it; it takes half a second."""
    import jax

    return jax


@pytest.fixture(scope="module")
def backend() -> JaxBackend:
    found = load("jax:cpu")
    # Pretend that there is no cache: operands would have to exceed it.
    object.__setattr__(found.device, "cache", 0.0)
    return found


@pytest.fixture(scope="module")
def run(backend) -> roofmeter.Run:
    """A short run with meaningless times, in which load from others goes unnoticed."""
    return survey.survey(
        backend,
        HOST,
        SIZES,
        WINDOWS,
        600.0,
        lambda share, what: None,
        lambda: ClockTimes(time.perf_counter(), HOST.granted * time.perf_counter()),
        lambda seconds: None,
    )


def test_every_supported_workload_is_measured_on_the_cpu(run):
    assert run.kinds == ("bf16", "fp32")
    operations = {f"matmul {kind} 64 {B}" for kind in run.kinds for B in (1, 4)}
    operations |= {"copy", "add", "norm", "prefill", "decode"}
    assert set(run.operations) == operations
    assert set(run.left_out) == {"peak fp8", "peak tf32"}


def test_data_types_the_cpu_lacks_are_left_out_with_a_reason(run):
    for kind in ("fp8", "tf32"):
        assert run.left_out[f"peak {kind}"] == f"cpu has no arithmetic in {kind}"


def test_the_run_records_its_library_and_round_trips(jax, run, tmp_path):
    assert run.libraries["library"] == f"jax {jax.__version__}"
    assert run.protocol["timer"].startswith("clock of the host")
    assert run.protocol["sensors"] == "not sampled"
    assert roofmeter.load_run(run.save(tmp_path / "some-run")).device == run.device


def test_one_pass_computes_each_operand_set_once(jax, backend):
    """The cost analysis of XLA counts every set exactly once."""
    sets = [
        (backend.random_normal((4, 64), "fp32", i), backend.weights(64, 64, "fp32", 9 + i))
        for i in range(8)
    ]
    function = backend.matmul("fp32")
    compiled = jax.jit(lambda sets: [function(*each) for each in sets]).lower(sets).compile()
    assert compiled.cost_analysis()["flops"] == 8 * rl.matmul(4, 64, 64).flops
    got = backend.to_numpy(backend.sweep(function, sets)(3))
    assert got == pytest.approx(
        backend.to_numpy(sets[-1][0]) @ backend.to_numpy(sets[-1][1]), abs=1e-4
    )


def test_a_copy_allocates_and_an_update_is_in_place(backend):
    array = backend.random_normal((1000,), "fp32", 1)
    before, at = backend.to_numpy(array), array.unsafe_buffer_pointer()
    copied = backend.sweep(backend.functions()["copy"], [(array,)])(1)
    assert copied.unsafe_buffer_pointer() != at
    update = backend.negate(array)
    # The first pass may copy memory borrowed from numpy.
    at = update(1).unsafe_buffer_pointer()
    turned = update(2)
    assert turned.unsafe_buffer_pointer() == at
    assert np.array_equal(backend.to_numpy(turned), -before)


@pytest.mark.parametrize("size", [1000, 2**20 + 1000])
def test_random_numbers_are_normal_and_depend_on_the_seed(backend, size):
    one, other = (backend.to_numpy(backend.random_normal((size,), "fp32", seed)) for seed in (1, 2))
    assert abs(one.mean()) < 0.1
    assert one.std() == pytest.approx(1, abs=0.1)
    assert not np.array_equal(one, other)


def test_a_missing_cuda_device_is_named_in_the_error(jax):
    with pytest.raises(ValueError, match="jax finds no CUDA device"):
        make_backend(jax, "cuda")
