"""The figure `byte` with the chapters' arguments, and cases at its limits."""

import rooflib as rl
from roofkit.figures import Figure, byte

BATCHES = {f"B = {B:,}": B for B in (1, 64, 256, 4096)}


def made_bytes() -> dict[str, Figure]:
    layers = {name: rl.matmul(B, 4096, 16384) for name, B in BATCHES.items()}
    pairs = {f"D = {D:,}": rl.sharded_matmul(1024, D, 32768, N=2) for D in (4096, 16384)}
    steps = {"decode": rl.attention(1, 1, 8192, N=32, K=8, H=128)}
    steps["prefill"] = rl.attention(1, 8192, 8192, N=32, K=8, H=128)
    in_fp32 = rl.dot(10**9, compute="fp32")
    free = {"no FLOPs": rl.operation(0, 1e9), "too large": rl.operation(1e15, 1e12)}
    return {
        "vector unit": byte(in_fp32, "TPU v5p", "intensity", unit="vector"),
        "batches": byte(layers, "TPU v5e", "uses", uses=BATCHES, follows="weight"),
        "two chips": byte(pairs, "TPU v5e", "each_sent", link="ICI"),
        "attention": byte(steps, rl.chip("H100 SXM"), "uses", uses={"decode": 4}, follows="key"),
        "limits": byte(free, "H100 SXM", "reached"),
    }
