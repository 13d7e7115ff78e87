"""Script that measures the roof of the reader's browser.

A page fetches it when a button is pressed. Its kernels are in kernels.wat, WebAssembly's text
format, which wasmtime compiles.
"""

import base64
import functools
import hashlib
import json
import re
from pathlib import Path

HERE = Path(__file__).parent
SCRIPT = "browser-roof.js"
# A multiplication and the addition that uses its result, on one line of kernels.wat.
PAIR = re.compile(r"f32x4\.mul (\(local\.get \$\w+\)) f32x4\.add")


@functools.cache
def script() -> str:
    """Return the text of the script that measures the roof; a figure's script calls it."""
    from wasmtime import wat2wasm  # only a build needs wasmtime

    plain = re.sub(";;.*", "", (HERE / "kernels.wat").read_text(encoding="utf-8"))
    texts = {"plain": plain, "fused": PAIR.sub(r"\1 f32x4.relaxed_madd", plain)}
    kernels = {name: base64.b64encode(wat2wasm(text)).decode() for name, text in texts.items()}
    flops = 2 * 4 * len(PAIR.findall(plain))  # of a pass: each pair is of four numbers
    names = f"const KERNELS = {json.dumps(kernels)};\nconst FLOPS = {flops};\n"
    measuring = (HERE / "roof.js").read_text(encoding="utf-8")
    return f"(() => {{\n{names}{measuring}}})();\n"


@functools.cache
def digest() -> str:
    """Return a short hash of the script."""
    return hashlib.sha256(script().encode()).hexdigest()[:8]
