"""The measurement of a browser's roof, as one script that a page asks for at the press of a button.

Its kernels stand in kernels.wat, the text form of WebAssembly, which wasmtime makes bytes of.
"""

import base64
import functools
import hashlib
import json
import re
from pathlib import Path

HERE = Path(__file__).parent
SCRIPT = "browser-roof.js"
PARTS = ("counts.js", "samples.js", "protocol.js", "team.js", "roof-panel.js")
# A multiplication and the addition to its result, on one line of kernels.wat.
PAIR = re.compile(r"f32x4\.mul (\(local\.get \$\w+\)) f32x4\.add")


def texts() -> dict[str, str]:
    """The kernels as WebAssembly's text: "plain", and "fused" with relaxed SIMD."""
    plain = (HERE / "kernels.wat").read_text(encoding="utf-8")
    return {"plain": plain, "fused": PAIR.sub(r"\1 f32x4.relaxed_madd", plain)}


@functools.cache
def kernels() -> dict[str, bytes]:
    """Both modules as a browser takes them."""
    from wasmtime import wat2wasm  # which only a build needs

    return {name: bytes(wat2wasm(text)) for name, text in texts().items()}


@functools.cache
def script(drawing: str) -> str:
    """The script's text.

    Parameters
    ----------
    drawing
        What live figures are drawn with: it writes numbers as they do.
    """
    coded = {name: base64.b64encode(code).decode() for name, code in kernels().items()}
    worker = (HERE / "roof-worker.js").read_text(encoding="utf-8")
    head = f"const KERNELS = {json.dumps(coded)};\nconst WORKER = {json.dumps(worker)};\n"
    return head + drawing + "".join((HERE / part).read_text(encoding="utf-8") for part in PARTS)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
