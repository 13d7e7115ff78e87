"""Everything through rooflib."""

import rooflib as rl


def chip(peak, bandwidth, link, delay=0.0):
    ring = rl.Link("ring", link, latency=delay)
    return rl.Chip("given", {"bf16": peak}, bandwidth, 16e9, links=(ring,))


def bytes_sent(size, N):
    return rl.all_reduce(size, N)


def times(B, D, F, N, peak, link):
    op = rl.sharded_matmul(B, D, F, N)
    found = rl.bound(op, chip(peak, 1e30, link), "ring").times
    return found["compute"], found["ring"]


def first_depth(N, peak, link):
    return rl.first_whole_from(rl.critical_depth(chip(peak, 1e30, link), "ring", N))


def speedup(B, D, F, N, peak, bandwidth, link):
    given = chip(peak, bandwidth, link)
    alone, shared = rl.matmul(B, D, F), rl.sharded_matmul(B, D, F, N)
    return rl.bound(alone, given).lower / rl.bound(shared, given, "ring").lower


def all_reduce_time(size, N, link, delay):
    op = rl.operation(0, 0, sent=rl.all_reduce(size, N), hops=2 * (N - 1))
    return rl.bound(op, chip(1e12, 1e12, link, delay), "ring").lower


def equal_size(N, link, delay):
    return N * chip(1e12, 1e12, link, delay).link("ring").half_bandwidth_size
