"""Exercise 6 with named quantities; see `slips`."""

import math


def operations(B, T, S, N, H):
    per_product = 2  # half-the-operations
    multiplications = 2  # half-the-operations
    pairs = T * S  # every-position-asks, queries-alone-meet
    heads = B * N  # one-head, one-sequence
    return per_product * multiplications * heads * pairs * H  # half-the-operations, one-head, one-sequence


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    ends = 2  # output-not-counted, cache-alone
    kept = 2  # values-not-counted
    queries = ends * q_bytes * B * T * N * H  # output-not-counted
    cache = kept * kv_bytes * B * S * K * H  # values-not-counted, one-cache-for-all, heads-not-shared, one-width-for-all
    return queries + cache  # cache-alone


def decode_intensity(B, S, N, K, H, q_bytes, kv_bytes):
    per_product = 2  # half-the-operations
    multiplications = 2  # half-the-operations
    ends = 2  # output-not-counted
    kept = 2  # values-not-counted
    flops = per_product * multiplications * B * S * N * H  # half-the-operations
    queries = ends * q_bytes * B * N * H  # output-not-counted
    cache = kept * kv_bytes * B * S * K * H  # values-not-counted, one-cache-for-all, heads-not-shared, one-width-for-all, one-position-loaded
    return flops / (queries + cache)  # upside-down, long-context-for-exact


def decode_limit(N, K, kv_bytes):
    per_product = 2  # half-the-operations, operations-counted-twice
    multiplications = 2  # half-the-operations, operations-counted-twice
    kept = 2  # values-not-counted, cache-counted-twice
    group = N / K  # heads-not-shared, group-upside-down
    moved = kept * kv_bytes  # values-not-counted, width-left-out
    return per_product * multiplications * group / moved  # half-the-operations, width-upside-down, width-left-out, values-not-counted, heads-not-shared


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    per_product = 2  # half-the-operations
    multiplications = 2  # half-the-operations
    ends = 2  # output-not-counted
    kept = 2  # values-not-counted
    passes = 4  # scores-not-moved
    ridge = peak / bandwidth  #
    flops = per_product * multiplications * H  # half-the-operations
    linear = width * H * (ends + kept * K / N)  # heads-not-shared, output-not-counted, values-not-counted
    score = 0 if fused else passes * width  # scores-not-moved, scores-always-moved, scores-in-one-byte
    room = flops - ridge * score  #
    return ridge * linear / room if room > 0 else math.inf  # no-infinity, ridge-for-length


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    kept = 2  # values-not-counted
    per_layer = kept * K * H * kv_bytes  # values-not-counted
    per_position = layers * per_layer  # one-layer
    each = S * per_position  # positions-for-sequences, one-layer
    free = capacity - weights  # weights-take-no-room
    return max(0, math.floor(free / each))  # weights-take-no-room, not-whole, rounded-up, below-zero, below-zero-cut, exact-fit-left-out


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    per_product = 2  # multiply-add-once
    flops = per_product * B * parameters  # batch-left-out, multiply-add-once
    weights = width * parameters  # weights-not-counted, weights-for-each-row
    cache = B * S * per_position  # one-cache-for-all, cache-not-counted
    t_math = flops / peak  #
    t_comms = (weights + cache) / bandwidth  # cache-not-counted, weights-not-counted
    return max(t_math, t_comms), t_math + t_comms  # swapped, the-two-times, shorter-of-the-two, one-time-twice
