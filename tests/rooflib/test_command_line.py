"""`python -m rooflib` prints what was asked for, or one line about what was wrong."""

import inspect
import re
import subprocess
import sys

import pytest
from broken_configs import LLAMA, quantized, write

import rooflib as rl


def rooflib(*arguments: object, **how: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rooflib", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **how)


LAYER = ["tpu-v5e", "matmul", 64, 4096, 16384]
OPERATIONS = ("attention", "dot", "elementwise", "matmul", "rms_norm", "split")
USED = [rf"operations: .*\b{name}\b" for name in OPERATIONS]
OPTIONS = [*inspect.signature(rl.Serving).parameters][2:]
USED += [rf"names for a model: .*\b{name}\b" for name in OPTIONS]
# What is asked for, and patterns of lines that must be printed.
ASKED = [
    ([], "usage: python -m rooflib", *USED),
    (["tpu-v5e", "matmul", "--help"], "usage: python -m rooflib", *USED),
    (["chips"], r"TPU v5e +197 TFLOP/s +819 GB/s +ICI, PCIe, DCN", "H100 SXM",
     "MI300X"),
    (["h100 sxm"], r"bf16 +989\.5 TFLOP/s +295", r"HBM +3\.35 TB/s, 85\.52 GB",
     r"vector fp32 +67 TFLOP/s +20", r"NVLink to one peer +450 GB/s"),
    # 2·64·4096·16384 FLOPs; 2·(64·4096 + 4096·16384) bytes loaded, 2·64·16384 written.
    (LAYER, r"intensity +62\.8 FLOP/byte", r"attained +51\.4 TFLOP/s",
     r"FLOPs +8\.59 GFLOP", r"loaded +135 MB", r"written +2\.1 MB", r"HBM +167 µs",
     r"compute +43\.6 µs", r"roof +HBM", r"lower bound +167 µs", r"upper bound +211 µs",
     r"share of peak +26%", r"HBM needed +137 MB of 16\.9 GB"),
    # An all-gather sends 3/4 of 2·512·8192 bytes, at 45 GB/s.
    (["TPU v5e", "split", "F", 4, 512, 8192, 8192, "link=ICI"],
     r"sent +6\.29 MB", r"ICI +140 µs"),
    (["H100 SXM", "attention", 1, 8, 8, 1, 1, 8, "causal=False", "softmax=False"],
     r"FLOPs +2\.05 kFLOP", r"roof +HBM"),
    (["H100 SXM", "rms-norm", 8, 64, "compute=vector fp32"], r"vector +",
     r"computed in +vector fp32"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "lines"), [(words, lines) for words, *lines in ASKED],
                         ids=[" ".join(map(str, words)) for words, *_ in ASKED])  # fmt: skip
def test_the_command_prints_what_was_asked_for(words, lines):
    run = rooflib(*words)
    assert (run.returncode, run.stderr) == (0, "")
    for line in lines:
        assert re.search(rf"^.*{line}", run.stdout, re.MULTILINE), line


# What is wrong, and what the one line must contain.
MISTAKES = [
    (["v5e", *LAYER[1:]], "chip must be one of", "'v5e'"),
    (["TPU v5e", "matmull", 1, 2, 3], "operation must be one of", "did you mean 'matmul'?"),
    (["TPU v5e", "matmul", 1, 2], "missing 1 required positional argument: 'F'"),
    (["TPU v5e", "matmul", 1, "two", 3], "D must be a number or an array of numbers; got 'two'"),
    (["TPU v5e", "matmul", 1, 2, 3, "w=bf61"], "w must be one of", "'bf61'"),
    (["TPU v5e", "dot", 9, "comp=bf16"], "unexpected keyword argument 'comp'"),
    (["model", "config.json", "H100 SXM"], "bits must be 4 or 8"),
    (["model", "confg.json", "H100 SXM"], "confg.json", "No such file"),
    (["model", "Llama 3 8B", "H100 SXM", "chips=3"], "chips must divide N", "1, 2, 4, 8"),
    (["model", "Llama 3 8B"], "a config.json (or a name) and a chip"),
]


@pytest.mark.parametrize(("words", "parts"), [(words, parts) for words, *parts in MISTAKES],
                         ids=[" ".join(map(str, words)) for words, *_ in MISTAKES])  # fmt: skip
def test_a_mistake_prints_one_line_and_exits_with_2(words, parts, tmp_path):
    write(tmp_path, quantized(quant_method="gptq", bits=3, group_size=128))
    run = rooflib(*words, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("rooflib: ")
    assert run.stderr.count("\n") == 1
    for part in parts:
        assert part in run.stderr


def test_a_model_file_prints_fit_times_and_what_would_help(tmp_path):
    config = write(tmp_path, LLAMA)
    options = {"chips": 2, "B": 32, "S": 4096, "price": 2.5}
    words = [f"{name}={value}" for name, value in options.items()]
    run = rooflib("model", config.name, "H100 SXM", *words, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    served = rl.Serving(rl.model_from_config(config), "H100 SXM", **options)
    told = [served.table, served.changes_table]
    told += [f"decode step:\n\n{served.per_token.parts}"]
    told += [f"prefill of a prompt:\n\n{served.first_token.parts}"]
    for text in told:
        assert str(text) in run.stdout


def test_a_reader_who_has_seen_enough_hears_nothing():
    pipe = f"'{sys.executable}' -m rooflib chips | head -1"
    run = subprocess.run(pipe, shell=True, capture_output=True, text=True, check=False)
    assert run.stdout.startswith("chip ")
    assert run.stdout.count("\n") == 1
    assert run.stderr == ""
