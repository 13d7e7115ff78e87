"""Script that measures the roof of the reader's browser.

Its two kernels are written here in WebAssembly's text format, which wasmtime compiles.
"""

import base64
import functools
import json
from pathlib import Path

HERE = Path(__file__).parent
SCRIPT = "browser-roof.js"
# Independent sums of four numbers each: enough to hide the latency of the instructions, few enough
# for the registers of every processor.
SUMS = 12
LOADS = 8
# A multiplication and an addition, each rounded, and the one instruction of browsers that have
# relaxed SIMD.
PLAIN = "f32x4.mul (local.get $c) f32x4.add"
FUSED = "(local.get $c) f32x4.relaxed_madd"


def kernels(multiply_add: str) -> str:
    """Return the kernels, whose multiply-add consists of these instructions.

    The page allocates the memory. The size of an array is a multiple of 128 bytes, 32 numbers.
    """
    sums = [f"$s{i}" for i in range(SUMS)]
    begin = compute = read = ""
    for i, one in enumerate(sums):
        four = " ".join(str(4 * i + j) for j in range(4))
        begin += f"(local.set {one} (v128.const f32x4 {four})) "
        compute += f"(local.get {one}) (local.get $m) {multiply_add} (local.set {one}) "
    for i, one in enumerate(sums[:LOADS]):
        load = f"(v128.load offset={16 * i} (local.get $at))"
        read += f"(local.get {one}) {load} f32x4.add (local.set {one}) "
    again = "(br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1))))"
    return f"""
(module
  (import "page" "memory" (memory 1))

  ;; Each sum s becomes s * m + c. All oscillate around 0.5, so that none becomes 0 or denormal.
  (func (export "multiply_add") (param $times i32) (result f32)
    (local $m v128) (local $c v128) {declared(sums)}
    (local.set $m (v128.const f32x4 -0.9999 -0.9999 -0.9999 -0.9999))
    (local.set $c (v128.const f32x4 1 1 1 1))
    {begin}
    (loop $again {compute} {again})
    {total(sums)})

  ;; Add up an array: one addition for each 4 bytes read.
  (func (export "read") (param $bytes i32) (param $times i32) (result f32)
    (local $at i32) {declared(sums[:LOADS])}
    (loop $again
      (local.set $at (i32.const 0))
      (loop $on {read}
        (local.set $at (i32.add (local.get $at) (i32.const {16 * LOADS})))
        (br_if $on (i32.lt_u (local.get $at) (local.get $bytes))))
      {again})
    {total(sums[:LOADS])}))
"""


def declared(sums: list[str]) -> str:
    return " ".join(f"(local {one} v128)" for one in sums)


def total(sums: list[str]) -> str:
    """Return instructions that give a number of the total: compilers can't eliminate any sum."""
    others = " ".join(f"(local.get {one}) f32x4.add" for one in sums[1:])
    return f"(local.get {sums[0]}) {others} (f32x4.extract_lane 0)"


@functools.cache
def script() -> str:
    """Return the text of the script that measures the roof; a figure's script calls it."""
    from wasmtime import wat2wasm  # only a build needs wasmtime

    texts = {"plain": kernels(PLAIN), "fused": kernels(FUSED)}
    compiled = {name: base64.b64encode(wat2wasm(text)).decode() for name, text in texts.items()}
    flops = 2 * 4 * SUMS  # of a pass
    names = f"const KERNELS = {json.dumps(compiled)};\nconst FLOPS = {flops};\n"
    measuring = (HERE / "roof.js").read_text(encoding="utf-8")
    return f"(() => {{\n{names}{measuring}}})();\n"
