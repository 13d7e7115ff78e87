"""A class of arrays, helpers of its own, keywords, and a result of divmod."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Array:
    sequences: int
    positions: int
    heads: int
    wide: int
    each: float

    @property
    def size(self):
        return self.sequences * self.positions * self.heads * self.wide * self.each


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    query, key = Array(B, T, N, H, q_bytes), Array(B, S, K, H, kv_bytes)
    return sum(array.size for array in (query, key, key, query))


def decode_intensity(*, B=1, S, N, K, H=1, q_bytes, kv_bytes):
    group = N / K
    return 2 * group / (kv_bytes + q_bytes * group / S)


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    if weights >= capacity:
        return 0
    whole, _ = divmod(capacity - weights, Array(1, S, K, H, kv_bytes).size * 2 * layers)
    return whole


def step_bounds(**given):
    per_sequence = given["S"] * given["per_position"]
    moved = given["parameters"] * given["width"] + given["B"] * per_sequence
    flops = 2 * given["parameters"] * given["B"]
    shorter, longer = sorted((flops / given["peak"], moved / given["bandwidth"]))
    return longer, shorter + longer
