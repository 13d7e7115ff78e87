"""Tests of accelerator measurement on a fake torch device with known times."""

from __future__ import annotations

import csv
import importlib
import sys
from dataclasses import replace

import numpy as np
import pytest
from fake_machine import HOST
from fake_torch import FakeNvml, FakeTorch, Tensor, rounded

import rooflib as rl
import roofmeter
from roofmeter import __main__ as command
from roofmeter.accelerator import reference, survey
from roofmeter.accelerator.backend import DEVICES, load
from roofmeter.accelerator.sensors import sensors
from roofmeter.accelerator.survey import Windows
from roofmeter.accelerator.torch_backend import TorchBackend, make_backend
from roofmeter.accelerator.workloads import Sizes, plan
from roofmeter.clocks import ClockTimes
from roofmeter.device import data_sheet
from roofmeter.store import SENSOR_COLUMNS

SIZES = Sizes((32, 64), (1, 4), 64, 2**10, 2.0**12, (1, 16), (2, 64), (4, 2, 8))
SMALLER = replace(SIZES, widths=(32,), batches=(4,))
WINDOWS = Windows(block=0.01, rest=2, burst=0.3, settling=0.6, sustained=0.7, dot=1)


@pytest.fixture
def torch(monkeypatch) -> FakeTorch:
    """Install a fake torch and NVML."""
    found = FakeTorch()
    found.nvml = FakeNvml(found)
    monkeypatch.setitem(sys.modules, "torch", found)
    monkeypatch.setitem(sys.modules, "pynvml", found.nvml)
    return found


def measured(torch: FakeTorch, seconds: float = 1e9, sizes: Sizes = SMALLER) -> roofmeter.Run:
    backend = make_backend(torch, "cuda")
    try:
        return survey.survey(
            backend,
            HOST,
            sizes,
            WINDOWS,
            seconds,
            lambda share, what: None,
            lambda: ClockTimes(torch.now, 0.0),
            torch.rest,
        )
    finally:
        backend.close()


@pytest.fixture(scope="module")
def run() -> roofmeter.Run:
    """A complete run on the fake device."""
    with pytest.MonkeyPatch.context() as patch:
        found = FakeTorch()
        patch.setitem(sys.modules, "pynvml", FakeNvml(found))
        return measured(found, sizes=SIZES)


def test_sustained_peaks_are_those_of_the_warm_device(run):
    assert run.kinds == ("bf16", "fp8", "tf32", "fp32")
    for kind, peak in zip(run.kinds, (1e8, 2e8, 5e7, 1e7), strict=True):
        assert run.figures[f"burst {kind}"].best == pytest.approx(peak, rel=0.02)
        sustained = run.figures[f"peak {kind}"]
        assert sustained.interval == pytest.approx((0.8 * peak, 0.8 * peak))
        early = [sample for sample in sustained.samples if sample.disturbed]
        assert {sample.disturbed for sample in early} == {"the clock had not settled yet"}
        assert run.chip.peak(kind) == pytest.approx(0.8 * peak)
    assert run.chip.bandwidth == pytest.approx(1e7)
    assert run.figures["update"].best == pytest.approx(1e7)
    assert run.chip.capacity == 2**26
    assert run.left_out == {}
    assert rl.bound(rl.matmul(4, 64, 64), run.chip).binding == "HBM"


def test_operations_take_as_long_as_their_counts_predict(run):
    operations = run.operations
    thin = {
        f"matmul {k} {D} {B}"
        for k in ("bf16", "fp8", "tf32", "fp32")
        for D in (32, 64)
        for B in (1, 4)
    }
    assert set(operations) == thin | {"copy", "add", "norm", "prefill", "decode"}
    for key, each in operations.items():
        assert each.ratio == pytest.approx(1), key
        assert each.position == "between the bounds" or each.ratio == pytest.approx(1), key


def test_each_pass_is_one_cuda_graph_captured_after_a_warm_up(torch):
    assert measured(torch).protocol["started"] == "pass by pass, as CUDA graphs"
    assert torch.graphs == 4 + 2 + 4 + 3 + 2
    torch.cuda.graph = lambda graph: (_ for _ in ()).throw(RuntimeError("no graphs here"))
    run = measured(torch)
    assert "where that went" in run.protocol["started"]
    assert run.chip.bandwidth == pytest.approx(1e7)


def test_operands_are_normally_distributed_and_exceed_the_cache(torch, monkeypatch):
    backend = make_backend(torch, "cuda")
    swept = []
    sweep = backend.sweep
    monkeypatch.setattr(backend, "sweep", lambda f, sets: swept.append(sets) or sweep(f, sets))
    probes = list(plan(backend, SMALLER, ("bf16",)))
    for probe in probes:
        probe.make()
    assert all(probe.footprint >= 2**12 for probe in probes)
    for sets, probe in zip(swept, (p for p in probes if p.key != "update"), strict=True):
        arrays = [id(array.array) for operands in sets for array in operands]
        assert len(set(arrays)) == len(arrays)
        first = {tuple(a.array.flat[:4]) for operands in sets for a in operands}
        assert len(first) == len(arrays)
        if probe.key.startswith(("matmul", "peak", "decode")):
            assert sum(a.nbytes for operands in sets for a in operands) > 4 * 2**12 / 1.3
        numbers = np.concatenate([a.array.ravel() for operands in sets for a in operands])
        assert abs(numbers.mean()) < 0.1
        assert numbers.std() == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("matmul fp8", "peak fp8"),
        ("matmul tf32", "peak tf32"),
        ("copy", "copy"),
        ("add", "add"),
        ("norm", "norm"),
        ("prefill", "prefill"),
        ("decode", "decode"),
    ],
)
def test_wrong_results_are_left_out(torch, name, left_out):
    torch.breaks = lambda made, result: result * 1.1 if made == name else result
    run = measured(torch)
    assert "differs from fp64" in run.left_out[left_out]
    assert left_out not in run.figures
    # Without its peak, a data type has no operations either.
    assert not [key for key in run.figures if name.startswith("matmul") and name[-4:] in key]


def test_one_wrong_element_in_a_checked_row_is_detected(torch):
    def one(made, result):
        if made == "norm":
            result = result.copy()
            result[-1, -1] += 1
        return result

    torch.breaks = one
    assert "norm" in measured(torch).left_out


def test_a_wrong_roof_result_raises(torch):
    torch.breaks = lambda made, result: result + 1 if made == "largest" else result
    with pytest.raises(RuntimeError, match="Paper GPU has no roof: read, the result differs"):
        measured(torch)


def test_an_update_that_changes_nothing_raises(torch, monkeypatch):
    monkeypatch.setattr(Tensor, "neg_", lambda self: self)
    with pytest.raises(RuntimeError, match="Paper GPU has no roof: update, the result differs"):
        measured(torch)


def test_fp32_computed_in_tf32_is_detected(torch):
    torch.set_float32_matmul_precision = lambda precision: setattr(torch, "precision", "high")
    run = measured(torch)
    assert "over 6.1e-05" in run.left_out["peak fp32"]
    assert "tf32" in run.kinds


@pytest.mark.parametrize("kind", ["fp32", "tf32", "bf16"])
@pytest.mark.parametrize("D", [64, 8192])
def test_tolerances_accept_the_stated_precision_and_reject_lower_ones(kind, D):
    types = {"fp32": "float32", "tf32": "tf32", "bf16": "bfloat16"}
    x, w = (np.random.default_rng(D + i).standard_normal((64, D)) for i in range(2))
    if kind == "bf16":  # bf16 operands are already rounded
        x, w = rounded(x, "bfloat16"), rounded(w, "bfloat16")
    exact = x.astype(np.float64) @ w.T.astype(np.float64)
    factors = [rounded(a, types[kind]) for a in (x, w)]
    got = rounded(factors[0] @ factors[1].T, "bfloat16" if kind == "bf16" else "float32")
    reference.check_close(got.astype(np.float64), exact, reference.TOLERANCE[kind])
    coarser = {"fp32": "tf32", "tf32": "float8_e4m3fn", "bf16": "float8_e4m3fn"}[kind]
    got = rounded(x, coarser) @ rounded(w, coarser).T
    with pytest.raises(reference.WrongResultError, match="differs from fp64"):
        reference.check_close(got.astype(np.float64), exact, reference.TOLERANCE[kind])


def test_nan_and_shape_mismatches_are_rejected():
    with pytest.raises(reference.WrongResultError, match="differs from fp64 by nan"):
        reference.check_close(np.array([np.nan, 1.0]), np.ones(2), 1.0)
    with pytest.raises(reference.WrongResultError, match=r"has shape \(2,\) and not \(3,\)"):
        reference.check_close(np.ones(2), np.ones(3), 1.0)


# Load from others, and throttling.


def test_a_busy_device_is_refused_at_the_start(torch):
    torch.nvml.busy = 40
    with pytest.raises(roofmeter.TooBusyError, match="others use it 40% of the time"):
        measured(torch)
    assert torch.graphs == 0


def test_load_from_just_before_the_run_is_ignored(torch, monkeypatch):
    torch.nvml.busy = 100
    rest = torch.rest

    def rested(seconds: float) -> None:
        torch.nvml.busy = 0
        rest(seconds)

    monkeypatch.setattr(torch, "rest", rested)
    assert "peak bf16" in measured(torch).figures


def test_intermittent_load_during_a_roof_raises(torch):
    turns = iter(range(10**9))
    torch.slower = lambda: 2.0 if next(turns) // 40 % 3 else 1.0
    with pytest.raises(roofmeter.TooBusyError, match="away from its best"):
        measured(torch)


def test_throttled_samples_are_discarded(torch):
    turns = iter(range(10**9))
    torch.nvml.reasons = lambda: 0x40 if next(turns) % 2 else 4
    run = measured(torch)
    slowed = [s for f in run.figures.values() for s in f.samples if "slowed itself" in s.disturbed]
    assert slowed
    assert all(sample.device.reasons == 0x40 for sample in slowed)
    torch.nvml.reasons = lambda: 0x40
    with pytest.raises(roofmeter.TooBusyError, match=r"slowed itself down \(reasons 0x40\)"):
        measured(torch)


# Missing features and libraries.


def test_unsupported_data_types_are_left_out_with_a_reason(torch):
    torch.about.major, torch.about.minor = 8, 0
    run = measured(torch)
    assert run.left_out["peak fp8"] == "compute capability 8.0 has no arithmetic in fp8"
    assert run.kinds == ("bf16", "tf32", "fp32")
    torch.about.major = 7
    assert measured(torch).kinds == ("bf16", "fp32")
    processor = TorchBackend(torch, "cpu")
    assert processor.unsupported("tf32") == "cpu has no arithmetic in tf32"
    assert not processor.unsupported("bf16")


def test_failed_operations_are_left_out_with_the_first_line_of_the_error(torch):
    def fail(made, result):
        if made == "prefill":
            raise RuntimeError("CUDA out of memory.\nTried to allocate 7 GiB")
        return result

    torch.breaks = fail
    assert measured(torch).left_out == {"prefill": "CUDA out of memory."}


def test_operations_out_of_time_are_left_out(torch):
    run = measured(torch, seconds=1.0)
    assert set(run.figures) >= {"read", "update", "peak bf16", "peak fp32"}
    assert run.operations == {}
    assert run.left_out["matmul bf16 32 4"] == "out of time"


def test_a_missing_library_error_says_what_to_install(monkeypatch):
    for library in ("torch", "jax"):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(ImportError, match=f"needs {library}, .*: pip install {library}"):
            load(library)


def test_unknown_and_absent_devices_are_named_in_the_error(torch):
    with pytest.raises(ValueError, match=r"device must be one of cuda, torch, .*; got 'gpu'"):
        roofmeter.measure_accelerator("gpu")
    torch.cuda.is_available = lambda: False
    with pytest.raises(ValueError, match="torch finds no CUDA device"):
        roofmeter.measure_accelerator("cuda")
    assert load("torch").device.kind == "cpu"
    with pytest.raises(ValueError, match="seconds must be above zero"):
        roofmeter.measure_accelerator("torch", 0)


def test_torch_and_jax_are_imported_lazily():
    for library in ("torch", "jax", "pynvml"):
        assert library not in vars(survey)
    importlib.import_module("roofmeter.accelerator.torch_backend")
    importlib.import_module("roofmeter.accelerator.jax_backend")


def test_precision_is_restored_and_nvml_shut_down(torch):
    torch.precision = "medium"
    measured(torch)
    assert torch.precision == "medium"
    assert torch.nvml.open == 0


# Sensors.


def test_clocks_and_power_are_stored_with_each_sample(run, tmp_path):
    assert run.device.driver == "000.00"
    assert run.device.limits == {"clock": 1e9, "memory clock": 2e9, "power": 300.0}
    cold, warm = (run.figures[f"{key} bf16"].samples[-1].device for key in ("burst", "peak"))
    assert (cold.clock, cold.power, cold.reasons) == (1e9, 100.0, 0)
    assert (warm.clock, warm.power, warm.reasons) == (0.8e9, 300.0, 4)
    assert warm.memory_clock == 2e9
    assert warm.temperature is None  # this driver does not report it
    folder = run.save(tmp_path / "paper-gpu-2026-01-02")
    with next(folder.glob("*.csv")).open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0])[-len(SENSOR_COLUMNS) :] == SENSOR_COLUMNS
    assert rows[0]["clock"] == "1000000000.0"
    found = roofmeter.load_run(folder)
    assert found.device == run.device
    assert found.figures["peak bf16"].samples[-1].device == warm
    assert found.protocol["sensors"] == "NVML"
    again = roofmeter.load_run(found.save(tmp_path / "again"))
    assert again == found


SMI = """#!/bin/sh
case "$*" in
  *clocks_event*) echo unknown field; exit 2 ;;
  *driver_version*) echo '550.00, 1980, 3200, 700.00' ;;
  *-lms*) echo '1500, 3200, 650.5, 60, 99, 0x0000000000000004' ;;
  *) echo '345, 3200, 70.25, 30, 0, 0x0000000000000001' ;;
esac
"""


@pytest.fixture
def no_nvml(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return tmp_path


def test_nvidia_smi_is_the_fallback_without_nvml(no_nvml):
    program = no_nvml / "nvidia-smi"
    program.write_text(SMI)
    program.chmod(0o755)
    found = sensors("GPU-1")
    try:
        found.follower.join(10)
        assert found.name == "nvidia-smi"
        assert found.driver == "550.00"
        assert found.limits == {"clock": 1.98e9, "memory clock": 3.2e9, "power": 700.0}
        assert (found().clock, found().power, found().temperature) == (1.5e9, 650.5, 60.0)
        assert found().reasons == 4
        assert found.utilization() == pytest.approx(0.99)
    finally:
        found.close()


def test_a_run_without_sensors_records_that(torch, no_nvml):
    run = measured(torch)
    assert run.protocol["sensors"] == "not sampled"
    assert all(s.device.clock is None for f in run.figures.values() for s in f.samples)


def test_sensors_belong_to_the_visible_device(torch, monkeypatch):
    asked = []
    monkeypatch.setattr(
        FakeNvml, "nvmlDeviceGetHandleByUUID", lambda self, uuid: asked.append(uuid), raising=False
    )
    torch.about.uuid = "12-34"
    make_backend(torch, "cuda").close()
    torch.about.uuid = ""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-56,GPU-78")
    make_backend(torch, "cuda").close()
    assert asked == ["GPU-12-34", "GPU-56"]


# Comparison with the data sheet.

NAMES = {
    "NVIDIA H200": "H200 SXM",
    "NVIDIA H100 80GB HBM3": "H100 SXM",
    "NVIDIA A100-SXM4-80GB": "A100 80GB SXM",
    "NVIDIA A100-SXM4-40GB": None,
    "NVIDIA H100 PCIe": None,
    "NVIDIA H100 NVL": None,
    "NVIDIA B200": "B200",
    "TPU v4": "TPU v4",
    "TPU v5e": "TPU v5e",
    "Paper GPU": None,
}


@pytest.mark.parametrize("name", NAMES)
def test_device_names_match_their_data_sheet_or_none(name):
    found = data_sheet(name)
    assert (found.name if found else None) == NAMES[name]


def test_a_run_is_compared_with_a_data_sheet(run):
    sheet = rl.Chip("on paper", {"bf16": 2e8, "fp8": 4e8}, 2e7, 1e9, vector={"fp32": 2e7})
    rows = {row[0]: row[1:] for row in run.compare_with_sheet(sheet).rows}
    assert set(rows) == {"peak bf16", "burst bf16", "peak fp8", "burst fp8", "peak fp32",
                         "burst fp32", "read", "update"}  # fmt: skip
    assert rows["peak bf16"][:2] == (rl.text(2e8, "FLOP/s"), rl.text(0.8e8, "FLOP/s"))
    assert rows["peak bf16"][-1] == "40%"
    assert rows["peak fp32"][-1] == "40%"
    assert rows["read"][-1] == "50%"


# Command line.


def test_the_command_line_measures_a_device(run, monkeypatch, tmp_path, capsys):
    asked = []
    monkeypatch.setattr(command, "measure_accelerator", lambda *given: asked.append(given) or run)
    command.main(["--device", "cuda", "--save", str(tmp_path / "one")])
    assert "Paper GPU" in capsys.readouterr().out
    command.main(["--device", "jax:cpu", "--seconds", "20"])
    assert asked == [("cuda", 300.0), ("jax:cpu", 20.0)]
    assert roofmeter.load_run(tmp_path / "one").device == run.device


def test_a_missing_device_prints_one_line(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    for device in ("torch", "gpu"):
        with pytest.raises(SystemExit) as ended:
            command.main(["--device", device])
        assert ended.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert "torch" in DEVICES


def test_a_run_without_a_peak_is_rejected(run):
    rest = {key: f for key, f in run.figures.items() if not key.startswith("peak")}
    with pytest.raises(ValueError, match=r"figures must have a peak, read, update; .* no peak"):
        replace(run, figures=rest)
    assert run.name == f"Paper GPU, {run.date:%Y-%m-%d}"
