"""Answers to exercise 6 with a variable for each quantity; see `slips`."""

import math


def operations(B, T, S, N, H):
    per_product = 2  # half-the-operations
    multiplications = 2  # half-the-operations
    pairs = T * S  # every-position-asks, queries-alone-meet
    heads = B * N  #
    return per_product * multiplications * heads * pairs * H  # half-the-operations


def bytes_moved(B, T, S, N, K, H, q_bytes, kv_bytes):
    ends = 2  # output-not-counted, cache-alone
    kept = 2  # values-not-counted
    queries = ends * q_bytes * B * T * N * H  # output-not-counted
    key = B * S * K * H  # one-cache-for-all, heads-not-shared
    cache = kept * kv_bytes * key  # values-not-counted, one-width-for-all
    return queries + cache  # cache-alone


def decode_intensity(B, S, N, K, H, q_bytes, kv_bytes):
    per_product = 2  # half-the-operations
    multiplications = 2  # half-the-operations
    ends = 2  # output-not-counted
    kept = 2  # values-not-counted
    flops = per_product * multiplications * B * S * N * H  # half-the-operations
    queries = ends * q_bytes * B * N * H  # output-not-counted
    key = B * S * K * H  # one-cache-for-all, heads-not-shared, one-position-loaded
    cache = kept * kv_bytes * key  # values-not-counted, one-width-for-all
    return flops / (queries + cache)  #


def decode_limit(N, K, kv_bytes):
    per_product = 2  # half-the-operations, operations-counted-twice
    multiplications = 2  # half-the-operations, operations-counted-twice
    kept = 2  # values-not-counted, cache-counted-twice
    group = N / K  # heads-not-shared
    flops = per_product * multiplications * group  # half-the-operations, heads-not-shared
    moved = kept * kv_bytes  # values-not-counted, width-left-out
    return flops / moved  # width-left-out, values-not-counted


def compute_bound_from(N, K, H, width, peak, bandwidth, fused):
    per_product = 2  # half-the-operations
    multiplications = 2  # half-the-operations
    ends = 2  # output-not-counted
    kept = 2  # values-not-counted
    passes = 4  # scores-not-moved
    ridge = peak / bandwidth  #
    flops = per_product * multiplications * H  # half-the-operations
    shared = kept * K / N  # heads-not-shared, values-not-counted
    linear = width * H * (ends + shared)  # output-not-counted, heads-not-shared
    scores = passes * width  # scores-not-moved, scores-in-one-byte
    square = 0 if fused else scores  # scores-not-moved, scores-always-moved, scores-in-one-byte
    room = flops - ridge * square  # scores-not-moved, scores-always-moved
    return ridge * linear / room if room > 0 else math.inf  # ridge-for-length


def sequences_that_fit(capacity, weights, S, layers, K, H, kv_bytes):
    kept = 2  # values-not-counted
    per_layer = kept * K * H * kv_bytes  # values-not-counted
    per_position = layers * per_layer  #
    each = S * per_position  #
    free = capacity - weights  #
    return max(0, math.floor(free / each))  # rounded-up


def step_bounds(B, S, parameters, width, per_position, peak, bandwidth):
    per_product = 2  # multiply-add-once
    flops = per_product * B * parameters  # batch-left-out, multiply-add-once
    weights = width * parameters  # weights-for-each-row
    cache = B * S * per_position  # one-cache-for-all, cache-not-counted
    t_math = flops / peak  #
    t_comms = (weights + cache) / bandwidth  # cache-not-counted
    return max(t_math, t_comms), t_math + t_comms  # one-time-twice
