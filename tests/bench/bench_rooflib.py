"""`make bench`: measures the overhead of rooflib over plain numpy."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import numpy as np

import rooflib as rl

POINTS, ROUNDS = 10**6, 21
SWEEP_LIMIT, IMPORT_LIMIT = 1.5, 60.0  # times; milliseconds


def by_hand(B, D, F, peak, bandwidth):
    flops = 2 * B * D * F
    size = 2 * B * D + 2 * D * F + 2 * B * F
    return flops / np.maximum(flops / peak, size / bandwidth)


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def sweep_ratio():
    """Return rooflib's time for a million points over numpy's; alternate to share other load."""
    v5e = rl.chip("TPU v5e")
    rng = np.random.default_rng(0)
    B, D, F = (rng.integers(1, 2**14, POINTS).astype(float) for _ in range(3))
    rooflib, numpy = [], []
    for _ in range(ROUNDS):
        numpy.append(seconds(lambda: by_hand(B, D, F, v5e.peak(), v5e.bandwidth)))
        rooflib.append(seconds(lambda: rl.bound(rl.matmul(B, D, F), v5e).attainable))
    print(f"sweep of {POINTS:,} points: numpy {1e3 * min(numpy):.1f} ms, ", end="")
    print(f"rooflib {1e3 * min(rooflib):.1f} ms")
    return min(rooflib) / min(numpy)


def import_cost():
    """Return the milliseconds that `import rooflib` takes in a process that has imported numpy."""
    code = (
        "import numpy, time; t = time.perf_counter(); import rooflib;print(time.perf_counter() - t)"
    )
    costs = [
        1e3 * float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                   check=True).stdout)
        for _ in range(ROUNDS)
    ]  # fmt: skip
    print(f"import rooflib on top of numpy: median {statistics.median(costs):.1f} ms, ", end="")
    print(f"worst {max(costs):.1f} ms")
    return statistics.median(costs)


def main():
    ratio, cost = sweep_ratio(), import_cost()
    print(f"sweep: {ratio:.2f} times numpy (at most {SWEEP_LIMIT})")
    print(f"import: {cost:.1f} ms (at most {IMPORT_LIMIT:.0f})")
    return int(ratio > SWEEP_LIMIT or cost > IMPORT_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
