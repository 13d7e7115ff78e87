"""Types: mypy accepts our code, and tells a learner's right code from wrong."""

import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT

MYPY = [str(Path(sys.executable).with_name("mypy")), "--no-color-output"]


def test_mypy_finds_no_error_in_our_code() -> None:
    done = subprocess.run(MYPY, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no issues found" in done.stdout


# --- rooflib's types, as a type checker sees them in a learner's code -----------------------------

SCALARS = """
import numpy as np
import rooflib as rl

t: float = rl.bound(rl.matmul(64, 4096, 4096, w="int8"), "TPU v5e").lower
t = rl.bound(rl.attention(1, 1, 8, 1, 1, 1, causal=False), "TPU v5e", launch=1e-6).upper
t = rl.bound(rl.sharded_matmul(8, 8, 8, 2, split="D"), "TPU v5e", "ICI").idle
t = rl.bound(rl.model("Llama 3 8B").decode(1, 8), "H100 SXM").fraction_of_peak
t = rl.bound(rl.operation(flops=1e9, sent={"ICI": 5.0}), "TPU v5e").attainable
t = rl.elementwise(5, 2).intensity + rl.dot(5).flops + rl.rms_norm(5, 6).bytes
t = rl.matmul_per_example(1, 2, 3).held + rl.attainable(5.0, "H100 SXM")
t = rl.critical_batch("TPU v5e", 8192, 8192) + rl.critical_depth("TPU v5e", "ICI", 4)
t = rl.first_whole_above(5.0) + rl.all_reduce(1e9, 4) + rl.all_gather(1e9, 4)
t = rl.reduce_scatter(1e9, 4) + rl.kv_bytes_per_token(80, 8, 128)


def swept(op: rl.Operation, chip: rl.Chip) -> rl.Bounds:
    return rl.bound(op, chip)


many = swept(rl.matmul(np.arange(1, 9), 64, 64), rl.chip("H100 SXM")).lower
"""
WRONG = """
import rooflib as rl

name: str = rl.bound(rl.matmul([1, 2], 4096, 4096), "TPU v5e").lower
rl.matmul(1, 2, 3, kv="int8")
"""


@pytest.mark.parametrize(("code", "errors"), [(SCALARS, 0), (WRONG, 2)])
def test_scalars_type_check_as_floats(tmp_path: Path, code: str, errors: int) -> None:
    script = tmp_path / "script.py"
    script.write_text(code)
    done = subprocess.run([*MYPY, script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == (errors > 0)
    assert done.stdout.count(": error:") == errors, done.stdout
