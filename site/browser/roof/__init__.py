"""Script that measures the roof of the reader's browser.

It is one script, which a page fetches when a button is pressed. Its kernels are in kernels.wat,
WebAssembly's text format, which wasmtime compiles.
"""

import base64
import functools
import hashlib
import json
import re
from pathlib import Path

HERE = Path(__file__).parent
SCRIPT = "browser-roof.js"
PARTS = ("counts.js", "samples.js", "protocol.js", "worker_pool.js", "roof-panel.js")
# A multiplication and the addition that uses its result, on one line of kernels.wat.
PAIR = re.compile(r"f32x4\.mul (\(local\.get \$\w+\)) f32x4\.add")


def texts() -> dict[str, str]:
    """Return the kernels as WebAssembly text: "plain", and "fused" with relaxed SIMD."""
    plain = (HERE / "kernels.wat").read_text(encoding="utf-8")
    return {"plain": plain, "fused": PAIR.sub(r"\1 f32x4.relaxed_madd", plain)}


@functools.cache
def kernels() -> dict[str, bytes]:
    """Return both versions of the kernels as compiled WebAssembly modules."""
    from wasmtime import wat2wasm  # only a build needs wasmtime

    return {name: bytes(wat2wasm(text)) for name, text in texts().items()}


@functools.cache
def script() -> str:
    """Return the text of the script that measures the roof; a figure's script calls it."""
    coded = {name: base64.b64encode(code).decode() for name, code in kernels().items()}
    worker = (HERE / "roof-worker.js").read_text(encoding="utf-8")
    head = "let text, percent, safe;\n"
    head += f"const KERNELS = {json.dumps(coded)};\nconst WORKER = {json.dumps(worker)};\n"
    parts = "".join((HERE / part).read_text(encoding="utf-8") for part in PARTS)
    return f"(() => {{\n{head}{parts}\n}})();\n"


def digest(text: str) -> str:
    """Return a short hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]
