"""The same measurement through jax, for real, on the processor: what it computes, not how fast."""

from __future__ import annotations

import time

import numpy as np
import pytest
from made_up_machine import HOST

import rooflib as rl
import roofmeter
from roofmeter.accelerator import survey
from roofmeter.accelerator.backend import load
from roofmeter.accelerator.jax_backend import JaxBackend, made
from roofmeter.accelerator.workloads import Sizes
from roofmeter.readings import Moment

SIZES = Sizes((64,), (1, 4), 128, 2**14, 2.0**16, (1, 32), (2, 64), (4, 2, 16))
WINDOWS = survey.Windows(0.001, 0, 0.002, 0.002, 0.004, 600)


@pytest.fixture(scope="module")
def jax():
    """Loaded by the one process that needs it, which takes half a second."""
    import jax

    return jax


@pytest.fixture(scope="module")
def backend() -> JaxBackend:
    found = load("jax:cpu")
    # As if the processor had no cache: else everything were as large as that.
    object.__setattr__(found.device, "cache", 0.0)
    return found


@pytest.fixture(scope="module")
def run(backend) -> roofmeter.Run:
    """One short run; its times mean nothing, and nobody who disturbs it is noticed."""
    return survey.survey(
        backend,
        HOST,
        SIZES,
        WINDOWS,
        600.0,
        lambda share, what: None,
        lambda: Moment(time.perf_counter(), HOST.granted * time.perf_counter()),
        lambda seconds: None,
    )


def test_everything_that_a_processor_has_is_measured_and_right(run):
    assert run.kinds == ("bf16", "fp32")
    dots = {f"matmul {kind} 64 {B}" for kind in run.kinds for B in (1, 4)}
    dots |= {"copy", "add", "norm", "prefill", "decode"}
    assert set(run.dots) == dots
    assert set(run.left_out) == {"peak fp8", "peak tf32"}


def test_what_a_processor_lacks_is_left_out_with_a_reason(run):
    for kind in ("fp8", "tf32"):
        assert run.left_out[f"peak {kind}"] == f"cpu has no arithmetic in {kind}"


def test_the_run_says_what_it_was_taken_with_and_comes_back(jax, run, tmp_path):
    assert run.libraries["library"] == f"jax {jax.__version__}"
    assert run.protocol["timer"].startswith("clock of the host")
    assert run.protocol["sensors"] == "not sampled"
    assert roofmeter.load_run(run.save(tmp_path / "some-run")).device == run.device


def test_one_pass_computes_each_set_once(jax, backend):
    """As the compiler counts it: equal calls are made once, and none is left out."""
    sets = [
        (backend.normal((4, 64), "fp32", i), backend.weights(64, 64, "fp32", 9 + i))
        for i in range(8)
    ]
    function = backend.matmul("fp32")
    compiled = jax.jit(lambda sets: [function(*each) for each in sets]).lower(sets).compile()
    assert compiled.cost_analysis()["flops"] == 8 * rl.matmul(4, 64, 64).flops
    got = backend.host(backend.sweep(function, sets)(3))
    assert got == pytest.approx(backend.host(sets[-1][0]) @ backend.host(sets[-1][1]), abs=1e-4)


def test_a_copy_is_another_array_and_an_update_is_not(backend):
    array = backend.normal((1000,), "fp32", 1)
    before, at = backend.host(array), array.unsafe_buffer_pointer()
    copied = backend.sweep(backend.functions()["copy"], [(array,)])(1)
    assert copied.unsafe_buffer_pointer() != at
    update = backend.negate(array)
    # The first pass may have to leave memory that numpy lent.
    at = update(1).unsafe_buffer_pointer()
    turned = update(2)
    assert turned.unsafe_buffer_pointer() == at
    assert np.array_equal(backend.host(turned), -before)


@pytest.mark.parametrize("size", [1000, 2**20 + 1000])
def test_numbers_are_normal_and_others_for_each_seed(backend, size):
    one, other = (backend.host(backend.normal((size,), "fp32", seed)) for seed in (1, 2))
    assert abs(one.mean()) < 0.1
    assert one.std() == pytest.approx(1, abs=0.1)
    assert not np.array_equal(one, other)


def test_a_cuda_device_that_is_not_there_is_named(jax):
    with pytest.raises(ValueError, match="jax finds no CUDA device"):
        made(jax, "cuda")
