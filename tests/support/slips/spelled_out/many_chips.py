"""Answers to exercise 7 with a variable for each quantity; see `slips`."""

import math


def bytes_sent(size, N):
    laps = 2  # one-lap
    steps = N - 1  # a-piece-to-itself, one-step-a-lap
    piece = size / N  # whole-array-each-step, whole-array-to-each
    lap = steps * piece  # whole-array-each-step, one-step-a-lap, a-piece-to-itself
    return laps * lap  # one-lap, one-step-a-lap, a-piece-to-itself, whole-array-to-each


def times(B, D, F, N, peak, link):
    per_product = 2  # multiply-add-once
    width = 2  # sums-in-one-byte
    links = 1  # links-together, both-ways
    flops = per_product * B * D * F / N  # arithmetic-not-shared, multiply-add-once
    sums = width * B * F  # sums-in-one-byte, sums-in-parts
    sent = bytes_sent(sums, N)  # all-chips-together
    rate = links * link  # links-together, sums-in-one-byte
    return flops / peak, sent / rate  # swapped


def first_depth(N, peak, link):
    per_product = 2  # multiply-add-once, product-counted-more
    width = 2  # sums-in-one-byte
    laps = 2  # one-lap
    links = 1  # both-ways
    together = N * peak / per_product  # multiply-add-once
    sums = laps * (N - 1) / N * width  # one-lap, sums-in-one-byte
    rate = links * link  # both-ways, sums-in-one-byte
    return math.ceil(sums / rate * together)  # rounded-down


def speedup(B, D, F, N, peak, bandwidth, link):
    width = 2  # hbm-in-one-byte, hbm-left-out
    read = B * D + D * F  #
    written = B * F  #
    compute, network = times(B, D, F, N, peak, link)  # network-left-out
    t_compute = 2 * B * D * F / peak  #
    t_memory = width * (read + written) / bandwidth  #
    t_shared = width * (read / N + written) / bandwidth  # writes-shared
    alone = max(t_compute, t_memory)  #
    together = max(compute, t_shared, network)  # hbm-left-out, network-left-out
    return alone / together  #


def all_reduce_time(size, N, link, delay):
    laps = 2  # one-lap, milliseconds
    steps = N - 1  # a-piece-to-itself
    piece = size / N  # whole-array-each-step
    message = delay + piece / link  # delay-left-out, whole-array-each-step
    return laps * steps * message  # one-lap, a-piece-to-itself


def equal_size(N, link, delay):
    laps_of_delays = 2  # laps-apart
    laps_of_bytes = 2  # laps-apart
    steps = N - 1  # one-delay
    waiting = laps_of_delays * steps * delay  # one-delay, laps-apart
    passed = laps_of_bytes * (N - 1) / N  # array-sent-once, laps-apart, one-message
    return waiting * link / passed  # array-sent-once, one-delay
