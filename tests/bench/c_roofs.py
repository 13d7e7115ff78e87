"""Reference roofs in C, compiled from `reference_roofs.c`.

numpy's results are compared with them.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from roofmeter.kernels import Probe
from roofmeter.threads import Floats

SOURCE = Path(__file__).with_name("reference_roofs.c")
OPTIONS = ("-O3", "-march=native", "-ffast-math", "-fopenmp", "-fno-tree-loop-distribute-patterns")
LIBRARY = ("-shared", "-fPIC")
MULTIPLY_ADDS = {"peak fp32": "single", "peak fp64": "twice"}
STREAMS = {"read": ("load", 1), "update": ("update", 2)}
"""Figure → (the C function, the number of arrays that it moves)."""


def compiled(folder: Path, width: int | None = None, library: bool = False) -> Path:
    """Compile a program or a library.

    width: of the registers, in bytes (default: the processor's widest).
    """
    text = SOURCE.read_text(encoding="utf-8")
    if width:
        text = re.sub(r"#define WIDTH \d+", f"#define WIDTH {width}", text)
    source = folder / f"roofs{width}.c"
    made = source.with_suffix(".so" if library else ".out")
    source.write_text(text, encoding="utf-8")
    options = (*OPTIONS, *(LIBRARY if library else ()))
    subprocess.run(["gcc", *options, str(source), "-o", str(made)], check=True)
    return made


def printed(program: Path, threads: int) -> dict[str, float]:
    """Run the program; return the figures that it prints."""
    command = [str(program), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    pairs = (line.split() for line in done.stdout.splitlines())
    return {name.replace("_", " "): float(value) for name, value in pairs}


def probes(library: Path, store: Floats, threads: int) -> dict[str, Probe]:
    """Return the library's loops as probes, so that they are sampled like numpy's."""
    # Idle OpenMP threads must not spin, or they would take cores from numpy's threads.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    c = ctypes.CDLL(str(library))
    flops = {name: ctypes.c_double.in_dll(c, f"flops_{name}").value for name in ("single", "twice")}
    array = store.ctypes.data_as(ctypes.c_void_p)
    found = {}
    for key, name in MULTIPLY_ADDS.items():
        call = _call(getattr(c, name), threads)
        amount = flops[name] * threads
        found[key] = Probe(f"C {key}", name, "FLOP/s", amount, threads, call, keeps_busy=True)
    for key, (name, arrays) in STREAMS.items():
        size = ctypes.c_long(len(store))
        call = _call(getattr(c, name), array, None, size, threads)
        moved = float(arrays * store.nbytes)
        found[key] = Probe(f"C {key}", name, "B/s", moved, threads, call, keeps_busy=True)
    return found


def _call(function: Any, *arguments: Any) -> Any:
    return lambda: lambda repeats: function(*arguments, repeats)
