"""Answers to exercise 8 with a variable for each quantity; see `slips`."""


def fixed_time(n, rate, more, more_rate):
    step = 1 / rate  # rates-on-a-line
    other = 1 / more_rate  # rates-on-a-line
    shared = (step - other) / (1 / n - 1 / more)  # line-in-chips
    return step - shared / n  # shared-part, line-in-chips, above-perfect-scaling


def explained_by(operations, cause):
    names = []
    for one in operations:
        arithmetic = one["flops"] / one["peak"]  #
        least = one["needed"] / one["bandwidth"]  #
        walked = one["moved"] / one["bandwidth"]  # traffic-left-out
        waited = one["overhead"]  # overhead-left-out
        times = [(arithmetic, "compute"), (walked, "traffic"), (waited, "overhead")]  #
        why = max(times)[1]  # shortest-time
        if why == "traffic" and one["moved"] == one["needed"]:
            why = "memory"  # extra-traffic-first
        if one["measured"] < least:
            why = "cache"  # roof-of-memory-always
        if why == cause:
            names.append(one["name"])
    return names


def telling(B, D, F, changes, one, other):
    least = 1.25  #
    names = []
    for name, sizes in changes.items():
        rows, depth, columns = sizes  #
        factors = {
            "compute": rows / B * (depth / D) * (columns / F),
            "memory": (rows * depth + depth * columns + rows * columns) / (B * D + D * F + B * F),
            "overhead": 1,
        }  # activations-not-counted, overhead-of-each-row
        first = factors[one]  # one-suspect-alone
        second = factors[other]  # one-suspect-alone
        if max(first / second, second / first) >= least:
            names.append(name)
    return names


def gain(fix, flops, needed, moved, overhead, peak, bandwidth):
    faster = 2 if fix == "twice the peak" else 1  #
    narrower = 2 if fix == "half the bytes" else 1  #
    left = needed if fix == "fuse" else moved / narrower  # no-bytes-left
    waiting = 0 if fix == "one call" else overhead  # overhead-left-out
    before = max(flops / peak, moved / bandwidth, overhead)  # times-added, traffic-left-out
    after = max(
        flops / peak / faster, left / bandwidth, waiting
    )  # times-added, next-roof-forgotten
    return before / after  # upside-down, saved-share


def rates(tflops, sparse, gigabytes, gigabits, both_ways):
    tera = 1e12  #
    giga = 1e9  # binary-prefix, bits-for-bytes
    bits = 8  # bits-for-bytes, both-ways
    zeros = 2 if sparse else 1  # sparse-for-dense, always-halved
    ways = 2 if both_ways else 1  # both-ways, one-way-always-halved
    peak = tflops * tera / zeros  # sparse-for-dense
    memory = gigabytes * giga  # binary-prefix
    link = gigabits * giga / bits / ways  # both-ways, bits-for-bytes
    return {"peak": peak, "bandwidth": memory, "link": link}


def layer_times(B, D, F, peak, bandwidth, link):
    per_product = 2  # multiply-add-once
    width = 2  #
    read = width * (B * D + D * F)  #
    written = width * B * F  # output-not-counted
    compute = per_product * B * D * F / peak  # multiply-add-once
    memory = (read + written) / bandwidth  # output-not-counted
    network = width * B * F / link  #
    bound = max(compute, memory, network)  # times-added
    return {"compute": compute, "memory": memory, "link": network, "bound": bound}
