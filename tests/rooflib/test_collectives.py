"""Tests of collectives against a simulated ring and known factors."""

from __future__ import annotations

import numpy as np
import pytest

import rooflib as rl


def ring_reduce_scatter(held):
    """Simulate the ring; return each chip's final chunks and sent elements."""
    N = len(held)
    chunks = [np.split(array.copy(), N) for array in held]
    sent = [0] * N
    for step in range(N - 1):
        moving = [(i, (i - step) % N, chunks[i][(i - step) % N].copy()) for i in range(N)]
        for i, index, chunk in moving:
            chunks[(i + 1) % N][index] += chunk
            sent[i] += chunk.size
    return chunks, sent


def ring_all_gather(chunks, sent):
    N = len(chunks)
    for step in range(N - 1):
        moving = [(i, (i + 1 - step) % N) for i in range(N)]
        copies = [(i, index, chunks[i][index].copy()) for i, index in moving]
        for i, index, chunk in copies:
            chunks[(i + 1) % N][index] = chunk
            sent[i] += chunk.size
    return [np.concatenate(c) for c in chunks], sent


@pytest.mark.parametrize("N", [2, 3, 4, 8])
def test_collective_bytes_match_a_simulated_ring(N):
    rng = np.random.default_rng(N)
    held = [rng.integers(0, 100, 24 * N) for _ in range(N)]
    size = held[0].size  # one byte per element
    chunks, sent = ring_reduce_scatter(held)
    assert sent == [rl.reduce_scatter(size, N)] * N
    scattered = list(sent)
    wholes, sent = ring_all_gather(chunks, sent)
    for whole in wholes:
        np.testing.assert_array_equal(whole, sum(held))
    assert sent == [rl.all_reduce(size, N)] * N
    assert [a - b for a, b in zip(sent, scattered, strict=True)] == [rl.all_gather(size, N)] * N


@pytest.mark.parametrize(("N", "share"), [(1, 0), (2, 1), (4, 1.5), (8, 1.75)])
def test_all_reduce_matches_known_factors(N, share):
    # NCCL's tests convert algorithm bandwidth to bus bandwidth with 2(N-1)/N.
    assert rl.all_reduce(1000, N) == share * 1000


@pytest.mark.parametrize(("N", "share"), [(1, 0), (2, 0.5), (4, 0.75), (8, 0.875)])
def test_gather_and_scatter_match_known_factors(N, share):
    assert rl.all_gather(1000, N) == rl.reduce_scatter(1000, N) == share * 1000


@pytest.mark.parametrize(
    ("split", "result", "expected"),
    [
        ("D", "replicated", rl.all_reduce),
        ("D", "sharded", rl.reduce_scatter),
        ("B", "replicated", rl.all_gather),
        ("F", "replicated", rl.all_gather),
    ],
)
@pytest.mark.parametrize("N", [2, 4, 8])
def test_sharded_matmuls_send_the_bytes_of_their_collective(split, result, expected, N):
    B, D, F = 8, 16, 24
    op = rl.sharded_matmul(B, D, F, N, split=split, result=result)
    assert op.sent == {"link": expected(2 * B * F, N)}


@pytest.mark.parametrize("split", ["B", "F"])
def test_row_or_column_splits_with_a_sharded_result_send_nothing(split):
    assert rl.sharded_matmul(8, 16, 24, 4, split=split, result="sharded").sent == {}


def test_a_matmul_on_one_chip_sends_nothing():
    assert rl.sharded_matmul(8, 16, 24, 1).sent == {}


def test_sizes_and_chip_counts_broadcast():
    many = rl.all_reduce(np.array([[100], [200]]), np.array([1, 2, 4]))
    assert many.tolist() == [[0, 100, 150], [0, 200, 300]]
    assert rl.all_gather(0, 8) == 0


@pytest.mark.parametrize("split", ["B", "D", "F"])
def test_sharded_matmuls_accept_arrays(split):
    B, N = np.array([8, 16, 32]), np.array([[1], [2], [8]])
    many = rl.sharded_matmul(B, 16, 24, N, split=split, w="int8", partial="fp32")
    for i, j in np.ndindex(3, 3):
        one = rl.sharded_matmul(
            int(B[j]), 16, 24, int(N[i, 0]), split=split, w="int8", partial="fp32"
        )
        for name in ("flops", "loaded", "written", "held"):
            assert np.broadcast_to(getattr(many, name), (3, 3))[i, j] == getattr(one, name)
        assert many.sent["link"][i, j] == one.sent.get("link", 0)
