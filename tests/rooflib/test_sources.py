"""The answers that the course's source prints follow from rooflib, or differ where it is wrong.

The source: “How To Scale Your Model”, “All About Rooflines”, and the answers to its exercises.
"""

import math

import pytest

import rooflib as rl

V5E, H100, V6E = (rl.chip(name) for name in ("TPU v5e", "H100 SXM", "TPU v6e"))
# As its exercises state the v5e; the catalog has Google's 8.19e11.
GIVEN = rl.Chip("given", {"int8": 3.94e14, "bf16": 1.97e14, "HBM": 8.1e11}, 16e9)
EIGHT = {"x": "int8"}
TWO = rl.split("D", 2, 512, 8192, 4096).on(V5E, "ICI")

# What is asked, rooflib's answer, and the printed one with its last digit's unit.
PRINTED = [
    ("10¹² FLOPs on an H100, in ms", rl.work("work", 1e12).on(H100).lower * 1e3, 1.01, 0.01),
    ("10¹² FLOPs on a v6e, in ms", rl.work("work", 1e12).on(V6E).lower * 1e3, 1.1, 0.1),
    ("the critical intensity of a v5e", (V5E | {"HBM": 8.2e11}).ridge(), 240, 1),
    ("the intensity of a dot product", rl.dot(10**9).intensity, 0.5, 1e-6),
    ("the intensity of a small batch", rl.matmul(64, 1e9, 1e9).intensity, 64, 0.01),
    ("the time to compute on two chips", TWO.times["compute"], 512 * 8192 * 4096 / 1.97e14, 1e-18),
    ("the time to send between two chips", TWO.times["ICI"], 2 * 512 * 4096 / 4.5e10, 1e-18),
    ("the depth from which two chips compute", rl.critical_depth(V5E, "ICI", 2), 8755, 1),
    ("exercise 1: the ridge point in int8", GIVEN.ridge("int8"), 486, 1),
    ("exercise 1: the batch in int8", rl.critical_batch(GIVEN, **EIGHT), 243, 1),
    ("exercise 1: bytes", rl.matmul(8, 16, 32, **EIGHT).bytes, 8 * 16 + 16 * 32 + 8 * 32, 0),
    ("exercise 1: operations", rl.matmul(8, 16, 32, **EIGHT).flops, 2 * 8 * 16 * 32, 0),
    ("exercise 2: the batch", rl.critical_batch(V5E, w="int8"), 120, 1),
    ("exercise 3: the batch of 4,096", rl.critical_batch(V5E, 4096, 4096, w="int8"), 136, 1),
    ("exercise 3: the batch of 1,024", rl.critical_batch(V5E, 1024, 1024, w="int8"), 226, 1),
    ("exercise 4: the intensity", (9 * rl.matmul(1, 4096, 4096, **EIGHT)).intensity, 2, 0.01),
    ("exercise 5: the batch with 1e15", 1e15 / H100["HBM"], 298, 1),
    ("exercise 5: the dense peak's batch", rl.critical_batch(H100), 295, 1),
    ("NVLink, slower than HBM by", H100["HBM"] / H100["NVLink"], 7.4, 0.1),
    ("ICI, slower than HBM by", V5E["HBM"] / V5E["ICI"], 18, 1),
    # It says 99.5% idle; half a FLOP for each byte at a ridge point of 240 leaves 99.8% idle.
    ("a dot product's share", rl.dot(10**6).on(V5E).share_of_peak, 2.08e-3, 1e-5),
    ("a matmul that no batch fills", rl.critical_batch(V5E, 128, 128), math.inf, 0),
]  # fmt: skip


@pytest.mark.parametrize(("found", "printed", "digit"), [row[1:] for row in PRINTED],
                         ids=[row[0] for row in PRINTED])  # fmt: skip
def test_an_answer_is_the_printed_one(found, printed, digit):
    assert found == pytest.approx(printed, rel=1e-12, abs=digit)
