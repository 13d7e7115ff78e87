"""Tests of the command line: output, plots, and usage errors."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys

import pytest

import rooflib as rl
from rooflib.__main__ import main, operations


def lines(capsys, *arguments):
    main([str(argument) for argument in arguments])
    return capsys.readouterr().out.splitlines()


def rows(capsys, *arguments):
    """Return the printed lines as a mapping from first column to the rest."""
    cells = (line.split("  ", 1) for line in lines(capsys, *arguments) if "  " in line)
    return {name: value.strip() for name, value in cells}


def test_an_operation_prints_its_counts_and_bounds(capsys):
    # 2·64·4096·16384 = 8.59e9 FLOPs; 2·(64·4096 + 4096·16384 + 64·16384) = 137 MB.
    # 8.59e9 / 1.97e14 = 43.6 µs; 137e6 / 8.19e11 = 167 µs; 43.6 / 167 = 26%.
    shown = rows(capsys, "tpu-v5e", "matmul", 64, 4096, 16384)
    assert shown == {
        "FLOPs": "8.59 GFLOP",
        "computed in": "bf16",
        "loaded": "135 MB",
        "written": "2.1 MB",
        "intensity": "62.8 FLOP/B",
        "compute": "43.6 µs",
        "HBM": "167 µs",
        "binding": "HBM",
        "lower bound": "167 µs",
        "upper bound": "211 µs",
        "attained": "51.4 TFLOP/s",
        "share of peak": "26%",
        "HBM needed": "137 MB of 16.9 GB",
    }


def test_an_operation_too_large_for_memory_is_reported(capsys):
    # Three bf16 matrices of 65,536 a side: 3 · 2 · 65536² = 25.8 GB.
    shown = rows(capsys, "tpu-v5e", "matmul", 65536, 65536, 65536)
    assert shown["HBM needed"] == "25.8 GB of 16.9 GB, does not fit"


def test_options_may_precede_or_follow_sizes(capsys):
    before = lines(capsys, "TPU v5e", "matmul", "--w", "int8", "--out=float32", 1, 2, 3)
    assert before == lines(capsys, "TPU v5e", "matmul", 1, 2, 3, "--w", "int8", "--out", "fp32")
    assert "loaded       10 B" in before
    assert "written      12 B" in before
    assert "on TPU v5e:" in before


def test_a_sharded_operation_prints_link_traffic(capsys):
    command = ["TPU v5e", "sharded-matmul", 512, 8192, 8192, 4, "--link", "ICI"]
    shown = rows(capsys, *command, "--split", "F", "--result", "replicated")
    # An all-gather sends 3/4 of 2·512·8192 bytes, at 45 GB/s.
    assert shown["sent over link"] == "6.29 MB"
    assert shown["ICI"] == "140 µs"
    wide = rows(capsys, *command, "--partial", "fp32", "--compute", "int8")
    assert (wide["sent over link"], wide["computed in"]) == ("25.2 MB", "int8")


def test_unit_vector_uses_the_vector_peak(capsys):
    shown = rows(capsys, "H100 SXM", "dot", 1000000, "--x", "fp32", "--unit", "vector")
    assert shown["compute"] == "29.9 ns"  # time of 2e6 FLOPs at 67 TFLOP/s


SIZES = {"attention": 6, "dot": 1, "elementwise": 3, "matmul": 3, "matmul_per_example": 3}
SIZES |= {"operation": 2, "rms_norm": 2, "sharded_matmul": 4}


@pytest.mark.parametrize("name", SIZES)
def test_every_function_that_makes_an_operation_works_on_the_command_line(capsys, name):
    sizes = [4] * SIZES[name]
    shown = rows(capsys, "H100 SXM", name, *sizes, "--link", "NVLink")
    op = getattr(rl, name)(*sizes)
    assert shown["FLOPs"] == rl.text(op.flops, "FLOP").replace("\N{NO-BREAK SPACE}", " ")


def test_the_help_lists_every_operation(capsys):
    models = {"decode", "prefill", "train"}
    assert operations().keys() == SIZES.keys() | models
    shown = "\n".join(lines(capsys))
    assert all(name in shown for name in operations())


def test_decode_accepts_a_model_name(capsys):
    shown = rows(capsys, "H100 SXM", "decode", "llama-3-8b", 16, 8192, "--kv", "int8")
    step = rl.model("Llama 3 8B").decode(16, 8192, kv="int8")
    assert shown["lower bound"] == rl.text(rl.bound(step, "H100 SXM").lower, "s").replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_launch_time_is_shown_as_a_roof(capsys):
    shown = rows(capsys, "H100 SXM", "dot", 9, "--launch", "5e-6")
    assert (shown["launch"], shown["binding"]) == ("5 µs", "launch")


def test_a_no_prefix_on_an_option_switches_the_flag_off(capsys):
    sizes = ["attention", 1, 8, 8, 1, 1, 8]
    assert rows(capsys, "H100 SXM", *sizes)["FLOPs"] == "1.15 kFLOP"  # 36 of 64 pairs
    whole = rows(capsys, "H100 SXM", *sizes, "--no-causal", "--no-softmax")
    assert whole["FLOPs"] == "2.05 kFLOP"
    assert "on vector units" not in whole
    assert "exponentials" not in whole


def test_an_operation_has_help(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["H100 SXM", "attention", "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert all(part in shown for part in ("B T S N K H", "--no-causal", "--launch", "--kv"))
    assert inspect.getdoc(rl.attention).splitlines()[0] in shown
    # The help of each option names the type of its value and its default, as in the signature.
    told = dict(re.findall(r"^  (--[\w-]+ [A-Z]+) +(.+)$", shown, re.MULTILINE))
    assert told["--x NAME"] == "a data type; bf16 if left out"
    assert told["--kv NAME"] == "a data type"
    assert told["--link NAME"] == "a name"
    assert told["--unit NAME"] == "a name; matrix if left out"
    assert told["--launch N"] == "a number; 0.0 if left out"


def test_a_chip_alone_prints_its_figures(capsys):
    shown = rows(capsys, "h100 sxm")
    assert re.fullmatch(r"989\.5 TFLOP/s +295", shown["bf16, matrix units"])
    assert re.fullmatch(r"67 TFLOP/s +20", shown["fp32, vector units"])
    assert shown["exponentials"].strip() == "3.9 TOP/s"
    assert shown["HBM"] == "3.35 TB/s, 85.52 GB"
    assert shown["NVLink to one peer"] == "450 GB/s"


def test_chips_are_listed(capsys):
    head, *listed = lines(capsys, "--chips")
    assert head.split("  ")[0] == "chip"
    assert [line.split("  ")[0] for line in listed] == [chip.name for chip in rl.chips(more=True)]
    assert "197 TFLOP/s  241 FLOP/B  ICI, PCIe, DCN" in listed[5]


def test_no_arguments_print_the_help(capsys):
    shown = "\n".join(lines(capsys))
    assert shown.startswith("usage: python -m rooflib")
    for part in ("sharded_matmul B D F N", "decode MODEL B S [chips]", "--chips", "examples:"):
        assert part in shown


@pytest.mark.parametrize("unit", ["matrix", "vector"])
def test_the_plot_contains_operation_and_roofs(tmp_path, capsys, unit):
    path = tmp_path / "layer.svg"
    main(["H100 SXM", "matmul", "64", "64", "64", "--compute", "fp32" if unit == "vector" else
          "bf16", "--unit", unit, "--plot", str(path)])  # fmt: skip
    drawn = path.read_text()
    for part in ("matmul", "HBM of H100 SXM: 3.35", "67" if unit == "vector" else "bf16: 990"):
        assert part in drawn
    assert "matmul" in capsys.readouterr().out


def test_a_plot_needs_no_display(tmp_path):
    path = tmp_path / "dot.svg"
    command = [sys.executable, "-m", "rooflib", "TPU v5e", "dot", "9", "--plot", str(path)]
    subprocess.run(command, env=os.environ | {"MPLBACKEND": "module://no_display"}, check=True)
    assert "HBM of TPU v5e" in path.read_text()


MISTAKES = [
    (["v5e", "matmul", "1", "2", "3"], "chip must be"),
    (
        ["TPU v5e", "matmull", "1", "2", "3"],
        "operation must be one of attention, dot, elementwise, matmul",
    ),
    (["TPU v5e", "matmull", "1", "2", "3"], "did you mean 'matmul'?"),
    (["TPU v5e", "matmul", "1", "2"], "matmul takes B D F; got 1 2"),
    (["TPU v5e", "matmul", "1", "2", "3", "4"], "matmul takes B D F; got 1 2 3 4"),
    (["TPU v5e", "dot"], "dot takes N; got none"),
    (["TPU v5e", "matmul", "1", "two", "3"], "D must be a number; got 'two'"),
    (["TPU v5e", "matmul", "1", "2", "-3"], "F must be above zero and finite; got -3"),
    (["TPU v5e", "matmul", "1", "2", "3", "--w", "bf61"], "w must be one of"),
    (["TPU v5e", "matmul", "1", "2", "3", "--split", "D"], "split"),
    (["TPU v5e", "attention", *"111111", "--softmax", "bf61"], "softmax must be one of"),
    (["TPU v5e", "matmul", "1", "2", "3", "--speed", "9"], "matmul takes no --speed; it takes --x"),
    (["TPU v5e", "dot", "9", "--split", "D"], "dot takes no --split; it takes --x"),
    (["TPU v5e", "dot", "9", "--N", "9"], "dot takes no --N; it takes --x"),
    (["TPU v5e", "dot", "9", "--comp", "bf16"], "dot takes no --comp; it takes --x"),
    (["TPU v5e", "dot", "9", "--op", "dot"], "dot takes no --op; it takes --x"),
    (["TPU v5e", "dot", "9", "--chip", "TPU v4"], "dot takes no --chip; it takes --x"),
    (["TPU v5e", "decode", "Llama 3 8B", "1", "1", "--self", "x"], "decode takes no --self"),
    (["TPU v5e", "dot", "9", "--launch", "soon"], "launch must be a number; got 'soon'"),
    (["TPU v5e", "decode"], "decode takes MODEL B S [chips]; got none"),
    (["TPU v5e", "decode", "Llama", "1"], "model must be one of"),
    (["--chips", "foo", "bar"], "--chips takes no arguments; got foo bar"),
    (["--speed"], "a chip must come first; got --speed"),
    (["TPU v5e", "sharded_matmul", "2", "2", "2", "2"], "link must be given"),
    (["TPU v5e", "sharded_matmul", "2", "5", "2", "2"], "to be split; got D=5, N=2"),
    (["TPU v5e", "dot", "9", "--plot", "no-such-folder/x.svg"], "No such file"),
    (["TPU v5e", "dot", "9", "--plot", "x.tune"], "'tune' is not supported"),
    (["TPU v5e", "operation", "9", "0", "--plot", "x.svg"], "an operation with FLOPs and bytes"),
    (["TPU v5e", "operation", "0", "9", "--plot", "x.svg"], "an operation with FLOPs and bytes"),
]


@pytest.mark.parametrize(("command", "message"), MISTAKES)
def test_usage_errors_print_one_line_and_exit_with_2(
    capsys, monkeypatch, tmp_path, command, message
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(command)
    shown = capsys.readouterr()
    assert ended.value.code == 2
    assert shown.out == ""
    assert shown.err.startswith("rooflib: ")
    assert shown.err.count("\n") == 1
    assert message in shown.err


def test_python_m_rooflib_works():
    command = [sys.executable, "-m", "rooflib", "--version"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == f"rooflib {rl.__version__}\n"
