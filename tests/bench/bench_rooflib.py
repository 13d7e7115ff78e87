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
LARGEST, BREAKDOWN_LIMIT, BATCHES_LIMIT = "DeepSeek-V3", 20.0, 100.0  # milliseconds


def by_hand(B, D, F, peak, bandwidth):
    flops = 2 * B * D * F
    size = 2 * B * D + 2 * D * F + 2 * B * F
    return flops / np.maximum(flops / peak, size / bandwidth)


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def sweep_ratio():
    """Return rooflib's time for a million points over numpy's.

    The two alternate, so that other load slows both.
    """
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


def experts_by_hand(B):
    """Return the seconds of DeepSeek-V3's routed experts in a decode step on an H200."""
    expert, layers = 3 * 7168 * 2048, 58
    taken = 256 * (1 - (1 - 8 / 256) ** B)
    flops = 2 * B * 8 * expert * layers
    return np.maximum(flops / 989.5e12, taken * expert * layers * (1 + 4 / 128**2) / 4.8e12)


def model_costs():
    """Return milliseconds of a large model's breakdown and of its bounds.

    The bounds are those of its decode step at 1,000 batch sizes.
    """
    model, chip, batches = rl.model(LARGEST), rl.chip("H200 SXM"), np.arange(1, 1001)
    once, sweep, numpy = [], [], []
    for _ in range(ROUNDS):
        once.append(seconds(lambda: rl.breakdown(model.decode(64, 8192, 8), chip, "NVLink")))
        sweep.append(
            seconds(
                lambda: [rl.bound(part, chip).lower for part in model.decode(batches, 8192).parts]
            )
        )
        numpy.append(seconds(lambda: experts_by_hand(batches)))
    parts = {part.name: part for part in model.decode(batches, 8192).parts}
    assert np.allclose(rl.bound(parts["experts"], chip).lower, experts_by_hand(batches))
    print(f"breakdown of {LARGEST}: {1e3 * min(once):.1f} ms; 1,000 batches: ", end="")
    print(f"all rows {1e3 * min(sweep):.1f} ms, experts in numpy {1e3 * min(numpy):.2f} ms")
    return 1e3 * min(once), 1e3 * min(sweep)


def import_cost():
    """Return the milliseconds of `import rooflib` after numpy is imported."""
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
    ratio, cost, (once, sweep) = sweep_ratio(), import_cost(), model_costs()
    print(f"sweep: {ratio:.2f} times numpy (at most {SWEEP_LIMIT})")
    print(f"import: {cost:.1f} ms (at most {IMPORT_LIMIT:.0f})")
    print(f"breakdown: {once:.1f} ms (at most {BREAKDOWN_LIMIT:.0f})")
    print(f"1,000 batches: {sweep:.1f} ms (at most {BATCHES_LIMIT:.0f})")
    slow = once > BREAKDOWN_LIMIT or sweep > BATCHES_LIMIT
    return int(ratio > SWEEP_LIMIT or cost > IMPORT_LIMIT or slow)


if __name__ == "__main__":
    sys.exit(main())
